"""Rows of the known datasets and of users become prompts and golds; what cannot be used is named in one line."""

import json
import logging
import os
import subprocess
import sys
from pathlib import Path

import pytest

from rlvr_math_reward import grade
from rlvr_math_reward.data import PROMPT_STYLES, DataError, Problem, load_problems, to_dataset, to_prompt

GSM8K = {"question": "Three hens lay 2 eggs each. How many eggs?", "answer": "3 * 2 = <<3*2=6>>6 eggs.\n#### 6"}
MATH = {"problem": "Halve 3.", "solution": "It is $\\boxed{\\frac32}$.", "level": "Level 1", "type": "Prealgebra"}
MATH_WITH_ANSWER = {**MATH, "answer": "\\frac32", "unique_id": "x/1"}
TRL = {"prompt": [{"role": "user", "content": "2 + 2?"}], "solution": "4"}


def write(path: Path, rows: list[dict[str, object]]) -> str:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return str(path)


@pytest.mark.parametrize(
    ("row", "named", "expected"),
    [
        (GSM8K, {}, Problem(GSM8K["question"], GSM8K["answer"], {})),
        (MATH, {}, Problem("Halve 3.", MATH["solution"], {"level": "Level 1", "type": "Prealgebra"})),
        (MATH_WITH_ANSWER, {}, Problem("Halve 3.", "\\frac32", {"level": "Level 1", "type": "Prealgebra"})),
        (TRL, {}, Problem(TRL["prompt"], "4", {})),
        ({"q": "2 + 2?", "a": 4}, {"question_column": "q", "gold_column": "a"}, Problem("2 + 2?", "4", {})),
        ({"question": "2 + 2?", "answer": 4.5}, {}, Problem("2 + 2?", "4.5", {})),
        ({"question": "Root?", "answer": ["2", -2, None]}, {}, Problem("Root?", ["2", "-2"], {})),
        (MATH_WITH_ANSWER, {"gold_column": "solution"}, None),
    ],
)
def test_rows_become_problems(
    tmp_path: Path, row: dict[str, object], named: dict[str, str], expected: Problem | None
) -> None:
    (problem,) = load_problems(write(tmp_path / "rows.jsonl", [row]), **named)
    if expected is None:
        assert problem.gold == row["solution"]
    else:
        assert problem == expected


@pytest.mark.parametrize(("row", "stated"), [(GSM8K, "6"), (MATH, "1.5"), (MATH_WITH_ANSWER, "3/2"), (TRL, "4")])
def test_the_gold_of_every_known_dataset_is_graded_as_it_stands(
    tmp_path: Path, row: dict[str, object], stated: str
) -> None:
    (problem,) = load_problems(write(tmp_path / "rows.jsonl", [row]))
    assert isinstance(problem.gold, str)
    assert grade(f"\\boxed{{{stated}}}", problem.gold)
    assert not grade("\\boxed{7}", problem.gold)


@pytest.mark.parametrize(
    ("rows", "named", "said"),
    [
        ([], {}, "rows.jsonl: no rows"),
        ([{"text": "a", "label": "b"}], {}, "for the question; columns found: 'text', 'label'; expected 'problem' or"),
        ([{"question": "a", "label": "b"}], {}, "for the gold; columns found: 'question', 'label'; expected 'answer'"),
        ([GSM8K], {"gold_column": "target"}, "columns found: 'question', 'answer'; expected 'target'"),
        ([GSM8K, {"problem": "a", "answer": "1"}], {}, "row 2: no question in column 'question'; its columns:"),
        ([GSM8K, {"question": "", "answer": "1"}], {}, "row 2: no question in column 'question'"),
        ([GSM8K, {"question": 5, "answer": "1"}], {}, "row 2: no question in column 'question'"),
        ([{"question": "a", "answer": " "}, {"question": "b"}], {}, "no row has a gold in column 'answer'"),
    ],
)
def test_what_is_wrong_with_a_dataset_is_said_in_one_line(
    tmp_path: Path, rows: list[dict[str, object]], named: dict[str, str], said: str
) -> None:
    source = write(tmp_path / "rows.jsonl", rows)
    with pytest.raises(DataError) as caught:
        load_problems(source, **named)
    message = str(caught.value)
    assert message.startswith(source)
    assert said in message
    assert "\n" not in message


def test_rows_without_a_gold_are_left_out_and_counted(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    source = write(tmp_path / "rows.jsonl", [GSM8K, {**GSM8K, "answer": None}, {**GSM8K, "answer": []}])
    with caplog.at_level(logging.WARNING):
        assert len(load_problems(source)) == 1
    assert "left out 2 of 3 rows, which have no gold in column 'answer'; the first is row 2" in caplog.text


def test_a_folder_has_a_file_for_each_split(tmp_path: Path) -> None:
    write(tmp_path / "train.jsonl", [GSM8K])
    write(tmp_path / "test.jsonl", [MATH, MATH])
    assert [len(load_problems(str(tmp_path), split)) for split in ("train", "test")] == [1, 2]
    with pytest.raises(DataError, match=r"validation.*test\.jsonl, train\.jsonl"):
        load_problems(str(tmp_path), "validation")


def test_a_dataset_out_of_reach_is_said_in_one_line() -> None:
    with pytest.raises(DataError, match=r"^nobody/nothing: .*hub") as caught:
        load_problems("nobody/nothing")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("style", PROMPT_STYLES)
def test_a_prompt_is_messages_or_a_string_with_the_same_text(style: str) -> None:
    (message,) = to_prompt(" 2 + 2?\n", style, conversational=True)
    text = to_prompt(" 2 + 2?\n", style, conversational=False)
    assert message == {"role": "user", "content": text.removesuffix("\n")}
    assert text.startswith("2 + 2?\n")
    assert text.endswith(PROMPT_STYLES[style] + "\n")


@pytest.mark.parametrize("conversational", [True, False])
def test_messages_are_left_as_they_are(conversational: bool) -> None:
    assert to_prompt(TRL["prompt"], "boxed", conversational=conversational) == TRL["prompt"]


def test_a_dataset_holds_prompt_gold_and_the_columns_that_are_kept(tmp_path: Path) -> None:
    source = write(tmp_path / "rows.jsonl", [MATH_WITH_ANSWER, {**MATH_WITH_ANSWER, "answer": ["1.5", "3/2"]}])
    dataset = to_dataset(load_problems(source), "question", conversational=False)
    assert dataset.column_names == ["prompt", "solution", "level", "type"]
    assert dataset["prompt"][:] == ["Halve 3.\n"] * 2
    assert dataset["solution"][:] == [["\\frac32"], ["1.5", "3/2"]]


def test_importing_the_module_loads_no_heavy_library() -> None:
    code = "import sys, rlvr_math_reward.data; print({'datasets', 'pyarrow', 'torch', 'sympy'} & {*sys.modules})"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "set()\n"


REAL = Path(os.environ.get("RLVR_MATH_DATA", "/nonexistent"))


@pytest.mark.skipif(not REAL.is_dir(), reason="RLVR_MATH_DATA names no folder")
@pytest.mark.parametrize(
    ("name", "split", "count"),
    [("gsm8k", "train", 7473), ("gsm8k", "test", 1319), ("math", "test", 5000), ("math/math500.jsonl", "test", 500)],
)
def test_the_published_datasets_are_read_whole(name: str, split: str, count: int) -> None:
    assert len(load_problems(str(REAL / name), split)) == count
