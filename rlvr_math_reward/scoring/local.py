"""Scoring a file of completions: in a stream, by several processes, to be resumed after any kind of end.

A row comes out as it went in, with the verdict's fields behind its own (`verdict_outcome`, `verdict_prediction`, ...).
The verdicts are those of training: the same completion, gold and prompt are read the same way.

Errors: a row without its columns, an unreadable line and a worker that dies are a `DataError`; the rows before it have
been written. Text from a model never raises.
"""

from __future__ import annotations

import json
import math
import os
import signal
import time
from collections import Counter
from collections.abc import Callable, Generator, Iterator
from contextlib import closing, nullcontext, suppress
from dataclasses import asdict, dataclass, field
from itertools import chain, islice
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import NamedTuple, TypeAlias

from rlvr_math_reward.completions import read_completion, read_prompt
from rlvr_math_reward.data import DATASET_GOLD_COLUMNS, QUESTION_COLUMNS, pick_column
from rlvr_math_reward.files import Chunk, DataError, Record, encode
from rlvr_math_reward.grading import grade
from rlvr_math_reward.policy import Policy
from rlvr_math_reward.scoring.output import PartialFile
from rlvr_math_reward.verdict import Outcome, Verdict, VerdictRecord

__all__ = [
    "COMPLETION_COLUMNS", "VERDICT_COLUMNS", "Columns", "Scored", "Summary", "Task",
    "find_columns", "local_engine", "score_chunk", "score_file", "wilson_interval",
]  # fmt: skip

COMPLETION_COLUMNS = ("completion", "response", "generation", "output")
"""Where the completion stands, first present wins."""
VERDICT_COLUMNS = tuple("verdict_" + name for name in VerdictRecord.__annotations__)
"""The columns that are added to a row."""
MAX_ALONE = 16
"""Chunks that are not worth starting processes for: a start takes as long as grading some 10,000 rows."""
CHUNKS_AHEAD = 4
"""Chunks a worker that wait to be graded or written. They bound the memory and keep the workers busy."""


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns of a row that are read; `prompt` may be None."""

    gold: str
    completion: str
    prompt: str | None = None


@dataclass(frozen=True, slots=True)
class Task:
    """What is done with each row.

    Attributes:
        columns: where its texts stand.
        policy: how it is graded.
        keep: whether the rows are wanted back, or only their count.
    """

    columns: Columns
    policy: Policy
    keep: bool = True

    @property
    def settings(self) -> dict[str, object]:
        """What the scored rows depend on beside the input, as plain JSON types."""
        return {"columns": asdict(self.columns), "policy": asdict(self.policy)}

    def grade(self, record: Record) -> Verdict:
        """The verdict on one row.

        Raises:
            DataError: the row has no such columns, or its completion is none.
        """
        row, columns = record.row, self.columns
        if columns.gold not in row or columns.completion not in row:
            missing = columns.gold if columns.gold not in row else columns.completion
            raise DataError(
                f"{record.place}: no column {missing!r}; its columns: {', '.join(map(repr, row)) or 'none'}"
            )
        gold, completion = row[columns.gold], row[columns.completion]
        if not isinstance(completion, str):
            completion = read_completion(_checked(completion, record)).text
        prompt = read_prompt(row.get(columns.prompt)) if columns.prompt else None
        return grade(completion, "" if isinstance(gold, dict) else gold, prompt=prompt, policy=self.policy)  # type: ignore[arg-type]


def _checked(completion: object, record: Record) -> object:
    messages = completion if isinstance(completion, list) else [completion]
    if completion is not None and not all(isinstance(message, dict) for message in messages):
        found = "a list of texts" if isinstance(completion, list) else f"a {type(completion).__name__}"
        raise DataError(f"{record.place}: the completion is {found}; expected one text, or messages, a row")
    return completion


class Scored(NamedTuple):
    """A chunk that was graded, up to the row that the error names, if any."""

    lines: bytes
    outcomes: Counter[str]
    error: str | None = None
    fraction: float = 0.0


def score_chunk(chunk: Chunk, task: Task) -> Scored:
    """Grades the rows of a chunk. Runs in a worker, so an error comes back as a value.

    Example:
        >>> chunk = Chunk("f.jsonl", "line", [1], [{"gold": "4", "completion": "#### 4"}])
        >>> score_chunk(chunk, Task(Columns("gold", "completion"), Policy(), keep=False)).outcomes
        Counter({'correct': 1})
    """
    outcomes: Counter[str] = Counter()
    lines: list[bytes] = []
    error = None
    try:
        for record in chunk.records():
            verdict = task.grade(record)
            outcomes[verdict.outcome.value] += 1
            if task.keep:
                lines.append(_scored_line(record, verdict))
    except DataError as problem:
        error = str(problem)
    return Scored(b"".join(lines), outcomes, error, chunk.fraction)


def _scored_line(record: Record, verdict: Verdict) -> bytes:
    added = encode({"verdict_" + name: value for name, value in verdict.to_dict().items()})
    return _opened(record) + b", " + added[1:] + b"\n"


def _opened(record: Record) -> bytes:
    """The row as its file has it, without the closing brace and without the verdict of an earlier scoring."""
    raw = record.raw
    if b'"verdict_' in raw:
        raw = encode({name: value for name, value in record.row.items() if name not in VERDICT_COLUMNS})
    return raw.strip()[:-1].rstrip()


# -- the whole file ----------------------------------------------------------------------------------------------------
@dataclass(slots=True)
class Summary:
    """What came out of a file.

    Attributes:
        outcomes: rows of each outcome.
        seconds: how long it took, the start of the workers included.
        resumed: rows that an earlier run had finished; they are among the outcomes.
    """

    outcomes: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0
    resumed: int = 0

    @property
    def rows(self) -> int:
        return self.outcomes.total()

    @property
    def graded(self) -> int:
        """Rows that count: with a bad gold there is nothing to be right or wrong about."""
        return self.rows - self.outcomes[Outcome.BAD_GOLD.value]

    @property
    def accuracy(self) -> float:
        return self.outcomes[Outcome.CORRECT.value] / self.graded if self.graded else math.nan

    @property
    def interval(self) -> tuple[float, float]:
        """95 % confidence interval of the accuracy."""
        return wilson_interval(self.outcomes[Outcome.CORRECT.value], self.graded)

    @property
    def rate(self) -> float:
        """Rows a second, of those that this run graded."""
        return (self.rows - self.resumed) / self.seconds if self.seconds else 0.0

    def to_dict(self) -> dict[str, object]:
        """The summary as plain JSON types."""
        return {
            "rows": self.rows,
            "graded": self.graded,
            "accuracy": self.accuracy if self.graded else None,
            "interval_95": list(self.interval) if self.graded else None,
            "outcomes": {outcome.value: self.outcomes[outcome.value] for outcome in Outcome},
            "resumed": self.resumed,
            "seconds": round(self.seconds, 3),
            "rows_per_second": round(self.rate, 1),
        }


def wilson_interval(successes: float, count: float, z: float = 1.96) -> tuple[float, float]:
    """Wilson's score interval for a share; it stays within 0 and 1, also near the ends and for few rows.

    Example:
        >>> [round(end, 3) for end in wilson_interval(8, 10)]
        [0.49, 0.943]
    """
    if not count:
        return (0.0, 1.0)
    share = successes / count
    middle = share + z * z / (2 * count)
    reach = z * math.sqrt(share * (1 - share) / count + z * z / (4 * count * count))
    scale = 1 + z * z / count
    return (max(0.0, (middle - reach) / scale), min(1.0, (middle + reach) / scale))


def find_columns(record: Record, gold: str | None, completion: str | None, prompt: str | None) -> Columns:
    """The columns to read, by name or else by the names that are usual.

    Raises:
        DataError: the row has no such column.
    """
    place, row = record.place, record.row
    if prompt is None:
        prompt = next((name for name in QUESTION_COLUMNS if name in row), None)
    else:
        pick_column(place, row, prompt, (), "prompt")
    return Columns(
        pick_column(place, row, gold, DATASET_GOLD_COLUMNS, "gold"),
        pick_column(place, row, completion, COMPLETION_COLUMNS, "completion"),
        prompt,
    )


Progress: TypeAlias = Callable[[int, float], None]


def score_file(
    chunks: Iterator[Chunk],
    task: Task,
    out: Path | None = None,
    *,
    resume: bool = False,
    workers: int | None = None,
    progress: Progress = lambda rows, fraction: None,
) -> Summary:
    """Grades all rows, and writes them to `out` as they are finished.

    Args:
        chunks: the rows, from `data.read_source`.
        task: what to read, and how to grade it.
        out: where the rows go, by its suffix JSON Lines (also gzipped), CSV or Parquet; None for the summary alone.
        resume: go on after the rows that an earlier run wrote.
        workers: processes; None for as many as there are cores where the rows are many.
        progress: told the rows so far and the fraction of the input that has been read.

    Raises:
        DataError: see the head of the module.
    """
    summary = Summary()
    started = time.perf_counter()
    with nullcontext() if out is None else PartialFile(out, task.settings, resume=resume) as file:
        left = chunks if file is None else _after_kept(chunks, file.kept(), summary)
        with closing(local_engine(left, task, workers)) as engine:
            for scored in engine:
                if file is not None:
                    file.write(scored.lines)
                summary.outcomes += scored.outcomes
                progress(summary.rows, scored.fraction)
                if scored.error is not None:
                    raise DataError(scored.error)
        if file is not None:
            file.finish()
    summary.seconds = time.perf_counter() - started
    return summary


_CHANGED = "the input has changed, and --resume needs the old one"


def _after_kept(chunks: Iterator[Chunk], kept: Iterator[bytes], summary: Summary) -> Iterator[Chunk]:
    """The chunks without the rows that are kept, each of which must be the row of the input at its place."""
    for chunk in chunks:
        for index, record in enumerate(chunk.records()):
            line = next(kept, None)
            if line is None:
                yield chunk.after(index)
                yield from chunks
                return
            if not line.startswith(_opened(record)):
                raise DataError(f"{record.place}: not the row that the unfinished output has there; {_CHANGED}")
            summary.outcomes[json.loads(line)["verdict_outcome"]] += 1
            summary.resumed += 1
    if next(kept, None) is not None:
        raise DataError(f"the unfinished output holds more rows than the input; {_CHANGED}")


# -- this machine ------------------------------------------------------------------------------------------------------
def local_engine(chunks: Iterator[Chunk], task: Task, workers: int | None = None) -> Generator[Scored, None, None]:
    """Grades chunks, in order, in this process or in several.

    Args:
        chunks: from `read_chunks`; what they raise is raised after the chunks before.
        task: what to do with each row.
        workers: processes; None for one a core once there are chunks enough.
    """
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    alone = None if cores == 1 else MAX_ALONE
    if workers is not None:
        alone = None if workers == 1 else 0
    for chunk in islice(chunks, alone):  # None: all of them
        yield score_chunk(chunk, task)
    first = next(chunks, None)
    if first is not None:
        yield from _pooled(chain([first], chunks), task, workers or cores)


def _pooled(chunks: Iterator[Chunk], task: Task, count: int) -> Iterator[Scored]:
    """Chunks graded by several processes. Each has a pipe of its own and one chunk at a time, so nothing can jam."""
    workers = [_start_worker(task) for _ in range(count)]
    idle, busy = [pipe for _, pipe in workers], dict[Connection, int]()
    finished: dict[int, Scored] = {}
    sent = written = 0
    failure: DataError | None = None
    try:
        while True:
            while idle and failure is None and sent - written < count * CHUNKS_AHEAD:
                try:
                    chunk = next(chunks, None)
                except DataError as error:
                    failure = error
                    break
                if chunk is None:
                    break
                pipe = idle.pop()
                pipe.send(chunk)
                busy[pipe] = sent
                sent += 1
            if not busy:
                break
            ready = wait(list(busy))
            for pipe in [pipe for pipe in busy if pipe in ready]:
                finished[busy.pop(pipe)] = pipe.recv()
                idle.append(pipe)
            while written in finished:
                yield finished.pop(written)
                written += 1
    except (EOFError, ConnectionError):
        raise DataError("a worker process was killed, perhaps for want of memory") from None
    finally:
        for process, pipe in workers:
            pipe.close()
            if busy:  # given up: what it has before it may take minutes
                process.terminate()
            process.join()
    if failure is not None:
        raise failure


def _start_worker(task: Task) -> tuple[BaseProcess, Connection]:
    context = get_context("spawn")  # a fork would inherit the threads of a progress bar, and the pipes of the others
    ours, theirs = context.Pipe()
    process = context.Process(target=_work, args=(theirs, task), daemon=True)
    process.start()
    theirs.close()
    return process, ours


def _work(pipe: Connection, task: Task) -> None:
    """A worker: it ends with its pipe, whether the parent closes it or is killed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches all processes of a terminal; the parent answers it
    with suppress(EOFError, ConnectionError):
        while True:
            pipe.send(score_chunk(pipe.recv(), task))
