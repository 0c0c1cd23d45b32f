"""Reading rows: every format gives the same rows, every broken file a place and the rows before it."""

import csv
import gzip
import io
import json
from collections.abc import Callable
from pathlib import Path

import pyarrow
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rlvr_math_reward.data import read_rows, read_source
from rlvr_math_reward.files import Chunk, DataError, Piece, Record, find_files, read_chunks, split

ROWS = [
    {"gold": "4", "completion": "It is 4.\nSo \\boxed{4}"},
    {"gold": "√2", "completion": 'say "√2", or\u2028so'},
    {"gold": "1/2", "completion": "a,b;c"},
]


def lines(rows: list[dict[str, str]], end: str = "\n") -> bytes:
    return "".join(json.dumps(row, ensure_ascii=False) + end for row in rows).encode()


def as_csv(rows: list[dict[str, str]]) -> bytes:
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, list(rows[0]))
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue().encode()


def as_parquet(rows: list[dict[str, str]], group: int = 2) -> bytes:
    sink = pyarrow.BufferOutputStream()
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), sink, row_group_size=group)
    return sink.getvalue().to_pybytes()


BOM = b"\xef\xbb\xbf"
FORMATS: list[tuple[str, str, bytes, list[int]]] = [
    ("json lines", "a.jsonl", lines(ROWS), [1, 2, 3]),
    ("no line end at the end", "a.jsonl", lines(ROWS).rstrip(), [1, 2, 3]),
    ("CRLF", "a.jsonl", lines(ROWS, "\r\n"), [1, 2, 3]),
    ("byte order mark", "a.jsonl", BOM + lines(ROWS), [1, 2, 3]),
    ("byte order mark and CRLF", "a.jsonl", BOM + lines(ROWS, "\r\n"), [1, 2, 3]),
    ("blank lines", "a.jsonl", b"\n" + lines(ROWS, "\n \n"), [2, 4, 6]),
    ("gzip", "a.jsonl.gz", gzip.compress(lines(ROWS)), [1, 2, 3]),
    ("gzip in two members", "a.jsonl.gz", gzip.compress(lines(ROWS[:1])) + gzip.compress(lines(ROWS[1:])), [1, 2, 3]),
    ("a JSON list", "a.json", json.dumps(ROWS).encode(), [1, 2, 3]),
    ("a JSON list with a mark, gzipped", "a.json.gz", gzip.compress(BOM + json.dumps(ROWS).encode()), [1, 2, 3]),
    ("CSV, a cell of two lines", "a.csv", as_csv(ROWS), [2, 4, 5]),
    ("CSV with a mark", "a.csv", BOM + as_csv(ROWS), [2, 4, 5]),
    ("CSV, ends of an old Mac", "a.csv", as_csv(ROWS).replace(b"\n", b"").replace(b"4.So", b"4.\nSo"), [2, 4, 5]),
    ("CSV, gzipped", "a.csv.gz", gzip.compress(as_csv(ROWS)), [2, 4, 5]),
    ("Parquet", "a.parquet", as_parquet(ROWS), [1, 2, 3]),
]


@pytest.mark.parametrize(("name", "data", "numbers"), [row[1:] for row in FORMATS], ids=[row[0] for row in FORMATS])
def test_every_format_gives_the_same_rows(tmp_path: Path, name: str, data: bytes, numbers: list[int]) -> None:
    (tmp_path / name).write_bytes(data)
    records = [record for chunk in read_source(str(tmp_path / name)) for record in chunk.records()]
    assert [record.row for record in records] == ROWS
    assert [record.number for record in records] == numbers
    assert [json.loads(record.raw) for record in records] == ROWS
    assert read_rows(str(tmp_path / name)) == (str(tmp_path / name), ROWS)


def test_a_folder_is_read_file_by_file(tmp_path: Path) -> None:
    (tmp_path / "2.csv").write_bytes(as_csv(ROWS[2:]))
    (tmp_path / "1.jsonl").write_bytes(lines(ROWS[:2]))
    (tmp_path / "notes.txt").write_text("not a dataset")
    (tmp_path / ".1.jsonl.swp.jsonl").write_text("not a dataset")
    chunks = list(read_source(str(tmp_path)))
    assert [record.row for chunk in chunks for record in chunk.records()] == ROWS
    assert [chunk.fraction for chunk in chunks] == [0.5, 1.0]


def test_nulls_stay_nulls(tmp_path: Path) -> None:
    rows = [{"gold": None, "completion": "4"}, {"gold": "4", "completion": None}]
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), tmp_path / "a.parquet")
    assert read_rows(str(tmp_path / "a.parquet"))[1] == rows


BROKEN: list[tuple[str, str, bytes, str, int]] = [
    ("cut off in a line", "a.jsonl", lines(ROWS)[:-9], "line 3: not JSON", 2),
    ("one line that is no object", "a.jsonl", lines(ROWS[:1]) + b"[1]\n", "line 2: expected an object, found list", 1),
    ("not UTF-8", "a.jsonl", lines(ROWS[:1]) + b'{"gold": "\xff"}\n', "line 2: not UTF-8 at byte 10 of the line", 1),
    ("UTF-16", "a.jsonl", '{"gold": "4"}\n'.encode("utf-16"), "line 1: not UTF-8", 0),
    ("nested without end", "a.jsonl", lines(ROWS[:1]) + b"[" * 200_000 + b"\n", "line 2: not JSON", 1),
    ("an integer without end", "a.jsonl", b'{"gold": ' + b"9" * 9000 + b"}\n", "line 1: not JSON", 0),
    ("gzip cut off", "a.jsonl.gz", gzip.compress(lines(ROWS * 400))[:-12], "cannot be read (Compressed file ended", 1),
    ("not gzip", "a.jsonl.gz", lines(ROWS), "after line 0: cannot be read (Not a gzipped file", 0),
    ("gzip with other bytes", "a.csv.gz", gzip.compress(as_csv(ROWS))[:20] + b"\0" * 40, "cannot be read", 0),
    ("CSV, a cell too few", "a.csv", as_csv(ROWS) + b"5\r\n", "line 6: 1 cells, where the header has 2", 3),
    ("CSV, a quote left open", "a.csv", as_csv(ROWS) + b'5,"5\r\n', "line 6: not CSV", 3),
    (
        "CSV, not UTF-8",
        "a.csv",
        as_csv(ROWS) + "√".encode() + b"\xff,1\r\n",
        "line 6: not UTF-8 at byte 3 of the line",
        3,
    ),
    ("CSV in UTF-16", "a.csv", "gold,completion\n4,4\n".encode("utf-16"), "line 1: not UTF-8 at byte 0 of the line", 0),
    ("JSON, one object", "a.json", b'{"gold": "4"}', "expected a JSON list of objects, found dict", 0),
    ("JSON, cut off", "a.json", json.dumps(ROWS).encode()[:-5], "not JSON", 0),
    ("JSON, mixed", "a.json", b'[{"gold": "4"}, 5]', "row 2: expected an object, found int", 1),
    ("not Parquet", "a.parquet", b"PAR1 and no more", "not Parquet", 0),
    ("empty Parquet", "a.parquet", b"", "not Parquet", 0),
]


@pytest.mark.parametrize(("name", "data", "said", "kept"), [row[1:] for row in BROKEN], ids=[row[0] for row in BROKEN])
def test_a_broken_file_is_named_after_its_good_rows(
    tmp_path: Path, name: str, data: bytes, said: str, kept: int
) -> None:
    path = tmp_path / name
    path.write_bytes(data)
    records: list[Record] = []
    with pytest.raises(DataError) as caught:
        records.extend(record for chunk in read_source(str(path)) for record in chunk.records())
    message = str(caught.value)
    assert message.startswith(str(path))
    assert said in message
    assert "\n" not in message
    assert len(records) >= kept
    if records:
        assert records[0].row["gold"] == "4"


MISSING: list[tuple[str, Callable[[Path], str], str]] = [
    ("no such file", lambda folder: str(folder / "a.jsonl"), "no such file or folder"),
    ("an unknown suffix", lambda folder: str(folder / "a.txt"), "expected a file named .jsonl"),
    ("an empty folder", lambda folder: str(folder / "empty"), "no file named .jsonl"),
    ("a folder named like a file", lambda folder: str(folder / "folder.jsonl"), "no file named .jsonl"),
]


@pytest.mark.parametrize(("source", "said"), [row[1:] for row in MISSING], ids=[row[0] for row in MISSING])
def test_what_is_no_dataset_is_said(tmp_path: Path, source: Callable[[Path], str], said: str) -> None:
    (tmp_path / "a.txt").write_text("4")
    (tmp_path / "empty").mkdir()
    (tmp_path / "folder.jsonl").mkdir()
    with pytest.raises(DataError, match=said):
        list(read_source(source(tmp_path)))


# -- pieces ------------------------------------------------------------------------------------------------------------
def read(piece: Piece) -> list[tuple[str, bytes]]:
    return [(record.place, record.raw) for chunk in read_chunks(piece) for record in chunk.records()]


@settings(max_examples=60, deadline=None)
@given(
    texts=st.lists(st.text(st.sampled_from("ab é\u2028"), max_size=30), min_size=1, max_size=20),
    size=st.integers(1, 200),
    end=st.sampled_from(["\n", "\r\n", "\n\n"]),
    mark=st.sampled_from([b"", BOM]),
)
def test_pieces_hold_each_line_once_at_its_number(
    tmp_path_factory: pytest.TempPathFactory, texts: list[str], size: int, end: str, mark: bytes
) -> None:
    path = tmp_path_factory.mktemp("pieces") / "a.jsonl"
    path.write_bytes(mark + lines([{"gold": text} for text in texts], end))
    whole = read(Piece(str(path)))
    assert len(whole) == len(texts)
    assert [record for piece in split(Piece(str(path)), size) for record in read(piece)] == whole


def test_row_groups_are_pieces(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    path.write_bytes(as_parquet(ROWS))
    pieces = split(find_files(path)[0], 1)
    assert len(pieces) == 2
    assert [record for piece in pieces for record in read(piece)] == read(Piece(str(path)))


def test_a_bad_line_of_a_late_piece_has_its_number_in_the_file(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(lines(ROWS * 20) + b"{\n" + lines(ROWS))
    pieces = split(Piece(str(path)), 300)
    said = []
    for piece in pieces:
        try:
            read(piece)
        except DataError as error:
            said.append(str(error))
    assert len(pieces) > 5
    assert [text.split(":")[0] for text in said] == [f"{path}, line 61"]


def test_long_rows_end_a_chunk_early(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(lines([{"completion": "x" * 700_000} for _ in range(5)]))
    chunks: list[Chunk] = list(read_chunks(Piece(str(path))))
    assert [len(chunk.items) for chunk in chunks] == [2, 2, 1]
    assert [chunk.numbers[0] for chunk in chunks] == [1, 3, 5]
