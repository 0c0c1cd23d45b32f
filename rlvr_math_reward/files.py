"""Rows of local files, read in a stream: JSON Lines, JSON, CSV and Parquet, folders of such files; rows written back.

JSON and CSV may be gzipped. A byte order mark, CRLF line ends and blank lines are read over. Rows stay encoded until
`Chunk.records`, so that a chunk of JSON lines can go to another process as it stands in the file.

Errors: everything that is wrong with a file is a `DataError` of one line that names the file and the line (the row,
where a format has no lines). The rows before it are handed out first. Importing this module loads no `pyarrow`.
"""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import json
import os
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, NamedTuple, TypeAlias, cast

__all__ = [
    "SUFFIXES", "Chunk", "DataError", "Piece", "Record", "Row",
    "chunked", "encode", "extra", "find_files", "load_pyarrow", "read_chunks", "split",
]  # fmt: skip

Row: TypeAlias = Mapping[str, object]
Items: TypeAlias = "Iterator[tuple[int, bytes | Row]]"

CHUNK_ROWS = 512
"""Rows that go to a worker together: some 15 ms of grading, so that handing them over costs nothing beside it."""
CHUNK_BYTES = 1 << 20
"""Bytes of JSON lines that end a chunk early, since one completion may itself have a megabyte."""
MAX_CELL_BYTES = 1 << 28
"""Bytes of one CSV cell. The csv module stops at 128 kB, which a long completion reaches."""


class DataError(ValueError):
    """A dataset that cannot be used, in one line that names it."""


@contextmanager
def extra(name: str, what: str) -> Iterator[None]:
    """Around imports: makes a `DataError` of a library that is not installed.

    Args:
        name: the extra of this package that brings it.
        what: what needs it, for the message.

    Example:
        >>> with extra("ray", "--engine ray needs Ray"):
        ...     raise ImportError("not found")
        Traceback (most recent call last):
        rlvr_math_reward.files.DataError: --engine ray needs Ray: pip install 'rlvr_math_reward[ray]' (not found)
    """
    try:
        yield
    except ImportError as error:
        said = " ".join(str(error).split())[:200]
        raise DataError(f"{what}: pip install 'rlvr_math_reward[{name}]' ({said})") from None


def load_pyarrow(file: object) -> Any:
    """The library that reads and writes Parquet.

    Args:
        file: the file or folder that needs it, for the message.

    Raises:
        DataError: it is not installed.
    """
    with extra("report", f"{file}: Parquet needs pyarrow"):
        import pyarrow
        import pyarrow.parquet
    return pyarrow


class Record(NamedTuple):
    """One row: where it stands, as JSON and as read."""

    chunk: Chunk
    number: int
    raw: bytes
    row: Row

    @property
    def place(self) -> str:
        """`train.jsonl, line 12`."""
        return self.chunk.place(self.number)


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a file that is read by itself.

    Attributes:
        path: the file.
        start, end: bytes of JSON lines (the lines that start there) or row groups of Parquet; None is the end. Other
            formats are read whole.
    """

    path: str
    start: int = 0
    end: int | None = None


@dataclass(frozen=True, slots=True)
class Chunk:
    """Some successive rows of one file.

    Attributes:
        file: the name to use in messages.
        unit: what is counted, `line` or `row`.
        numbers: the line or row of each item, counted from 1 at the byte `base`.
        items: JSON lines, not read yet, or rows.
        base: the byte at which the counting of lines starts.
        fraction: how much of the file has been read with this chunk, 0 to 1.
    """

    file: str
    unit: str
    numbers: list[int]
    items: list[bytes | Row]
    base: int = 0
    fraction: float = 0.0

    def records(self) -> Iterator[Record]:
        """The rows, read.

        Raises:
            DataError: a line that is no JSON object.
        """
        for number, item in zip(self.numbers, self.items, strict=True):
            if isinstance(item, bytes):
                yield Record(self, number, item, self._read(number, item))
            else:
                yield Record(self, number, encode(item), item)

    def _read(self, number: int, line: bytes) -> Row:
        try:
            row: object = json.loads(str(line, "utf-8"))
        except UnicodeDecodeError as error:
            raise DataError(f"{self.place(number)}: not UTF-8 at byte {error.start} of the line") from None
        except (ValueError, RecursionError) as error:
            raise DataError(f"{self.place(number)}: not JSON ({error})") from None
        if not isinstance(row, dict):
            raise DataError(f"{self.place(number)}: expected an object, found {type(row).__name__}")
        return row

    def place(self, number: int) -> str:
        # Only a message needs the lines before a piece counted, so they are counted for a message only.
        before = _count_lines(self.file, self.base) if self.base else 0
        return f"{self.file}, {self.unit} {before + number}"

    def after(self, count: int) -> Chunk:
        """The chunk without its first rows."""
        return Chunk(self.file, self.unit, self.numbers[count:], self.items[count:], self.base, self.fraction)


def encode(row: Row) -> bytes:
    """A row as JSON, without a line end. Dates and decimals become text, as CSV would have them.

    Example:
        >>> encode({"gold": "√2", "n": 1}).decode()
        '{"gold": "√2", "n": 1}'
    """
    try:
        return json.dumps(row, ensure_ascii=False, default=str).encode()
    except UnicodeEncodeError:  # half of a surrogate pair, from a model that was cut off inside an emoji
        return json.dumps(row, default=str).encode()


# -- finding files -----------------------------------------------------------------------------------------------------
def find_files(path: Path) -> list[Piece]:
    """A file, or the files of a folder that can be read, by name.

    Raises:
        DataError: the path is not there, has an unknown suffix, or is a folder without a file to read.

    Example:
        >>> find_files(Path("/no/such/file.jsonl"))
        Traceback (most recent call last):
        rlvr_math_reward.files.DataError: /no/such/file.jsonl: no such file or folder
    """
    try:
        if path.is_dir():
            names = sorted(name for name in os.listdir(path) if not name.startswith(".") and _reader(name))
            if not names:
                raise DataError(f"{path}: no file named {', '.join(SUFFIXES)} in this folder")
            return [Piece(str(path / name)) for name in names]
        if not path.exists():
            raise DataError(f"{path}: no such file or folder")
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror})") from None
    if _reader(path.name) is None:
        raise DataError(f"{path}: expected a file named {', '.join(SUFFIXES)} (.gz too), or a folder of such files")
    return [Piece(str(path))]


def _suffix(name: str) -> str:
    """The suffix that names the format: `.jsonl` for `train.jsonl` and for `train.jsonl.gz`."""
    return os.path.splitext(name.removesuffix(".gz"))[1]


def _reader(name: str) -> Reader | None:
    return _READERS.get(_suffix(name))


def split(piece: Piece, size: int) -> list[Piece]:
    """Pieces of about `size` bytes, in order; a file that cannot be read from its middle stays whole.

    Example:
        >>> split(Piece("rollouts.csv"), 1 << 20)
        [Piece(path='rollouts.csv', start=0, end=None)]
    """
    if piece.path.endswith(".jsonl"):
        length = os.path.getsize(piece.path)
        return [Piece(piece.path, start, start + size) for start in range(0, length, size)]
    if piece.path.endswith(".parquet"):
        pyarrow = load_pyarrow(piece.path)
        try:
            groups = pyarrow.parquet.ParquetFile(piece.path).num_row_groups
        except (pyarrow.ArrowException, OSError) as error:
            raise DataError(f"{piece.path}: not Parquet ({_said(error)})") from None
        return [Piece(piece.path, group, group + 1) for group in range(groups)]
    return [piece]


# -- reading -----------------------------------------------------------------------------------------------------------
def read_chunks(piece: Piece) -> Iterator[Chunk]:
    """The rows of a piece, in chunks.

    Raises:
        DataError: the file cannot be read, or not beyond some line; the rows before it come first.
    """
    read = _reader(os.path.basename(piece.path))
    if read is None:
        raise DataError(f"{piece.path}: expected a file named {', '.join(SUFFIXES)} (.gz too)")
    try:
        handle = open(piece.path, "rb")  # noqa: SIM115  (closed below, where reading ends)
        size = max(os.fstat(handle.fileno()).st_size, 1)
    except OSError as error:
        raise DataError(f"{piece.path}: cannot be read ({_said(error)})") from None
    with handle:
        stream = cast("IO[bytes]", gzip.GzipFile(fileobj=handle)) if piece.path.endswith(".gz") else handle
        unit = "row" if read in (_read_json, _read_parquet) else "line"
        items = read(stream, piece)
        base = handle.tell() if piece.start and unit == "line" else 0

        def fraction() -> float:
            if handle.closed:  # by a text wrapper, at its end
                return 1.0
            return min(handle.tell() / size, 1.0) if handle.seekable() else 0.0

        yield from chunked(piece.path, unit, items, base=base, fraction=fraction)


def chunked(
    file: str, unit: str, items: Items, *, base: int = 0, fraction: Callable[[], float] = lambda: 0.0
) -> Iterator[Chunk]:
    """Items in chunks. What reading raises is raised after the items before it, as a `DataError` with their count."""
    numbers: list[int] = []
    held: list[bytes | Row] = []
    size, last = 0, 0
    failure: DataError | None = None
    while failure is None:
        try:
            last, item = next(items)
        except StopIteration:
            break
        except DataError as error:
            failure = error
            continue
        except (OSError, EOFError, ValueError, zlib.error) as error:
            failure = DataError(f"{file}, after {unit} {last}: cannot be read ({_said(error)})")
            continue
        numbers.append(last)
        held.append(item)
        size += len(item) if isinstance(item, bytes) else 0
        if len(held) == CHUNK_ROWS or size >= CHUNK_BYTES:
            yield Chunk(file, unit, numbers, held, base, fraction())
            numbers, held, size = [], [], 0
    if held:
        yield Chunk(file, unit, numbers, held, base, fraction())
    if failure is not None:
        raise failure


def _said(error: BaseException) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or " ".join(str(error).split())[:200]


def _read_lines(stream: IO[bytes], piece: Piece) -> Items:
    position = 0
    if piece.start:
        # The line that runs over the start belongs to the piece before.
        stream.seek(piece.start - 1)
        position = piece.start - 1 + len(stream.readline())
    return _lines(stream, position, piece.end)


def _lines(stream: IO[bytes], position: int, end: int | None) -> Items:
    at_start = position == 0
    for number, line in enumerate(stream, 1):
        if end is not None and position >= end:
            return
        position += len(line)
        if number == 1 and at_start:
            line = line.removeprefix(codecs.BOM_UTF8)
        if line.strip():
            yield number, line


def _count_lines(path: str, size: int) -> int:
    count = 0
    with open(path, "rb") as file:
        while size > 0 and (block := file.read(min(size, 1 << 20))):
            count += block.count(b"\n")
            size -= len(block)
    return count


def _read_json(stream: IO[bytes], piece: Piece) -> Items:
    """A list of objects. The whole file is read at once: a list has no line to stop at."""
    text = stream.read().removeprefix(codecs.BOM_UTF8)
    try:
        rows: object = json.loads(str(text, "utf-8"))
    except (ValueError, RecursionError) as error:
        raise DataError(
            f"{piece.path}: not JSON ({error}); one object a line is read from a file named .jsonl"
        ) from None
    if not isinstance(rows, list):
        raise DataError(f"{piece.path}: expected a JSON list of objects, found {type(rows).__name__}")
    for number, row in enumerate(rows, 1):
        if not isinstance(row, dict):
            raise DataError(f"{piece.path}, row {number}: expected an object, found {type(row).__name__}")
        yield number, row


def _read_csv(stream: IO[bytes], piece: Piece) -> Items:
    csv.field_size_limit(MAX_CELL_BYTES)
    text = io.TextIOWrapper(stream, encoding="utf-8-sig", errors="surrogateescape", newline="")
    reader = csv.reader(_checked(text, piece), strict=True)
    header: list[str] = []
    line = 1
    try:
        for cells in reader:
            if not header:
                header = cells
            elif cells and len(cells) != len(header):
                raise DataError(f"{piece.path}, line {line}: {len(cells)} cells, where the header has {len(header)}")
            elif cells:
                yield line, dict(zip(header, cells, strict=True))
            line = reader.line_num + 1
    except csv.Error as error:
        raise DataError(f"{piece.path}, line {line}: not CSV ({error})") from None


def _checked(text: io.TextIOWrapper, piece: Piece) -> Iterator[str]:
    """The lines. A strict decoder would fail a block ahead of the line, and could name neither it nor its byte."""
    for number, line in enumerate(text, 1):
        if not line.isascii():
            try:
                line.encode()
            except UnicodeEncodeError as error:
                byte = len(line[: error.start].encode())
                raise DataError(f"{piece.path}, line {number}: not UTF-8 at byte {byte} of the line") from None
        yield line


def _read_parquet(stream: IO[bytes], piece: Piece) -> Items:
    pyarrow = load_pyarrow(piece.path)
    try:
        table = pyarrow.parquet.ParquetFile(stream)
        end = table.num_row_groups if piece.end is None else piece.end
        number = sum(table.metadata.row_group(group).num_rows for group in range(piece.start))
        for batch in table.iter_batches(CHUNK_ROWS, row_groups=range(piece.start, end)):
            for row in batch.to_pylist():
                number += 1
                yield number, row
    except pyarrow.ArrowException as error:
        raise DataError(f"{piece.path}: not Parquet ({_said(error)})") from None


Reader: TypeAlias = Callable[[IO[bytes], Piece], Items]
_READERS: dict[str, Reader] = {
    ".jsonl": _read_lines,
    ".json": _read_json,
    ".csv": _read_csv,
    ".parquet": _read_parquet,
}
SUFFIXES = tuple(_READERS)
