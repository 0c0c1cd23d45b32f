"""Scoring on a Ray cluster of two workers, on this machine: the rows of the local engine, also when a worker dies."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any

import pytest

os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
pytest.importorskip("ray", reason="the extra `ray` is not installed")
pytest.importorskip("ray.data", reason="the extra `ray` is not installed")

pytestmark = pytest.mark.slow

PROGRAM = str(Path(sys.executable).with_name("rlvr-math"))
ROWS = 700
"""Rows a file: more than one chunk, so that a part has been written to when its worker is killed."""
FILES = 5


@pytest.fixture
def cluster() -> Iterator[Any]:
    from ray.cluster_utils import Cluster

    quick = {"health_check_initial_delay_ms": 0, "health_check_period_ms": 500, "health_check_failure_threshold": 4}
    found = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "_system_config": quick})
    found.add_node(num_cpus=1)
    found.add_node(num_cpus=1)
    found.wait_for_nodes()
    yield found
    found.shutdown()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "in"
    folder.mkdir()
    for index in range(FILES):
        (folder / f"{index}.csv").write_text("id,gold,completion\n" + rows_of(index))
    return folder


def rows_of(index: int) -> str:
    return "".join(f"{n},{n},so \\boxed{{{n if n % 3 else 7}}}\n" for n in range(index * ROWS, (index + 1) * ROWS))


def start(cluster: Any, folder: Path, *options: object) -> subprocess.Popen[str]:
    out = folder.parent / "out.jsonl"
    command = [PROGRAM, "score", folder, "--out", out, "--engine", "ray", "--json", *options]
    return subprocess.Popen(
        [str(argument) for argument in command],
        env={**os.environ, "RAY_ADDRESS": cluster.address},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def ended(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    stdout, stderr = process.communicate(timeout=100)
    return process.returncode, stdout, stderr


def check_rows(folder: Path, summary: str) -> None:
    """Each row is there once, in order, as the local engine has it, and nothing else is left behind."""
    assert json.loads(summary)["rows"] == FILES * ROWS
    local = folder.parent / "local.jsonl"
    subprocess.run([PROGRAM, "score", folder, "--out", local], stdout=subprocess.DEVNULL, check=True)
    assert (folder.parent / "out.jsonl").read_bytes() == local.read_bytes()
    ids = [int(json.loads(line)["id"]) for line in local.read_bytes().splitlines()]
    assert ids == list(range(FILES * ROWS))
    assert sorted(os.listdir(folder.parent)) == ["in", "local.jsonl", "out.jsonl"]


def wait_for(condition: Callable[[], Any], seconds: float = 100) -> Any:
    deadline = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < deadline, "it did not come about"
        time.sleep(0.05)
    return found


def opened_by_a_reader(path: Path) -> IO[str]:
    """The writing end of a pipe, once something reads it."""

    def attempt() -> int:
        try:
            return os.open(path, os.O_WRONLY | os.O_NONBLOCK)
        except OSError:
            return 0

    handle: int = wait_for(attempt)
    os.set_blocking(handle, True)
    return open(handle, "w", encoding="utf-8")


def readers(path: Path) -> list[int]:
    """The processes that have a file open, without this one."""
    found = set()
    for link in Path("/proc").glob("[0-9]*/fd/*"):
        try:
            if os.readlink(link) == str(path) and int(link.parts[2]) != os.getpid():
                found.add(int(link.parts[2]))
        except OSError:  # closed meanwhile
            continue
    return sorted(found)


@pytest.mark.parametrize("victim", ["the worker", "the node"])
def test_a_worker_that_is_killed_half_way_costs_no_row(cluster: Any, folder: Path, victim: str) -> None:
    table = folder / "2.csv"
    table.rename(folder.parent / "2.csv")
    os.mkfifo(table)  # read half, and held there, so that there is a half-way to be killed at
    process = start(cluster, folder)
    with opened_by_a_reader(table) as half:
        half.write("".join((folder.parent / "2.csv").read_text().splitlines(keepends=True)[:600]))
        half.flush()
        parts = folder.parent / "out.jsonl.parts"
        wait_for(lambda: any(part.stat().st_size for part in parts.glob("000002.jsonl.*")))
        (pid,) = readers(table)
        (folder.parent / "2.csv").replace(table)  # what the task will find when it runs again
        kill(cluster, pid, victim)
        code, stdout, stderr = ended(process)
    assert code == 0, stderr
    check_rows(folder, stdout)


def kill(cluster: Any, worker: int, victim: str) -> None:
    if victim == "the worker":
        os.kill(worker, signal.SIGKILL)
        return
    raylet = int(Path(f"/proc/{worker}/stat").read_text().rpartition(")")[2].split()[1])
    (node,) = [node for node in cluster.worker_nodes if node.all_processes["raylet"][0].process.pid == raylet]
    cluster.remove_node(node, allow_graceful=False)


def test_parts_that_are_finished_are_kept(cluster: Any, folder: Path) -> None:
    last = folder / f"{FILES - 1}.csv"
    text = last.read_text()
    last.write_text(text[:-1].rpartition(",")[0] + "\n")
    code, stdout, stderr = ended(start(cluster, folder))
    assert (code, stdout) == (2, "")
    parts = folder.parent / "out.jsonl.parts"
    said, _, kept = stderr.splitlines()[-1].partition("; ")
    assert said == f"rlvr-math: {last}, line {ROWS + 1}: 2 cells, where the header has 3"
    assert kept.endswith(f" parts kept in {parts}; --resume goes on")
    finished = len(list(parts.glob("*.outcomes.json")))
    parts_had_first = (parts / "000000.outcomes.json").exists()
    assert not (parts / f"{FILES - 1:06d}.jsonl").exists()

    code, _, stderr = ended(start(cluster, folder))
    assert (code, "--resume goes on with it" in stderr) == (2, True)
    code, _, stderr = ended(start(cluster, folder, "--resume", "--policy", "percent=value"))
    assert (code, "made with another policy" in stderr) == (2, True)

    last.write_text(text)  # mended; so the first file changes too, and is graded again
    (folder / "0.csv").write_text(rows_of(0).replace("boxed", "fbox").join(["id,gold,completion\n", ""]))
    code, stdout, stderr = ended(start(cluster, folder, "--resume"))
    assert code == 0, stderr
    assert json.loads(stdout)["resumed"] == (finished - (parts_had_first)) * ROWS
    check_rows(folder, stdout)
