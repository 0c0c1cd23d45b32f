"""Scoring a file: the verdicts of training, and no row lost or twice after any kind of end."""

import csv
import gzip
import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path

import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rlvr_math_reward.data import read_source
from rlvr_math_reward.files import CHUNK_ROWS, DataError
from rlvr_math_reward.policy import Policy
from rlvr_math_reward.rewards import MathReward
from rlvr_math_reward.scoring.local import VERDICT_COLUMNS, Columns, Summary, Task, score_file, wilson_interval
from rlvr_math_reward.scoring.on_ray import _join
from rlvr_math_reward.scoring.output import convert
from rlvr_math_reward.verdict import Outcome

COLUMNS = Columns("gold", "completion")
DEFAULT = Policy()
RLVR_MATH = (str(Path(sys.executable).with_name("rlvr-math")), "score")


def write_rows(path: Path, count: int, first: int = 0) -> Path:
    """Rows that are graded fast and end in several ways."""
    endings = ("\\\\boxed{{{n}}}", "#### {n}", "the answer is 7.", "I cannot say.")
    with open(path, "w", encoding="utf-8") as file:
        for n in range(first, count):
            text = endings[n % len(endings)].format(n=n)
            file.write(f'{{"id": {n}, "gold": "{n}", "completion": "so {text}"}}\n')
    return path


def score(
    source: Path, out: Path | None, *, resume: bool = False, workers: int | None = 1, policy: Policy = DEFAULT
) -> Summary:
    task = Task(COLUMNS, policy, keep=out is not None)
    return score_file(read_source(str(source)), task, out, resume=resume, workers=workers)


def ids(path: Path) -> list[int]:
    return [json.loads(line)["id"] for line in path.read_bytes().splitlines()]


@pytest.fixture(scope="module")
def scored(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, bytes]:
    """A file of some chunks, and what comes out when nothing goes wrong."""
    folder = tmp_path_factory.mktemp("scored")
    source = write_rows(folder / "in.jsonl", 3 * CHUNK_ROWS + 100)
    score(source, folder / "out.jsonl")
    return source, (folder / "out.jsonl").read_bytes()


# -- what comes out ----------------------------------------------------------------------------------------------------
SHAPES: list[tuple[str, object, object, object]] = [
    ("text", "so \\boxed{4}", "4", None),
    ("messages", [{"role": "assistant", "content": "\\boxed{4}"}], "4", None),
    ("a gold that is a number", "\\boxed{0.5}", 0.5, None),
    ("several golds", "\\boxed{1/2}", ["0.7", "0.5"], None),
    ("no gold", "\\boxed{4}", None, None),
    ("a gold of no use", "\\boxed{4}", {"value": 4}, None),
    ("no completion", None, "4", None),
    ("a solution with its answer", "\\boxed{72}", "He has 24.\n#### 72", None),
    ("an answer that repeats the problem", "\\boxed{2+2}", "4", "What is 2+2?"),
    ("a problem in messages", "\\boxed{2+2}", "4", [{"role": "user", "content": "What is 2+2?"}]),
    ("half a surrogate pair", "\ud83d \\boxed{4}", "4", None),
]


def test_verdicts_are_those_of_training(tmp_path: Path) -> None:
    rows = [{"completion": text, "gold": gold, "prompt": prompt} for _, text, gold, prompt in SHAPES]
    source = tmp_path / "in.jsonl"
    source.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    task = Task(Columns("gold", "completion", "prompt"), Policy())
    score_file(read_source(str(source)), task, tmp_path / "out.jsonl")
    found = [json.loads(line) for line in (tmp_path / "out.jsonl").read_bytes().splitlines()]
    # The reward grades None as it grades an empty text.
    verdicts = MathReward(name="r").verdicts(
        [row["completion"] for row in rows], [row["gold"] for row in rows], [row["prompt"] for row in rows]
    )
    wanted = [json.loads(json.dumps(verdict.to_dict())) for verdict in verdicts]
    assert [
        {name: row["verdict_" + name] for name in verdict} for row, verdict in zip(found, wanted, strict=True)
    ] == wanted
    assert [{name: row[name] for name in rows[0]} for row in found] == rows
    assert {row["verdict_outcome"] for row in found} == {"correct", "incorrect", "bad_gold", "no_answer"}


def test_the_row_keeps_its_text_as_it_was(tmp_path: Path) -> None:
    row = '{"gold":"4" , "n": 1.10, "completion": "\\u221a \\boxed{4}", "big": 123456789012345678901234567890 }'
    (tmp_path / "in.jsonl").write_text(row.replace("\\boxed", "\\\\boxed") + "\r\n")
    score(tmp_path / "in.jsonl", tmp_path / "out.jsonl")
    assert (tmp_path / "out.jsonl").read_text().startswith(row.replace("\\boxed", "\\\\boxed")[:-2] + ', "verdict_')


def test_scoring_again_replaces_the_verdicts(tmp_path: Path, scored: tuple[Path, bytes]) -> None:
    (tmp_path / "in.jsonl").write_bytes(scored[1])
    score(tmp_path / "in.jsonl", tmp_path / "out.jsonl")
    assert (tmp_path / "out.jsonl").read_bytes() == scored[1]


def test_processes_change_nothing(tmp_path: Path, scored: tuple[Path, bytes]) -> None:
    assert score(scored[0], tmp_path / "out.jsonl", workers=3).rows == 3 * CHUNK_ROWS + 100
    assert (tmp_path / "out.jsonl").read_bytes() == scored[1]
    assert os.listdir(tmp_path) == ["out.jsonl"]


def test_many_rows_start_processes_by_themselves(tmp_path: Path) -> None:
    source = write_rows(tmp_path / "in.jsonl", 20 * CHUNK_ROWS)
    score(source, tmp_path / "out.jsonl", workers=None)
    assert ids(tmp_path / "out.jsonl") == list(range(20 * CHUNK_ROWS))


def test_the_summary_counts_the_rows(scored: tuple[Path, bytes]) -> None:
    summary = score(scored[0], None)
    outcomes = Counter(json.loads(line)["verdict_outcome"] for line in scored[1].splitlines())
    assert summary.outcomes == outcomes
    assert summary.accuracy == outcomes["correct"] / sum(outcomes.values())
    low, high = summary.interval
    assert 0 < low < summary.accuracy < high < 1


def test_bad_golds_are_left_out_of_the_accuracy() -> None:
    summary = Summary(Counter({Outcome.CORRECT.value: 3, Outcome.INCORRECT.value: 1, Outcome.BAD_GOLD.value: 4}))
    assert (summary.rows, summary.graded, summary.accuracy) == (8, 4, 0.75)
    assert Summary(Counter({Outcome.BAD_GOLD.value: 4})).to_dict()["accuracy"] is None


INTERVALS = [(0, 10, 0.0, 0.2775), (10, 10, 0.7225, 1.0), (5, 10, 0.2366, 0.7634), (500, 1000, 0.4691, 0.5309)]


@pytest.mark.parametrize(("right", "count", "low", "high"), INTERVALS)
def test_wilson_interval(right: int, count: int, low: float, high: float) -> None:
    """Against the values of Newcombe (1998), `Two-sided confidence intervals for the single proportion`, method 3."""
    assert wilson_interval(right, count) == pytest.approx((low, high), abs=1e-4)


def test_every_output_format_holds_all_rows(tmp_path: Path, scored: tuple[Path, bytes]) -> None:
    wanted = [json.loads(line) for line in scored[1].splitlines()]
    for name in ("out.jsonl.gz", "out.csv", "out.parquet"):
        score(scored[0], tmp_path / name)
    with gzip.open(tmp_path / "out.jsonl.gz") as file:
        assert file.read() == scored[1]
    assert pyarrow.parquet.read_table(tmp_path / "out.parquet").to_pylist() == wanted
    with open(tmp_path / "out.csv", encoding="utf-8", newline="") as table:
        rows = list(csv.DictReader(table))
    assert [row["completion"] for row in rows] == [row["completion"] for row in wanted]
    assert [row["verdict_correct"] for row in rows] == [str(row["verdict_correct"]).lower() for row in wanted]
    assert sorted(os.listdir(tmp_path)) == ["out.csv", "out.jsonl.gz", "out.parquet"]


def test_parquet_takes_columns_that_start_with_nulls_and_half_pairs(tmp_path: Path) -> None:
    rows: list[dict[str, object]] = [{"a": None, "b": 1}] * 9000
    rows += [{"a": "x\ud83d", "b": 1.5}, {"a": None, "c": True}]
    lines = tmp_path / "rows.jsonl"
    lines.write_text("".join(json.dumps(row) + "\n" for row in rows))
    convert(lines, tmp_path / "out.parquet")
    table = pyarrow.parquet.read_table(tmp_path / "out.parquet").to_pylist()
    assert len(table) == 9002
    assert table[0] == {"a": None, "b": 1.0, "c": None}
    assert table[-2:] == [{"a": "x?", "b": 1.5, "c": None}, {"a": None, "b": None, "c": True}]


def test_parquet_names_what_it_cannot_hold(tmp_path: Path) -> None:
    source = tmp_path / "in.jsonl"
    mixed: list[object] = ["text", 5]
    source.write_text("".join(json.dumps({"gold": "4", "completion": "4", "m": m}) + "\n" for m in mixed))
    with pytest.raises(DataError) as caught:
        score(source, tmp_path / "out.parquet")
    said = str(caught.value)
    assert said.startswith(f"{tmp_path}/out.parquet: a column holds values of several types (")
    assert said.endswith(f"); .jsonl takes them; the rows lie as JSON Lines in {tmp_path}/out.parquet.partial")
    assert sorted(os.listdir(tmp_path)) == ["in.jsonl", "out.parquet.partial", "out.parquet.partial.json"]
    assert len((tmp_path / "out.parquet.partial").read_bytes().splitlines()) == 2


def test_parts_of_ray_that_parquet_cannot_hold_are_kept_and_named(tmp_path: Path) -> None:
    parts = tmp_path / "out.parquet.parts"
    parts.mkdir()
    for index, value in enumerate(["text", 5]):
        (parts / f"{index:06}.jsonl").write_text(json.dumps({"m": value}) + "\n")
    with pytest.raises(DataError, match=rf"several types .*; the rows lie as JSON Lines in {parts}$"):
        _join(parts, 2, tmp_path / "out.parquet")
    assert os.listdir(tmp_path) == [parts.name]
    assert len(os.listdir(parts)) == 2


# -- bad rows ----------------------------------------------------------------------------------------------------------
GOOD = {"id": 0, "gold": "4", "completion": "4"}
BAD_ROWS: list[tuple[str, bytes, str]] = [
    ("cut off", b'{"id": 5, "gold": "4", "compl', "not JSON"),
    ("without the gold", b'{"completion": "4"}', "no column 'gold'; its columns: 'completion'"),
    (
        "without the completion",
        b'{"gold": "4", "answer": "4"}',
        "no column 'completion'; its columns: 'gold', 'answer'",
    ),
    ("without anything", b"{}", "no column 'gold'; its columns: none"),
    ("several completions", b'{"gold": "4", "completion": ["4", "5"]}', "a list of texts; expected one text"),
    ("a number as completion", b'{"gold": "4", "completion": 4}', "the completion is a int; expected one text"),
]


# One bad row is enough to show that its place comes back from another process.
IN_PROCESSES = [(*row, 1) for row in BAD_ROWS] + [("cut off, two processes", *BAD_ROWS[0][1:], 2)]


@pytest.mark.parametrize(
    ("line", "said", "workers"), [row[1:] for row in IN_PROCESSES], ids=[row[0] for row in IN_PROCESSES]
)
def test_rows_before_a_bad_one_are_kept_and_go_on(tmp_path: Path, line: bytes, said: str, workers: int) -> None:
    source, out = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    good = (json.dumps(GOOD) + "\n").encode()
    source.write_bytes(good * (CHUNK_ROWS + 3) + line + b"\n" + good)
    with pytest.raises(DataError) as caught:
        score(source, out, workers=workers)
    assert str(caught.value).startswith(f"{source}, line {CHUNK_ROWS + 4}: ")
    assert said in str(caught.value)
    assert str(caught.value).endswith(f"; {CHUNK_ROWS + 3} rows kept in {out}.partial; --resume goes on")
    assert not out.exists()
    assert len(ids(tmp_path / "out.jsonl.partial")) == CHUNK_ROWS + 3
    source.write_bytes(good * (CHUNK_ROWS + 5))  # mended
    assert score(source, out, resume=True).resumed == CHUNK_ROWS + 3
    assert len(ids(out)) == CHUNK_ROWS + 5


def test_where_no_row_is_kept_nothing_is_left_behind(tmp_path: Path) -> None:
    source, out = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    source.write_bytes(b"{}\n")
    for _ in range(2):  # the same command is not refused for what the first left
        with pytest.raises(DataError, match=r"line 1: no column 'gold'; its columns: none$"):
            score(source, out)
        assert os.listdir(tmp_path) == ["in.jsonl"]


# -- resuming ----------------------------------------------------------------------------------------------------------
def interrupted_at(folder: Path, done: bytes, policy: Policy = DEFAULT) -> Path:
    """What a run leaves that ended after it had written these bytes."""
    out = folder / "out.jsonl"
    out.with_name("out.jsonl.partial").write_bytes(done)
    settings = {"columns": asdict(COLUMNS), "policy": asdict(policy)}
    out.with_name("out.jsonl.partial.json").write_text(json.dumps(settings))
    return out


@settings(max_examples=12, deadline=None)
@given(share=st.floats(0, 1), workers=st.sampled_from([1, 1, 1, 1, 2]))
def test_a_run_that_ended_at_any_byte_goes_on_exactly(
    tmp_path_factory: pytest.TempPathFactory, scored: tuple[Path, bytes], share: float, workers: int
) -> None:
    source, whole = scored
    out = interrupted_at(tmp_path_factory.mktemp("resumed"), whole[: round(share * len(whole))])
    summary = score(source, out, resume=True, workers=workers)
    assert out.read_bytes() == whole
    assert summary.rows == len(whole.splitlines())
    assert os.listdir(out.parent) == ["out.jsonl"]


@pytest.mark.parametrize("rows", [0, 1, CHUNK_ROWS - 1, CHUNK_ROWS, CHUNK_ROWS + 1, 3 * CHUNK_ROWS + 100])
def test_it_goes_on_at_the_edges_of_chunks(tmp_path: Path, scored: tuple[Path, bytes], rows: int) -> None:
    source, whole = scored
    out = interrupted_at(tmp_path, b"".join(whole.splitlines(keepends=True)[:rows]))
    assert score(source, out, resume=True).resumed == rows
    assert out.read_bytes() == whole


def test_nothing_to_resume_is_a_run_from_the_start(tmp_path: Path, scored: tuple[Path, bytes]) -> None:
    assert score(scored[0], tmp_path / "out.jsonl", resume=True).resumed == 0
    assert (tmp_path / "out.jsonl").read_bytes() == scored[1]


def test_an_unfinished_run_is_not_overwritten(tmp_path: Path, scored: tuple[Path, bytes]) -> None:
    out = interrupted_at(tmp_path, scored[1][:5000])
    with pytest.raises(DataError, match="--resume goes on with it"):
        score(scored[0], out)
    assert out.with_name("out.jsonl.partial").read_bytes() == scored[1][:5000]


def test_other_settings_do_not_go_on(tmp_path: Path, scored: tuple[Path, bytes]) -> None:
    out = interrupted_at(tmp_path, scored[1][:5000], Policy(rel_tol=1e-3))
    with pytest.raises(DataError, match="made with another policy"):
        score(scored[0], out, resume=True)


@pytest.mark.parametrize("change", [(b'"id": 2,', b'"id": 7,'), (b'"id": 0,', b'"id": 0, "new": 1,')])
def test_another_input_does_not_go_on(tmp_path: Path, scored: tuple[Path, bytes], change: tuple[bytes, bytes]) -> None:
    source = tmp_path / "in.jsonl"
    source.write_bytes(scored[0].read_bytes().replace(*change))
    out = interrupted_at(tmp_path, scored[1][:5000])
    with pytest.raises(
        DataError, match=r"in\.jsonl, line \d: .*the input has changed, and --resume needs the old one$"
    ):
        score(source, out, resume=True)


def test_a_shorter_input_does_not_go_on(tmp_path: Path, scored: tuple[Path, bytes]) -> None:
    source = write_rows(tmp_path / "in.jsonl", 3)
    with pytest.raises(DataError, match=r"more rows than the input; .*--resume needs the old one$"):
        score(source, interrupted_at(tmp_path, scored[1][:5000]), resume=True)


# -- real ends ---------------------------------------------------------------------------------------------------------
STALLS_AFTER = 12 * CHUNK_ROWS
TOTAL = STALLS_AFTER + 2 * CHUNK_ROWS


@pytest.fixture
def stalled(tmp_path: Path) -> Iterator[tuple[subprocess.Popen[bytes], Path, Path]]:
    """A run of two processes in the middle of its input: a pipe that holds the first rows and is not closed."""
    source, out = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    os.mkfifo(source)
    command = [*RLVR_MATH, str(source), "--out", str(out), "--workers", "2"]
    process = subprocess.Popen(command, start_new_session=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    rows = write_rows(tmp_path / "first.jsonl", STALLS_AFTER).read_bytes()
    with open(source, "wb") as pipe:
        pipe.write(rows)
        pipe.flush()
        wait_for(lambda: out.with_name("out.jsonl.partial").exists() and ids_of_whole_rows(out) > 0)
        try:
            yield process, source, out
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
            process.communicate()


def ids_of_whole_rows(out: Path) -> int:
    return out.with_name("out.jsonl.partial").read_bytes().count(b"\n")


def wait_for(condition: object, seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while not condition():  # type: ignore[operator]
        assert time.monotonic() < deadline, "it did not come about"
        time.sleep(0.01)


def goes_on(source: Path, out: Path) -> None:
    """The run can be resumed, and has each row once."""
    kept = ids_of_whole_rows(out)
    source.unlink()
    write_rows(source, TOTAL)
    summary = score(source, out, resume=True)
    assert summary.resumed == kept > 0
    assert ids(out) == list(range(TOTAL))


def group(leader: int) -> list[int]:
    """The living processes of a process group."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            fields = (entry / "stat").read_text().rpartition(")")[2].split() if entry.name.isdigit() else []
        except OSError:  # it ended meanwhile
            continue
        if fields and fields[0] != "Z" and int(fields[2]) == leader:
            found.append(int(entry.name))
    return found


def test_ctrl_c(stalled: tuple[subprocess.Popen[bytes], Path, Path]) -> None:
    process, source, out = stalled
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does it: the workers get it too
    stderr = process.communicate(timeout=30)[1].decode()
    assert process.returncode == 130
    assert stderr == "rlvr-math: interrupted; finished rows are kept, --resume goes on\n"
    wait_for(lambda: not group(process.pid))
    goes_on(source, out)


def test_the_command_is_killed(stalled: tuple[subprocess.Popen[bytes], Path, Path]) -> None:
    process, source, out = stalled
    process.kill()
    process.wait()
    wait_for(lambda: not group(process.pid))  # workers do not outlive it
    goes_on(source, out)


def test_the_command_is_terminated(stalled: tuple[subprocess.Popen[bytes], Path, Path]) -> None:
    process, source, out = stalled
    process.terminate()
    assert process.wait(30) == -signal.SIGTERM
    wait_for(lambda: not group(process.pid))
    goes_on(source, out)


def test_a_worker_is_killed(stalled: tuple[subprocess.Popen[bytes], Path, Path], tmp_path: Path) -> None:
    process, source, out = stalled
    workers = [pid for pid in group(process.pid) if b"spawn_main" in Path(f"/proc/{pid}/cmdline").read_bytes()]
    assert len(workers) == 2
    os.kill(workers[0], signal.SIGKILL)
    with suppress(BrokenPipeError), open(source, "wb") as pipe:  # the next rows meet a pool that is broken
        pipe.write(write_rows(tmp_path / "next.jsonl", TOTAL, STALLS_AFTER).read_bytes())
    stderr = process.communicate(timeout=30)[1].decode()
    assert process.returncode == 2
    told = f"{ids_of_whole_rows(out):,} rows kept in {out}.partial; --resume goes on"
    assert stderr == f"rlvr-math: a worker process was killed, perhaps for want of memory; {told}\n"
    goes_on(source, out)


def test_two_runs_do_not_write_one_file(stalled: tuple[subprocess.Popen[bytes], Path, Path], tmp_path: Path) -> None:
    with pytest.raises(DataError, match="another run is writing this file"):
        score(write_rows(tmp_path / "in2.jsonl", 10), stalled[2], resume=True)


# -- full disks --------------------------------------------------------------------------------------------------------
@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full")
def test_dev_full(scored: tuple[Path, bytes]) -> None:
    done = subprocess.run(
        [*RLVR_MATH, str(scored[0]), "--out", "/dev/full"], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (2, "rlvr-math: /dev/full: No space left on device\n")


def test_a_limit_on_the_size_of_files(tmp_path: Path, scored: tuple[Path, bytes]) -> None:
    """The write is cut off inside a row, as on a disk that fills up."""
    out = tmp_path / "out.jsonl"
    command = ["prlimit", "--fsize=100000", *RLVR_MATH, str(scored[0]), "--out", str(out)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    kept = out.with_name("out.jsonl.partial").read_bytes()
    told = f"{len(kept.splitlines())} rows kept in {out}.partial; --resume goes on"
    assert done.stderr == f"rlvr-math: {out}.partial: File too large; {told}\n"
    assert kept.endswith(b"\n")
    assert 99_000 < len(kept) <= 100_000
    assert score(scored[0], out, resume=True).resumed == kept.count(b"\n")
    assert out.read_bytes() == scored[1]


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    disk = tmp_path / "disk"
    disk.mkdir()
    if subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=256k", "none", disk], capture_output=True, check=False
    ).returncode:
        pytest.skip("mounting a disk needs root")
    try:
        yield disk
    finally:
        subprocess.run(["umount", disk], check=True)


@pytest.mark.parametrize("name", ["out.jsonl", "out.csv"])
def test_a_full_disk(small_disk: Path, scored: tuple[Path, bytes], name: str) -> None:
    out = small_disk / name
    with pytest.raises(DataError, match="No space left on device"):
        score(scored[0], out)
    assert sorted(os.listdir(small_disk)) == [name + ".partial", name + ".partial.json"]
    kept = (small_disk / (name + ".partial")).read_bytes()
    assert kept == scored[1][: len(kept)]
    assert kept.endswith(b"\n")
    subprocess.run(["mount", "-o", "remount,size=16m", small_disk], check=True)
    assert score(scored[0], out, resume=True).resumed == kept.count(b"\n") > 100
    assert os.listdir(small_disk) == [name]


def test_a_disk_that_is_full_at_the_last_step(small_disk: Path, scored: tuple[Path, bytes]) -> None:
    subprocess.run(["mount", "-o", f"remount,size={len(scored[1]) + 80_000}", small_disk], check=True)
    out = small_disk / "out.csv"
    with pytest.raises(DataError, match=r"out\.csv: No space .* rows kept in .*out\.csv\.partial; --resume goes on"):
        score(scored[0], out)
    assert (small_disk / "out.csv.partial").read_bytes() == scored[1]
    subprocess.run(["mount", "-o", "remount,size=16m", small_disk], check=True)
    assert score(scored[0], out, resume=True).rows == scored[1].count(b"\n")
    assert os.listdir(small_disk) == ["out.csv"]


def test_verdict_columns_are_named_once() -> None:
    assert len(set(VERDICT_COLUMNS)) == len(VERDICT_COLUMNS) >= 12
