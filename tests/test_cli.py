"""The command as a user runs it: what it prints, its exit codes, what it needs to start."""

import importlib.util
import json
import os
import pty
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

import rlvr_math_reward
from rlvr_math_reward.cli import app
from rlvr_math_reward.rewards import MathReward

PROGRAM = str(Path(sys.executable).with_name("rlvr-math"))
DATA = os.environ.get("RLVR_MATH_DATA", "")
needs_data = pytest.mark.skipif(not DATA, reason="RLVR_MATH_DATA is not set")

ROWS: list[dict[str, object]] = [
    {"gold": "4", "completion": "so \\boxed{4}", "right": True},
    {"gold": "1/2", "completion": "so \\boxed{0.5}", "right": 0},
    {"gold": "(0,1]", "completion": "so \\boxed{(0,1)}", "right": "false"},
    {"gold": "", "completion": "so \\boxed{9}", "right": True},
    {"gold": "7", "completion": "so \\boxed{8}", "right": "1"},
    {"gold": "5", "completion": "no idea", "right": None},
]


def run(*arguments: object, text: str | None = None) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments], input=text)


def process(*arguments: object, **options: object) -> subprocess.CompletedProcess[str]:
    command = [PROGRAM, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, **options)  # type: ignore[call-overload,no-any-return]


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    return path


# -- starting ----------------------------------------------------------------------------------------------------------
def test_help_loads_nothing_that_is_slow() -> None:
    script = (
        "import sys\nfrom rlvr_math_reward.cli import app\n"
        "try: app(['--help'])\nexcept SystemExit as end: code = end.code\n"
        "slow = {'torch', 'datasets', 'sympy', 'pyarrow', 'numpy', 'rich', 'ray', 'transformers', 'math_verify'}\n"
        "print(code, sorted(slow & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "0 []"
    for command in ("explain", "score", "check", "compare", "bench", "report"):
        assert f"  {command} " in done.stdout


def test_no_arguments_show_the_help_and_are_a_usage_error() -> None:
    done = process()
    assert done.returncode == 2
    assert "Usage: rlvr-math" in done.stdout + done.stderr


# -- explain -----------------------------------------------------------------------------------------------------------
def test_explain_shows_the_steps() -> None:
    done = run("explain", "--gold", "14/3", "--completion", "so \\boxed{\\frac{28}{6}}")
    assert done.exit_code == 0
    lines = done.stdout.splitlines()
    assert lines[0] == "correct"
    assert lines[2:4] == ["               so \\boxed{\\frac{28}{6}}", "                         " + "^" * 12]


def test_explain_reads_standard_input_and_keeps_its_control_characters_off_the_terminal() -> None:
    text = "red \x1b[31m, back \r, right to left \u202e: \\boxed{4\x07}"
    done = process("explain", "--gold", "4", input=text)
    assert done.returncode == 0
    assert done.stdout
    assert all(character.isprintable() or character == "\n" for character in done.stdout)


def test_explain_takes_several_golds_a_prompt_and_a_policy() -> None:
    asked = ("explain", "--completion", "\\boxed{2+2}", "--gold", "5", "--gold", "4", "--json")
    assert json.loads(run(*asked).stdout)["outcome"] == "correct"
    assert json.loads(run(*asked, "--prompt", "What is 2+2?").stdout)["outcome"] == "incorrect"
    for yes in ("true", "True"):
        assert json.loads(run(*asked, "--policy", f"require_evaluated={yes}").stdout)["outcome"] == "incorrect"


POLICIES = [
    ("rel_tol=1e-2", None),
    ("fallback=none", None),
    ("rel_tol=null", None),
    ("rel_tol", "expected FIELD=VALUE"),
    ("reltol=1", "with a field of: fallback, percent"),
    ("rel_tol=2", "allowed: None, or a number in [0, 1)"),
    ("rel_tol=much", "Policy.rel_tol is 'much'; allowed: None, or a number in [0, 1)"),
    ("timeout=[1]", "Policy.timeout is [1]; allowed: seconds in (0,"),
    ("percent={}", "Policy.percent is {}; allowed: 'either', 'value'"),
    ("require_evaluated=1", "Policy.require_evaluated is 1; allowed: True, False"),
    ("percent=maybe", "allowed: 'either', 'value'"),
]


@pytest.mark.parametrize(("field", "said"), POLICIES)
def test_policy_fields(field: str, said: str | None) -> None:
    done = run("explain", "--completion", "4", "--gold", "4", "--policy", field)
    assert done.exit_code == (2 if said else 0)
    assert said is None or said in " ".join(done.stderr.split())


# -- score -------------------------------------------------------------------------------------------------------------
def test_score_prints_a_table(rows: Path) -> None:
    done = run("score", rows)
    assert done.exit_code == 0
    for part in ("correct", "40.00%", "bad_gold", "of 5", "95 % interval", "rows/s"):
        assert part in done.stdout
    assert done.stderr == ""


def test_score_as_json_with_rows(rows: Path, tmp_path: Path) -> None:
    out = tmp_path / "scored.jsonl"
    summary = json.loads(run("score", rows, "--out", out, "--json").stdout)
    assert (summary["rows"], summary["graded"], summary["accuracy"]) == (6, 5, 0.4)
    assert sum(summary["outcomes"].values()) == 6
    found = [json.loads(line)["verdict_outcome"] for line in out.read_text().splitlines()]
    assert found == ["correct", "correct", "incorrect", "bad_gold", "incorrect", "no_answer"]


def test_resuming_needs_an_output(rows: Path) -> None:
    done = run("score", rows, "--resume")
    assert (done.exit_code, done.stdout) == (2, "")
    assert "--resume: goes on with the rows in the file that --out names; no --out" in done.stderr


def test_columns_by_name(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("reply,truth,task\n\\boxed{2+2},4,What is 2+2?\n\\boxed{2+2},4,Add two and two.\n")
    named = ("--gold-column", "truth", "--completion-column", "reply", "--prompt-column", "task")
    summary = json.loads(run("score", path, *named, "--json").stdout)
    assert (summary["outcomes"]["correct"], summary["outcomes"]["incorrect"]) == (1, 1)


def without_override() -> list[str]:
    """Permissions bind root only without this capability."""
    if os.getuid():
        return []
    if shutil.which("setpriv") is None:
        pytest.skip("permissions do not bind root")
    return ["setpriv", "--bounding-set=-dac_override,-dac_read_search"]


Place = Callable[[Path], list[object]]
BAD: list[tuple[str, Place, str]] = [
    ("no such file", lambda f: [f / "none.jsonl"], "none.jsonl: no such file or folder"),
    (
        "no such column",
        lambda f: [f / "rows.jsonl", "--gold-column", "x"],
        "rows.jsonl, line 1: no column for the gold",
    ),
    ("no such prompt", lambda f: [f / "rows.jsonl", "--prompt-column", "x"], "line 1: no column for the prompt"),
    ("no rows", lambda f: [f / "empty.jsonl"], "empty.jsonl: no rows"),
    ("a line cut off", lambda f: [f / "cut.jsonl"], "cut.jsonl, line 6: not JSON"),
    ("a folder without files", lambda f: [f / "folder"], "folder: no file named .jsonl"),
    ("not to be read", lambda f: [f / "secret.jsonl"], "secret.jsonl: cannot be read (Permission denied)"),
    (
        "not to be written",
        lambda f: [f / "rows.jsonl", "--out", f / "closed/o.jsonl"],
        "o.jsonl.partial.json: Permission denied",
    ),
    ("into a folder that is not there", lambda f: [f / "rows.jsonl", "--out", f / "a/b.jsonl"], "No such file"),
    ("into the input", lambda f: [f / "rows.jsonl", "--out", f / "rows.jsonl"], "rows.jsonl: is also the input"),
    (
        "into the input folder",
        lambda f: [f, "--out", f / "folder/../o.jsonl"],
        "o.jsonl: stands in the input folder, whose files are all read; name one in another folder",
    ),
    ("to no format", lambda f: [f / "rows.jsonl", "--out", f / "o.txt"], "o.txt: expected a name that ends in .jsonl"),
    ("to a folder", lambda f: [f / "rows.jsonl", "--out", f / "folder"], "folder: expected a name that ends in .jsonl"),
]


@pytest.mark.parametrize(("arguments", "said"), [row[1:] for row in BAD], ids=[row[0] for row in BAD])
def test_bad_input_is_one_line(rows: Path, arguments: Place, said: str) -> None:
    folder = rows.parent
    (folder / "empty.jsonl").touch()
    (folder / "cut.jsonl").write_text(rows.read_text()[:-9])
    (folder / "folder").mkdir()
    (folder / "secret.jsonl").touch(0)
    (folder / "closed").mkdir(0o555)
    command = [*without_override(), PROGRAM, "score", *map(str, arguments(folder))]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("rlvr-math: ")
    assert done.stderr.count("\n") == 1
    assert said in done.stderr


def test_a_check_without_rows_names_the_file(tmp_path: Path) -> None:
    (tmp_path / "empty.jsonl").touch()
    done = process("check", str(tmp_path / "empty.jsonl"))
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.splitlines()[-1] == f"rlvr-math: {tmp_path / 'empty.jsonl'}: no rows"


def test_without_its_extra_the_command_says_what_to_install(tmp_path: Path) -> None:
    """In a process that is told that there is no `typer`."""
    script = "import sys; sys.modules['typer'] = None\nfrom rlvr_math_reward.__main__ import main\nmain()"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "rlvr-math: typer is missing; pip install 'rlvr_math_reward[cli]'\n"


NEEDED: list[tuple[str, list[str], str]] = [
    (
        "pyarrow",
        ["check", "rows.parquet"],
        "rows.parquet: Parquet needs pyarrow: pip install 'rlvr_math_reward[report]' ",
    ),
    ("pyarrow", ["score", "rows.jsonl", "--out", "o.parquet"], "o.parquet: Parquet needs pyarrow: pip install "),
    ("pyarrow", ["report", "."], ".: Parquet needs pyarrow: pip install 'rlvr_math_reward[report]' "),
    ("jinja2", ["report", "."], ".: a report needs Jinja: pip install 'rlvr_math_reward[report]' "),
    ("datasets", ["check", "org/ds"], "org/ds: no such file, and a dataset of the hub needs `datasets`: pip install "),
    (
        "ray",
        ["score", "rows.jsonl", "--engine", "ray", "--out", "o.jsonl"],
        "--engine ray needs Ray: pip install 'rlvr_math_reward[ray]' ",
    ),
]


@pytest.mark.parametrize(("library", "arguments", "said"), NEEDED)
def test_without_another_extra_too(rows: Path, library: str, arguments: list[str], said: str) -> None:
    """And before anything is graded or written."""
    (rows.parent / "rows.parquet").touch()
    script = f"import sys; sys.modules[{library!r}] = None\nfrom rlvr_math_reward.__main__ import main\nmain()"
    command = [sys.executable, "-c", script, *arguments]
    environment = {**os.environ, "PYTHONPATH": str(Path(rlvr_math_reward.__file__).parents[1])}
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=rows.parent, env=environment)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert done.stderr.startswith(f"rlvr-math: {said}")
    assert sorted(os.listdir(rows.parent)) == ["rows.jsonl", "rows.parquet"]


def test_the_package_runs_as_the_command() -> None:
    command = [sys.executable, "-m", "rlvr_math_reward", "explain", "--gold", "1/2", "--completion", "#### 0.5"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("correct\n")


def test_no_hub_is_one_line() -> None:
    environment = {**os.environ, "HF_HUB_OFFLINE": "1"}
    done = process("check", "nobody/no-such-dataset", env=environment)
    assert done.returncode == 2
    assert "nobody/no-such-dataset: no such file, and not read from the hub" in done.stderr.splitlines()[-1]


def test_a_reader_that_has_seen_enough_is_no_error(tmp_path: Path) -> None:
    golds = tmp_path / "golds.jsonl"
    golds.write_text('{"gold": ""}\n' * 20_000)
    done = subprocess.run(f"{PROGRAM} check {golds} | head -1", shell=True, capture_output=True, text=True, check=True)
    assert done.stdout == f"{golds}:1: the gold is empty: ''\n"
    assert done.stderr == ""


def test_progress_is_shown_on_a_terminal_only(rows: Path) -> None:
    assert process("score", rows).stderr == ""
    ours, theirs = pty.openpty()
    done = subprocess.run([PROGRAM, "score", rows], stdout=subprocess.PIPE, stderr=theirs, text=True, check=True)
    os.close(theirs)
    shown = os.read(ours, 1 << 16).decode()
    os.close(ours)
    assert "grading" in shown
    assert "accuracy" in done.stdout


# -- check -------------------------------------------------------------------------------------------------------------
def test_check_names_bad_golds(tmp_path: Path) -> None:
    golds = ["4", None, "[0,1)", "", "\\frac{1}{", ["x", "1/2"], {"a": 1}, "Half.\n#### 1/2"]
    path = tmp_path / "golds.jsonl"
    path.write_text("".join(json.dumps({"answer": gold}) + "\n" for gold in golds) + '{"question": "?"}\n')
    done = run("check", path)
    assert done.exit_code == 1
    named = [line for line in done.stdout.splitlines() if line.startswith(f"{path}:")]
    assert [line.split(":")[1] for line in named] == ["2", "4", "5", "7", "9"]
    assert named[-1] == f"{path}:9: no column 'answer': ''"
    assert "scalar" in done.stdout
    assert "interval" in done.stdout
    assert "Golds in column 'answer'" in done.stdout
    found = json.loads(run("check", path, "--json").stdout)
    assert (found["column"], found["preferred_by_rewards"]) == ("answer", None)
    assert (found["rows"], found["bad_rows"]) == (9, 5)
    assert [bad["line"] for bad in found["bad"]] == [2, 4, 5, 7, 9]


def test_check_is_content_with_good_golds(tmp_path: Path) -> None:
    path = tmp_path / "golds.json"
    path.write_text(json.dumps([{"solution": "4"}, {"solution": "x+1"}]))
    assert run("check", path).exit_code == 0


@pytest.mark.parametrize(
    ("row", "named", "column", "preferred"),
    [
        ({"answer": "4", "solution": "so \\boxed{4}"}, (), "answer", "solution"),
        ({"answer": "4", "solution": "so \\boxed{4}"}, ("--gold-column", "solution"), "solution", None),
        ({"answer": "4", "solution": " "}, (), "answer", None),  # a reward takes the first that is filled
        ({"target": "4", "gold": ["4"]}, ("--gold-column", "target"), "target", "gold"),
        ({"gold": "4", "target": "4"}, (), "gold", None),
    ],
)
def test_check_says_which_column_it_read_and_which_a_reward_would_prefer(
    tmp_path: Path, row: dict[str, object], named: tuple[str, ...], column: str, preferred: str | None
) -> None:
    path = tmp_path / "golds.jsonl"
    path.write_text(json.dumps(row) + "\n")
    found = json.loads(run("check", path, *named, "--json").stdout)
    assert (found["column"], found["preferred_by_rewards"]) == (column, preferred)
    told = run("check", path, *named).stdout.splitlines()
    assert f"Golds in column {column!r}" in [line.strip() for line in told]
    first = f"a trainer that passes on both columns is graded against {preferred!r} first"
    assert [first in line for line in told if "trainer" in line] == [True] * (preferred is not None)
    with_a_wrong_one = {name: ["5"] if name == (preferred or column) else [value] for name, value in row.items()}
    assert MathReward(name="r")(completions=["#### 4"], **with_a_wrong_one) == [0.0], "that is the column it reads"


@needs_data
@pytest.mark.parametrize(
    ("name", "lines", "reason"),
    [("train", [7037, 7437], "the gold is empty"), ("test", [439], "the gold is a sentence, not an answer")],
)
def test_check_of_math(name: str, lines: list[int], reason: str) -> None:
    found = json.loads(run("check", f"{DATA}/math/{name}.jsonl", "--json").stdout)
    assert [(bad["line"], bad["reason"]) for bad in found["bad"]] == [(line, reason) for line in lines]


# -- compare and bench -------------------------------------------------------------------------------------------------
def test_compare_with_labels_shows_what_differs_first(rows: Path) -> None:
    done = run("compare", rows, "--label-column", "right")
    assert done.exit_code == 1
    heads = [line for line in done.stdout.splitlines() if line.startswith(f"{rows}, line")]
    assert [(line.split(":")[0][-1], line.split(": ")[1]) for line in heads] == [
        ("2", "ours correct, right wrong"),
        ("5", "ours incorrect, right correct"),
        ("1", "ours correct, right correct"),
        ("3", "ours incorrect, right wrong"),
    ]
    assert "2 rows left out" in done.stdout
    found = json.loads(run("compare", rows, "--label-column", "right", "--json").stdout)
    assert found["disagreements"][0]["place"] == f"{rows}, line 2"
    counts = [found[name] for name in ("both_correct", "both_wrong", "only_ours_correct", "only_theirs_correct")]
    assert counts == [1, 1, 1, 1]


def test_compare_needs_labels_that_say_true_or_false(rows: Path) -> None:
    done = run("compare", rows, "--label-column", "completion")
    assert (done.exit_code, done.stderr.count("\n")) == (2, 1)
    assert "rows.jsonl, line 1: 'completion' is" in done.stderr


@pytest.mark.skipif(not importlib.util.find_spec("math_verify"), reason="Math-Verify is not installed")
def test_compare_with_math_verify(rows: Path) -> None:
    found = json.loads(process("compare", rows, "--json").stdout)
    assert found["both_correct"] == 2  # 4, and 0.5 for 1/2
    assert sum(found[key] for key in ("both_wrong", "only_ours_correct", "only_theirs_correct")) == 3
    speeds = json.loads(process("bench", "--rows", "40", "--peer-rows", "8", "--json").stdout)
    assert [(speed["name"], speed["rows"]) for speed in speeds] == [
        ("rlvr_math_reward", 40), ("rlvr_math_reward", 8), ("Math-Verify", 8),
    ]  # fmt: skip


def test_bench_of_a_file(rows: Path) -> None:
    done = run("bench", rows, "--peer-rows", "0")
    assert done.exit_code == 0
    assert "rlvr_math_reward" in done.stdout
    assert "Math-Verify" not in done.stdout


@needs_data
def test_real_completions_score_as_they_are_labelled() -> None:
    path = f"{DATA}/rollouts/openai_gsm8k.jsonl"
    with open(path, encoding="utf-8") as file:
        labels = [json.loads(line)["right"] for line in file]
    summary = json.loads(run("score", path, "--gold-column", "gold", "--json").stdout)
    assert summary["outcomes"]["correct"] == sum(labels)
    assert summary["rows"] == len(labels)
    assert run("compare", path, "--label-column", "right").exit_code == 0


# -- report ------------------------------------------------------------------------------------------------------------
def test_report_of_what_is_no_run_is_one_line(tmp_path: Path) -> None:
    done = run("report", tmp_path)
    assert (done.exit_code, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert done.stderr.startswith(f"rlvr-math: {tmp_path}")
