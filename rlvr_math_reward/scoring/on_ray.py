"""Scoring on a Ray cluster: for files larger than one machine reads in the time that there is.

The input is cut into pieces. Each is one task of Ray Data, which reads its piece, grades it and writes a part beside
the output, so that no row passes through the driver or Ray's object store. A part gets its name only when it is whole:
a task whose worker or node dies runs again and writes the same part, so no row is lost and none is there twice. When
all parts are there they are joined, in the order of the input, into the file that was asked for.

Needs the extra `ray`, this package on every node, and paths that every node sees. A cluster that is running is found
as Ray finds it, by `RAY_ADDRESS`; without one Ray starts on this machine.
"""

from __future__ import annotations

import json
import logging
import os
import shutil
import sys
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout, suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypeAlias

from rlvr_math_reward.files import DataError, Piece, extra, find_files, read_chunks, split
from rlvr_math_reward.scoring.local import Progress, Summary, Task, score_chunk
from rlvr_math_reward.scoring.output import check_settings, convert, find_writer, settings_path

__all__ = ["score_files_on_ray"]

Item: TypeAlias = dict[str, Any]

PIECE_BYTES = 32 << 20
"""Bytes of JSON lines a task: some seconds of grading, which is what a dead worker costs."""


def score_files_on_ray(
    source: str,
    task: Task,
    out: Path | None = None,
    *,
    resume: bool = False,
    workers: int | None = None,
    piece_bytes: int = PIECE_BYTES,
    progress: Progress = lambda rows, fraction: None,
) -> Summary:
    """Grades all rows of a file or a folder on Ray's workers; arguments as in `scoring.score_file`.

    Args:
        source: the path.
        task, out, resume, progress: see `scoring.score_file`.
        workers: tasks at a time; None for as many as the cluster has CPUs.
        piece_bytes: bytes of JSON lines a task. JSON, CSV and gzipped files are one task each, Parquet a task for
            each row group.

    Raises:
        DataError: Ray is not installed, or as in `scoring.score_file`; parts that were finished are kept.
    """
    started = time.perf_counter()
    pieces = [piece for file in find_files(Path(source).expanduser().absolute()) for piece in split(file, piece_bytes)]
    items = [_item(index, piece) for index, piece in enumerate(pieces)]
    with _open_parts(task, out, resume=resume) as parts:
        finished = _finished(parts, items) if parts else {}
        summary = Summary(outcomes=sum(finished.values(), Counter()))
        summary.resumed = summary.rows
        left = [item for item in items if item["index"] not in finished]
        for index, outcomes in _graded(left, task, parts, workers):
            finished[index] = outcomes
            summary.outcomes = sum(finished.values(), Counter())
            progress(summary.rows, len(finished) / len(pieces))
        if len(finished) < len(pieces):
            raise DataError(f"{source}: Ray returned {len(finished)} of {len(pieces)} parts")
    if out is not None and parts is not None:
        _join(parts, len(pieces), out)
    summary.seconds = time.perf_counter() - started
    return summary


# -- the parts ---------------------------------------------------------------------------------------------------------
@contextmanager
def _open_parts(task: Task, out: Path | None, *, resume: bool) -> Iterator[Path | None]:
    """The folder of the parts. An end by a `DataError` says how many are kept; without any the folder goes."""
    if out is None:
        yield None
        return
    find_writer(out)
    parts = out.absolute().with_name(out.name + ".parts")
    check_settings(parts, task.settings, resume=resume)
    try:
        parts.mkdir(exist_ok=True)
    except OSError as error:
        raise DataError(f"{parts}: {error.strerror}") from None
    try:
        yield parts
    except BaseException as error:
        kept = sum(1 for _ in parts.glob("*.outcomes.json"))
        if not kept:
            _remove(parts)
        elif isinstance(error, DataError):
            raise DataError(f"{error}; {kept:,} parts kept in {parts}; --resume goes on") from None
        raise


def _remove(parts: Path) -> None:
    shutil.rmtree(parts, ignore_errors=True)
    settings_path(parts).unlink(missing_ok=True)


def _part(parts: Path, index: int) -> Path:
    return parts / f"{index:06d}.jsonl"


def _tally(parts: Path, index: int) -> Path:
    """How many rows of each outcome a part has. It is written last, so a part that has it is whole."""
    return parts / f"{index:06d}.outcomes.json"


def _item(index: int, piece: Piece) -> Item:
    """A piece as Ray passes it on, with what changes when its file does."""
    state = os.stat(piece.path)
    return {"index": index, **asdict(piece), "size": state.st_size, "changed": state.st_mtime_ns}


def _finished(parts: Path, items: list[Item]) -> dict[int, Counter[str]]:
    """Outcomes of the pieces that an earlier run has done. One whose file has changed since is done again."""
    found = {}
    for item in items:
        with suppress(FileNotFoundError):
            done = json.loads(_tally(parts, item["index"]).read_text(encoding="utf-8"))
            if done["item"] == item:
                found[item["index"]] = Counter[str](done["outcomes"])
    return found


def _join(parts: Path, count: int, out: Path) -> None:
    joined = out.with_name(out.name + ".joined")
    try:
        with open(joined, "wb") as target:
            for index in range(count):
                with open(_part(parts, index), "rb") as part:
                    shutil.copyfileobj(part, target, 1 << 20)
        convert(joined, out)
    except OSError as error:
        raise DataError(f"{out}: {error.strerror}; the rows are kept in {parts}; --resume goes on") from None
    except DataError as error:
        raise DataError(f"{error}; the rows lie as JSON Lines in {parts}") from None
    finally:
        joined.unlink(missing_ok=True)
    _remove(parts)


# -- the tasks ---------------------------------------------------------------------------------------------------------
def _graded(
    items: list[Item], task: Task, parts: Path | None, workers: int | None
) -> Iterator[tuple[int, Counter[str]]]:
    """The index and the outcomes of each piece, in the order in which they are done."""
    if not items:
        return
    with _ray_data() as data:
        # A block is what Ray Data gives to a task and repeats when its worker dies: one piece each.
        rows = data.from_items(items, override_num_blocks=len(items)).map(
            _score_piece, fn_args=(task, parts), num_cpus=1, concurrency=workers
        )
        for result in rows.iter_rows():
            if result["error"]:
                raise DataError(result["error"])
            yield int(result["index"]), Counter(json.loads(result["outcomes"]))


@contextmanager
def _ray_data() -> Iterator[Any]:
    # Before Ray is imported: it reads the environment then.
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")  # what it warns that it will do soon
    with extra("ray", "--engine ray needs Ray"):
        import ray
        import ray.data
    logging.getLogger("ray.data").setLevel(logging.ERROR)
    ours = not ray.is_initialized()
    with redirect_stdout(sys.stderr):  # Ray prints what becomes of its nodes, and standard output has our results
        if ours:
            ray.init(include_dashboard=False, logging_level=logging.ERROR, log_to_driver=False)
        try:
            ray.data.DataContext.get_current().enable_progress_bars = False
            yield ray.data
        except ray.exceptions.RayError as error:
            said = str(error).strip().splitlines()[-1][:300]
            raise DataError(f"Ray gave up ({type(error).__name__}: {said})") from None
        finally:
            if ours:
                ray.shutdown()


def _score_piece(item: Item, task: Task, parts: Path | None) -> dict[str, object]:
    """One task. What is wrong with the data or the disk comes back as a value: repeating it would not help."""
    index, piece = item["index"], Piece(item["path"], item["start"], item["end"])
    outcomes: Counter[str] = Counter()
    try:
        if parts is None:
            _score(piece, task, outcomes, lambda lines: None)
        else:
            _score_to(_part(parts, index), piece, task, outcomes)
            _put(_tally(parts, index), json.dumps({"item": item, "outcomes": outcomes}).encode())
        error = ""
    except DataError as problem:
        error = str(problem)
    except OSError as problem:
        error = f"{problem.filename or parts}: {problem.strerror}"
    return {"index": index, "outcomes": json.dumps(outcomes), "error": error}


def _score(piece: Piece, task: Task, outcomes: Counter[str], write: Callable[[bytes], object]) -> None:
    for chunk in read_chunks(piece):
        scored = score_chunk(chunk, task)
        if scored.error is not None:
            raise DataError(scored.error)
        write(scored.lines)
        outcomes.update(scored.outcomes)


def _score_to(part: Path, piece: Piece, task: Task, outcomes: Counter[str]) -> None:
    # A name of its own: the task of a node that is cut off, not dead, may still be writing beside its repetition.
    unfinished = part.with_name(f"{part.name}.{uuid.uuid4().hex}")
    try:
        with open(unfinished, "wb") as file:
            _score(piece, task, outcomes, file.write)
            file.flush()
            os.fsync(file.fileno())
        unfinished.replace(part)
    finally:
        unfinished.unlink(missing_ok=True)


def _put(path: Path, data: bytes) -> None:
    unfinished = path.with_name(f"{path.name}.{uuid.uuid4().hex}")
    unfinished.write_bytes(data)
    unfinished.replace(path)
