"""SymPy's children in every context a reward runs in: real processes, a question that really never ends, real kills.

Each script of `contexts/` asks for right answers, for one that is cut at its deadline, and for right answers again.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from contexts import questions

FOLDER = Path(__file__).parent / "contexts"
ROOT = str(FOLDER.parent.parent)
SECONDS = 100
"""Bound of one script: they take 2 to 6 seconds where nothing else runs."""


def environment(**extra: str) -> dict[str, str]:
    paths = [ROOT, *filter(None, [os.environ.get("PYTHONPATH")])]
    return os.environ | {"PYTHONPATH": os.pathsep.join(paths)} | extra


def run(command: list[str], cwd: Path, **extra: str) -> str:
    """What a script printed. Its whole process group is killed when it hangs, so that the tests do not."""
    process = subprocess.Popen(
        [sys.executable, *command],
        cwd=cwd,
        env=environment(**extra),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        return process.communicate(timeout=SECONDS)[0].strip()
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        pytest.fail(f"{command} hung; it printed: {process.communicate()[0]}")


def script(name: str) -> str:
    return str(FOLDER / f"{name}.py")


@pytest.mark.parametrize(
    "command",
    [
        [script("main_thread")],
        ["-O", script("main_thread")],
        ["-I", "-c", "import sys; sys.path[:0] = sys.argv[1:]; import questions as q; q.check(); print('ok')",
         str(FOLDER), ROOT],
        [script("no_main_guard")],
        [script("other_threads")],
        [script("in_asyncio")],
        [script("daemonic_process"), "fork"],
        [script("daemonic_process"), "spawn"],
        [script("daemonic_process"), "forkserver"],
        [script("after_fork")],
        [script("executed_source")],
        [script("caller_owns_signals")],
        [script("closed_streams")],
        [script("deleted_folder")],
    ],
    ids=lambda command: " ".join(Path(word).stem if word.endswith(".py") else word for word in command)[:24],
)  # fmt: skip
def test_answers_and_kills(command: list[str], tmp_path: Path) -> None:
    assert run(command, tmp_path) == "ok"


def test_without_a_writable_home(tmp_path: Path) -> None:
    nowhere = str(tmp_path / "absent")
    folders = dict.fromkeys(("HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME"), nowhere)
    assert run([script("main_thread")], tmp_path, **folders) == "ok"


def test_files_named_like_what_sympy_imports_are_not_run(tmp_path: Path) -> None:
    trap = f"open({str(tmp_path / 'ran')!r}, 'w').close(); raise SystemExit"
    for name in ("sympy", "mpmath", "gmpy2", "sitecustomize"):
        (tmp_path / f"{name}.py").write_text(trap)
    assert run([script("main_thread")], tmp_path) == "ok"
    inside = "import sys; sys.path[:0] = ['', *sys.argv[1:]]; import questions; questions.check(); print('ok')"
    assert run(["-c", inside, str(FOLDER), ROOT], tmp_path) == "ok"
    assert not (tmp_path / "ran").exists()


def test_variables_that_change_how_python_runs_do_not_reach_the_child(tmp_path: Path) -> None:
    (tmp_path / "sympy.py").write_text("raise SystemExit")
    paths = os.pathsep.join([str(tmp_path), ROOT])
    extra = {"PYTHONPATH": paths, "PYTHONHASHSEED": "7", "PYTHONINSPECT": "", "SYMPY_USE_CACHE": "no"}
    assert run([script("main_thread")], tmp_path, **extra) == "ok"


def test_a_child_that_cannot_start_is_reported_once_and_raises_nothing(tmp_path: Path) -> None:
    asking = (
        "import sys; import questions as q; sys.executable = '/absent/python'; " + 3 * "print(q.ask(q.X, q.X, 9)); "
    )
    printed = run(["-c", asking], tmp_path, PYTHONPATH=os.pathsep.join([str(FOLDER), ROOT]))
    assert printed.splitlines().count("None") == 3
    assert printed.count("no SymPy process") == 1


@pytest.mark.slow
def test_two_ranks_of_torchrun(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    launch = ["-m", "torch.distributed.run", "--standalone", "--nproc_per_node", "2", script("torchrun_rank")]
    printed = run(launch, tmp_path, OMP_NUM_THREADS="1").split()
    assert printed.count("ok") == 2, printed


@pytest.mark.slow
def test_ray_actor(tmp_path: Path) -> None:
    pytest.importorskip("ray")
    assert run([script("ray_actor")], tmp_path, HOME=str(tmp_path), RAY_AUTH_MODE="disabled").endswith("ok")


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_children_do_not_outlive_their_parent(how: signal.Signals, tmp_path: Path) -> None:
    parent = subprocess.Popen(
        [sys.executable, script("killed_parent")], cwd=tmp_path, env=environment(), stdout=subprocess.PIPE, text=True
    )
    assert parent.stdout is not None
    children = {int(pid) for pid in parent.stdout.readline().split()}
    try:
        assert len(children) == 2
        assert all(map(questions.alive, children))
        parent.send_signal(how)
        parent.wait(30)
        assert not questions.wait_until_gone(children, 10)
    finally:
        parent.kill()
        parent.communicate()
