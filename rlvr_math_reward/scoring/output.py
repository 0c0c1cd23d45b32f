"""Scored rows on their way to a file, so that nothing that was finished is lost and nothing is written twice.

Rows go, in the order of the input, to `OUT.partial` as JSON Lines, and each write ends at the end of a row. Only when
all are there does the file become `OUT`, converted where its name asks for CSV, Parquet or gzip. What was asked for
stands beside it in `OUT.partial.json`, so that a run resumed with other settings is refused.

Errors: a full disk, a folder that cannot be written and a file of other settings are a `DataError`.
"""

from __future__ import annotations

import csv
import gzip
import json
import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import Any, TypeAlias

from rlvr_math_reward.files import CHUNK_ROWS, DataError, load_pyarrow

__all__ = ["PartialFile", "check_settings", "convert", "find_writer", "settings_path"]

Settings: TypeAlias = Mapping[str, object]


class PartialFile:
    """The rows finished so far. A context manager; `finish` puts the file into its place.

    Args:
        out: where the rows go in the end. A device or a pipe is written to directly.
        settings: what the rows depend on beside the input, as plain JSON types.
        resume: go on after the rows that an earlier run left.

    An end by a `DataError` says where the rows are kept; where there is none to keep, nothing is left behind.

    Raises:
        DataError: rows of an earlier run are there and were not asked for, or were made with other settings.
    """

    def __init__(self, out: Path, settings: Settings, *, resume: bool) -> None:
        find_writer(out)  # before anything is graded that could then not be written
        self._out = out
        self._direct = out.exists() and not out.is_file()
        self.path = out if self._direct else out.with_name(out.name + ".partial")
        if not self._direct:
            check_settings(self.path, settings, resume=resume)
        try:
            self._file = os.open(self.path, os.O_WRONLY | (0 if self._direct else os.O_CREAT), 0o666)
        except OSError as error:
            raise DataError(f"{self.path}: cannot be written ({error.strerror})") from None
        self._length = self._rows = 0
        self._resumable = False  # whether these rows and --resume are the way on, once an error has been mended
        try:
            self._lock()
        except BaseException:
            os.close(self._file)
            raise

    def _lock(self) -> None:
        if self._direct:
            return
        import fcntl

        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise DataError(f"{self.path}: another run is writing this file") from None

    def __enter__(self) -> PartialFile:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        try:
            if error is not None and not self._direct and os.fstat(self._file).st_size == 0:
                self._remove()
        finally:
            os.close(self._file)
        if isinstance(error, DataError) and self._resumable and self._rows:
            raise DataError(f"{error}; {self._rows:,} rows kept in {self.path}; --resume goes on") from None

    def _remove(self) -> None:
        self.path.unlink(missing_ok=True)
        settings_path(self.path).unlink(missing_ok=True)

    def kept(self) -> Iterator[bytes]:
        """The rows that are there. To be read to its end, or to where writing is to go on."""
        if self._direct:
            return
        with open(self.path, "rb") as file:
            for line in file:
                if not line.endswith(b"\n"):  # torn by a kill; it is scored again
                    break
                self._length += len(line)
                self._rows += 1
                yield line
        os.ftruncate(self._file, self._length)
        os.lseek(self._file, self._length, os.SEEK_SET)
        self._resumable = True

    def write(self, lines: bytes) -> None:
        """Adds whole rows.

        Raises:
            DataError: they cannot be written; what had been written before is whole.
        """
        left = memoryview(lines)
        try:
            while left:
                left = left[os.write(self._file, left) :]
        except OSError as error:
            if self._direct:
                raise DataError(f"{self.path}: {error.strerror}") from None
            kept = lines[: len(lines) - len(left)]
            self._length += kept.rfind(b"\n") + 1
            self._rows += kept.count(b"\n")
            with suppress(OSError):
                os.ftruncate(self._file, self._length)
            raise DataError(f"{self.path}: {error.strerror}") from None
        self._length += len(lines)
        self._rows += lines.count(b"\n")

    def finish(self) -> None:
        """Makes the rows the file that was asked for."""
        if self._direct:
            return
        try:
            os.fsync(self._file)
            convert(self.path, self._out)
        except OSError as error:
            raise DataError(f"{self._out}: {error.strerror}") from None
        except DataError as error:
            self._resumable = False  # the same rows would not become this format the next time either
            raise DataError(f"{error}; the rows lie as JSON Lines in {self.path}") from None
        self._remove()


def settings_path(work: Path) -> Path:
    """Where the settings stand that unfinished work was made with."""
    return work.with_name(work.name + ".json")


def check_settings(work: Path, settings: Settings, *, resume: bool) -> None:
    """Compares the settings with those of the unfinished work that is to be resumed, or writes them down.

    Raises:
        DataError: there is something to resume that was not asked for, or it was made with other settings.
    """
    path = settings_path(work)
    if work.exists() and not resume:
        raise DataError(f"{work}: left by a run that did not end; --resume goes on with it, deleting it starts over")
    try:
        if not work.exists():
            path.write_text(json.dumps(settings) + "\n", encoding="utf-8")
            return
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise DataError(f"{path}: {error.strerror}") from None
    try:
        earlier = json.loads(text)
    except ValueError:
        earlier = {}
    changed = [name for name in settings if earlier.get(name) != settings[name]]
    if changed:
        raise DataError(f"{work}: made with another {' and '.join(changed)}; delete it to start over")


# -- the formats -------------------------------------------------------------------------------------------------------
Writer: TypeAlias = Callable[[Path, Path], None]


def find_writer(out: Path) -> Writer | None:
    """What makes the format that the name asks for out of JSON Lines, or None for JSON Lines and devices.

    Raises:
        DataError: no such format, or what it needs is not installed.

    Example:
        >>> find_writer(Path("scored.txt"))
        Traceback (most recent call last):
        rlvr_math_reward.files.DataError: scored.txt: expected a name that ends in .jsonl, .jsonl.gz, .csv, .parquet
    """
    suffix = next((suffix for suffix in _WRITERS if out.name.endswith(suffix)), None)
    if suffix is None and not (out.exists() and not out.is_file() and not out.is_dir()):
        raise DataError(f"{out}: expected a name that ends in {', '.join(_WRITERS)}")
    if suffix == ".parquet":
        load_pyarrow(out)
    return _WRITERS[suffix] if suffix else None


def convert(lines: Path, out: Path) -> None:
    """Makes a file of JSON lines the file `out`, which is there whole or not at all. The lines may be used up.

    Raises:
        DataError: the format cannot hold the rows; the lines are as they were.
    """
    write = find_writer(out)
    if write is None:
        lines.replace(out)
        return
    unfinished = out.with_name(out.name + ".writing")
    try:
        write(lines, unfinished)
        unfinished.replace(out)
    except DataError as error:
        raise DataError(f"{out}: {error}") from None
    finally:
        unfinished.unlink(missing_ok=True)


def _rows(lines: Path) -> Iterator[dict[str, object]]:
    with open(lines, "rb") as file:
        for line in file:
            row = json.loads(line)
            # Neither format takes half of a surrogate pair, which JSON writes as an escape.
            if b"\\ud" in line:
                row = json.loads(json.dumps(row, ensure_ascii=False).encode("utf-8", "replace"))
            yield row


def _write_gzip(lines: Path, out: Path) -> None:
    with open(lines, "rb") as source, gzip.open(out, "wb", compresslevel=6) as target:
        shutil.copyfileobj(source, target, 1 << 20)


def _write_csv(lines: Path, out: Path) -> None:
    columns = list(dict.fromkeys(column for row in _rows(lines) for column in row))
    with open(out, "w", encoding="utf-8", newline="") as target:
        writer = csv.writer(target)
        writer.writerow(columns)
        for row in _rows(lines):
            writer.writerow([_cell(row.get(column)) for column in columns])


def _cell(value: object) -> object:
    return value if value is None or isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _write_parquet(lines: Path, out: Path) -> None:
    pyarrow = load_pyarrow(out)
    try:
        # Twice over the rows: a column that starts with nulls shows its type only later.
        schema = pyarrow.unify_schemas([t.schema for t in _tables(pyarrow, lines)], promote_options="permissive")
        with pyarrow.parquet.ParquetWriter(out, schema) as writer:
            for table in _tables(pyarrow, lines, schema):
                writer.write_table(table)
    except pyarrow.ArrowException as error:
        said = " ".join(str(error).split())[:200]
        raise DataError(f"a column holds values of several types ({said}); .jsonl takes them") from None


def _tables(pyarrow: Any, lines: Path, schema: object = None) -> Iterator[Any]:
    rows = _rows(lines)
    while batch := list(islice(rows, CHUNK_ROWS * 16)):
        columns = list(dict.fromkeys(column for row in batch for column in row))
        if schema is not None:
            yield pyarrow.Table.from_pylist(batch, schema=schema)
        else:
            yield pyarrow.table({column: [row.get(column) for row in batch] for column in columns})


_WRITERS: dict[str, Writer | None] = {
    ".jsonl": None,
    ".jsonl.gz": _write_gzip,
    ".csv": _write_csv,
    ".parquet": _write_parquet,
}
