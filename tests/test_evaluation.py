"""Estimates against brute force, votes, the same verdicts as in training, and real runs of the recipe."""

import importlib.util
import itertools
import json
import math
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlvr_math_reward import Outcome, Policy, grade
from rlvr_math_reward.data import Problem
from rlvr_math_reward.evaluation import Sampled, evaluate, group_rows, pass_at_k, to_row, vote
from rlvr_math_reward.files import DataError
from rlvr_math_reward.rewards import MathReward, accuracy_reward, shaped_reward
from rlvr_math_reward.scoring.local import wilson_interval

ROOT = Path(__file__).parents[1]
DATA = os.environ.get("RLVR_MATH_DATA")


def hashed(*answers: object) -> list[str]:
    return [f"#### {answer}" for answer in answers]


# -- estimates ---------------------------------------------------------------------------------------------------------
@given(st.integers(1, 7).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n), st.integers(1, n))))
def test_pass_at_k_is_the_share_of_all_choices_that_hold_a_correct_one(case: tuple[int, int, int]) -> None:
    count, correct, k = case
    drawn = [any(n < correct for n in chosen) for chosen in itertools.combinations(range(count), k)]
    assert pass_at_k(count, correct, k) == pytest.approx(sum(drawn) / len(drawn))


@pytest.mark.parametrize("k", [0, -1, 5])
def test_pass_at_k_needs_k_completions(k: int) -> None:
    with pytest.raises(ValueError, match="allowed: 1 to 4"):
        pass_at_k(4, 2, k)


def test_one_completion_each_has_wilsons_interval() -> None:
    accuracy = evaluate([Sampled("4", hashed(4 if n < 7 else 5)) for n in range(10)]).accuracy
    assert (accuracy.value, accuracy.count) == (0.7, 10)
    assert (accuracy.low, accuracy.high) == pytest.approx(wilson_interval(7, 10))


def test_copies_of_a_completion_say_nothing_new() -> None:
    """Ten greedy completions of ten problems are ten facts, not a hundred; independent ones are more."""
    copied = evaluate([Sampled("4", hashed(*[4 if n < 7 else 5] * 10)) for n in range(10)]).accuracy
    assert (copied.low, copied.high) == pytest.approx(wilson_interval(7, 10))
    mixed = evaluate([Sampled("4", hashed(*[4] * 7, *[5] * 3)) for _ in range(10)]).accuracy
    assert (mixed.low, mixed.high) == pytest.approx(wilson_interval(70, 100))


@given(st.lists(st.lists(st.booleans(), min_size=1, max_size=5), min_size=1, max_size=6))
def test_estimates_stay_in_order(rights: list[list[bool]]) -> None:
    result = evaluate([Sampled("4", hashed(*[4 if right else 5 for right in group])) for group in rights])
    accuracy = result.accuracy
    assert accuracy.value == pytest.approx(sum(map(sum, rights)) / sum(map(len, rights)))
    assert 0 <= accuracy.low <= accuracy.value + 1e-9
    assert accuracy.value - 1e-9 <= accuracy.high <= 1
    assert list(result.pass_at) == sorted(result.pass_at)
    assert sorted(result.pass_at.values()) == pytest.approx(list(result.pass_at.values()))


# -- votes -------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("gold", "answers", "expected"),
    [
        ("1/2", ["3", r"$\frac12$", "0.5", "3", "0.50"], [(r"\frac12", True, 3), ("3", False, 2)]),
        (r"\{1, 3\}", ["3, 1", "1, 3", "2"], [("3, 1", True, 2), ("2", False, 1)]),
        ("x+1", ["1+x", "x+2", "x+1"], [("1+x", True, 2), ("x+2", False, 1)]),
        ("7", ["@@", "@@", "7"], [("@@", False, 2), ("7", True, 1)]),
    ],
)
def test_equal_answers_vote_together(gold: str, answers: list[str], expected: list[tuple[str, bool, int]]) -> None:
    verdicts = [grade(rf"\boxed{{{answer.strip('$')}}}", gold) for answer in answers]
    assert [(group.answer, group.correct, group.votes) for group in vote(verdicts)] == expected


def test_no_answer_has_no_vote_and_a_tie_counts_in_part() -> None:
    problem = Sampled("4", ["no idea", *hashed(4), "no idea", *hashed(5)])
    result = evaluate([problem])
    assert result.maj_at[2].value == 1.0, "one vote of the first two completions"
    assert result.maj_at[4].value == 0.5, "one vote each"
    assert evaluate([Sampled("4", ["no idea"] * 4)]).maj_at[4].value == 0.0


def test_a_majority_against_the_gold_is_named() -> None:
    problems = [
        Sampled("4", hashed(4, 4, 4, 5)),
        Sampled("9", hashed(6, "6.0", 6, 9)),
        Sampled("1", hashed(1, 2, 3, 4)),
    ]
    (found,) = evaluate(problems).disagreements
    assert (found.problem, found.answer, found.votes, found.completions, found.gold) == (1, "6", 3, 4, "9")
    assert "problem 1: 3 of 4 say 6, the gold is 9" in evaluate(problems).table()


# -- the whole ---------------------------------------------------------------------------------------------------------
def test_a_bad_gold_counts_as_an_outcome_only() -> None:
    result = evaluate([Sampled("", hashed(1)), Sampled(None, hashed(1)), Sampled("4", hashed(4))])
    assert (result.accuracy.value, result.accuracy.count, result.pass_at) == (1.0, 1, {1: 1.0})
    assert (result.problems, result.completions, result.outcomes["bad_gold"]) == (3, 3, 2)
    nothing = evaluate([Sampled("", hashed(1))])
    assert math.isnan(nothing.accuracy.value)
    assert json.loads(json.dumps(nothing.to_dict()))["accuracy"]["value"] is None
    assert "none" in nothing.table()


@pytest.mark.parametrize("problems", [[], [Sampled("4", [])]])
def test_nothing_to_evaluate_is_an_error(problems: list[Sampled]) -> None:
    with pytest.raises(ValueError, match="nothing to evaluate"):
        evaluate(problems)


def test_accuracy_by_level_and_subject() -> None:
    problems = [
        Sampled("4", hashed(4 if n % 2 else 5), extras={"level": f"Level {n}", "subject": "Algebra"})
        for n in range(1, 12)
    ]
    result = evaluate(problems)
    assert list(result.by["level"]) == [f"Level {n}" for n in range(1, 12)], "2 before 10"
    assert [share.value for share in result.by["level"].values()] == [n % 2 for n in range(1, 12)]
    assert result.by["subject"]["Algebra"] == result.accuracy
    lines = result.table().splitlines()
    assert lines[0] == "11 problems, 11 completions"
    assert any(line.split()[:2] == ["Level", "10"] for line in lines)
    assert all(len(line) <= 80 for line in lines)


HOSTILE = [
    r"\boxed{__import__('os').system('true')}", "", "\x00", r"\boxed{" * 500, r"\boxed{4} or \boxed{5}",
    "<think> #### 4", "\ud800 #### 4", r"\boxed{9^{9^{9^9}}}", "#### 4",
]  # fmt: skip


def trained_on(reward: MathReward, problems: Sequence[Sampled]) -> list[str]:
    """The outcomes that the reward logs when a trainer calls it."""
    rows = [(problem, completion) for problem in problems for completion in problem.completions]
    logged: dict[str, list[str]] = {}
    reward(
        prompts=[problem.prompt for problem, _ in rows],
        completions=[completion for _, completion in rows],
        completion_ids=[[0]] * len(rows),
        solution=[problem.gold for problem, _ in rows],
        log_extra=logged.__setitem__,
    )
    return logged["outcome"]


@pytest.mark.parametrize(
    "reward",
    [accuracy_reward, shaped_reward, MathReward(policy=Policy(require_evaluated=True, fallback="none"))],
    ids=["accuracy", "shaped", "own_policy"],
)
def test_verdicts_are_those_of_training(reward: MathReward) -> None:
    prompt = [{"role": "user", "content": "What is 2 + 2?"}]
    texts = [*HOSTILE, "2 + 2", "#### 4.0001", r"\boxed{x = 4}", "It is 4."]
    problems = [
        Sampled("4", texts, "What is 2 + 2?"),
        Sampled(4, [[{"role": "assistant", "content": text}] for text in texts], prompt),
        Sampled(["4", "four"], texts, prompt),
        Sampled(r"So it is \boxed{4}.", texts),
        Sampled(float("nan"), texts),
    ]
    outcomes = trained_on(reward, problems)
    result = evaluate(problems, reward)
    assert {outcome: outcomes.count(outcome) for outcome in set(outcomes)} == {
        outcome: count for outcome, count in result.outcomes.items() if count
    }
    for problem in problems:
        alone = evaluate([problem], reward)
        assert alone.outcomes[Outcome.CORRECT.value] == trained_on(reward, [problem]).count("correct")


@pytest.mark.skipif(not DATA, reason="RLVR_MATH_DATA names no folder of graded completions")
def test_verdicts_on_real_completions_are_those_of_training() -> None:
    for name in ("qwen25_15b_math500sub", "openai_gsm8k"):
        lines = (Path(str(DATA)) / "rollouts" / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()[:1_000]
        problems = group_rows([json.loads(line) for line in lines], name, "gold")
        result = evaluate(problems)
        assert result.outcomes == {
            outcome.value: trained_on(accuracy_reward, problems).count(outcome.value) for outcome in Outcome
        }
        assert result.outcomes["correct"]


# -- rows --------------------------------------------------------------------------------------------------------------
def test_rows_of_a_question_are_one_problem() -> None:
    rows: list[dict[str, Any]] = [
        {"question": "1 + 1?", "answer": "2", "completion": "#### 2", "level": 1},
        {"question": "1 + 1?", "answer": "2", "completion": [{"role": "assistant", "content": "#### 3"}], "level": 1},
        {"question": [{"role": "user", "content": "1 + 1?"}], "answer": "3", "completion": None},
    ]
    first, second = group_rows(rows, "rows")
    assert (first.completions, first.prompt, first.extras) == (["#### 2", "#### 3"], "1 + 1?", {"level": 1})
    assert (second.completions, second.prompt, second.extras) == ([""], "1 + 1?", {})
    assert len(group_rows([{"answer": "2", "completion": "#### 2"}] * 3, "rows")) == 3, "nothing says they are one"


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([], "f.jsonl: no rows"),
        ([{"completion": "4"}], "f.jsonl: no column for the gold"),
        ([{"gold": "4"}], "f.jsonl: no column for the completion"),
        ([{"gold": "4", "completion": "4"}, {"gold": "4", "output": "4"}], "f.jsonl, row 2: no column"),
    ],
)
def test_rows_without_their_columns_are_an_error(rows: list[dict[str, Any]], message: str) -> None:
    with pytest.raises(DataError, match=message):
        group_rows(rows, "f.jsonl")


# -- the recipe --------------------------------------------------------------------------------------------------------
SUMS = ROOT / "tests" / "training" / "sums"


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    pytest.importorskip("trl")
    sys.path.insert(0, str(ROOT / "tests" / "training"))
    from tiny import save_tiny_model

    return str(save_tiny_model(tmp_path_factory.mktemp("tiny")))


@pytest.fixture(scope="module")
def recipe() -> Callable[..., Any]:
    """The recipe as a function of its arguments."""
    torch = pytest.importorskip("torch")
    torch.set_num_threads(1)  # two threads mostly wait for each other in so small a model
    spec = importlib.util.spec_from_file_location("evaluate_recipe", ROOT / "recipes" / "evaluate.py")
    assert spec is not None
    assert spec.loader is not None
    sys.modules["evaluate_recipe"] = module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return lambda *arguments: module.main(module.parse(list(arguments)))


def process(*arguments: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "recipes/evaluate.py", *arguments],
        cwd=ROOT, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**os.environ, "OMP_NUM_THREADS": "1"},
    )  # fmt: skip


def rows_of(folder: Path) -> list[dict[str, Any]]:
    lines = (folder / "completions.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


@pytest.mark.slow
def test_recipe_is_killed_and_goes_on(model: str, tmp_path: Path, recipe: Callable[..., Any]) -> None:
    def command(folder: str) -> list[str]:
        return ["--dataset", str(SUMS), "--dataset_split", "train", "--model_name_or_path", model, "--num_samples",
                "16", "--temperature", "1", "--batch_size", "2", "--max_new_tokens", "8",
                "--output_dir", folder]  # fmt: skip

    killed = process(*command(str(tmp_path)))
    assert killed.stdout is not None
    for _ in range(2):
        assert "completions" in killed.stdout.readline()
    killed.kill()
    killed.communicate()
    assert not (tmp_path / "completions.jsonl").exists(), "killed before its end"
    with pytest.raises(DataError, match="--resume goes on"):
        recipe(*command(str(tmp_path)))

    resumed = process(*command(str(tmp_path)), "--resume")
    out, err = resumed.communicate(timeout=120)
    assert resumed.returncode == 0, err
    whole = recipe(*command(str(tmp_path / "whole")))
    assert rows_of(tmp_path) == rows_of(tmp_path / "whole"), "no completion lost, none twice, and the same ones"
    assert whole.completions == 16 * whole.problems == len(rows_of(tmp_path))
    assert list(whole.pass_at) == [1, 2, 4, 8, 16]
    assert whole.table() in out
    written = json.loads((tmp_path / "results.json").read_text())
    assert written == {"settings": written["settings"], **whole.to_dict()}
    again = recipe("--completions", str(tmp_path / "completions.jsonl"), "--output_dir", str(tmp_path / "again"))
    assert again == whole, "a file of completions is evaluated as they were"


@pytest.mark.slow
def test_recipe_keeps_completions_that_are_complete(model: str, tmp_path: Path, recipe: Callable[..., Any]) -> None:
    sampled = ["--num_samples", "2", "--temperature", "1", "--max_new_tokens", "8", "--limit", "3"]
    asked = ["--dataset", str(SUMS), "--dataset_split", "train", "--model_name_or_path", model]
    command = [*asked, *sampled, "--output_dir", str(tmp_path)]
    first = recipe(*command)
    completions, results = tmp_path / "completions.jsonl", tmp_path / "results.json"
    made = completions.read_bytes()
    told = json.loads(results.read_text())
    results.write_text(json.dumps({"settings": told["settings"]}))  # as a kill before the evaluation leaves it
    with pytest.raises(DataError, match=r"made with another dtype; --completions evaluates it"):
        recipe(*command, "--resume", "--dtype", "float16")
    assert recipe(*command, "--resume") == first
    assert json.loads(results.read_text()) == {**told, "settings": {**told["settings"], "resume": True}}
    with pytest.raises(DataError, match=r"completions\.jsonl: finished; --resume evaluates it once more, another"):
        recipe(*command)
    results.unlink()
    with pytest.raises(DataError, match=r"results\.json does not say how it was made; --completions evaluates it as"):
        recipe(*command, "--resume")
    assert completions.read_bytes() == made
    assert sorted(path.name for path in tmp_path.iterdir()) == ["completions.jsonl"]


@pytest.mark.slow
def test_recipe_agrees_with_the_reward_on_its_rows(model: str, tmp_path: Path, recipe: Callable[..., Any]) -> None:
    recipe("--dataset", str(SUMS), "--dataset_split", "train", "--model_name_or_path", model, "--max_new_tokens", "8",
           "--limit", "3", "--output_dir", str(tmp_path))  # fmt: skip
    rows = rows_of(tmp_path)
    assert len(rows) == 3
    assert all(row["prompt"][-1]["role"] == "user" for row in rows), "the tokenizer has a chat template"
    logged: dict[str, list[str]] = {}
    accuracy_reward(
        completions=[row["completion"] for row in rows],
        prompts=[row["prompt"] for row in rows],
        solution=[row["gold"] for row in rows],
        log_extra=logged.__setitem__,
    )
    assert logged["outcome"] == [row["verdict_outcome"] for row in rows]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "--model_name_or_path or --completions is required"),
        (["--model_name_or_path", "m", "--num_samples", "4"], "several samples need a --temperature"),
        (["--model_name_or_path", "m", "--batch_size", "0"], "at least 1"),
        (["--model_name_or_path", "m", "--limit", "0"], "--limit is 0; at least 1"),
        (["--model_name_or_path", "m", "--limit", "-3"], "--limit is -3; at least 1"),
        (["--model_name_or_path", "m", "--batch", "1"], "not used by the HfArgumentParser: ['--batch', '1']"),
    ],
)
def test_recipe_refuses_arguments(
    arguments: list[str], message: str, recipe: Callable[..., Any], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as refused:
        recipe(*arguments)
    assert refused.value.code == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--dataset", "/no/such.jsonl", "--model_name_or_path", "m"], "/no/such.jsonl: no such file"),
        (["--completions", str(SUMS / "train.jsonl")], "no column for the completion"),
        (
            ["--completions", "c.jsonl", "--policy", "{"],
            "^--policy: Expecting .*; expected a JSON object with fields of",
        ),
        (["--completions", "c.jsonl", "--policy", "[1]"], "^--policy: .* must be a mapping, not list; expected a JSON"),
        (
            ["--completions", "c.jsonl", "--policy", '{"rel": 1}'],
            "'rel'; .*fields of Policy: fallback, percent, rel_tol",
        ),
        (
            ["--completions", "c.jsonl", "--policy", '{"rel_tol": 2}'],
            r"^--policy: Policy\.rel_tol is 2; allowed: None,",
        ),
    ],
)
def test_recipe_names_what_is_wrong_with_its_arguments(
    arguments: list[str], message: str, recipe: Callable[..., Any], tmp_path: Path
) -> None:
    with pytest.raises(DataError, match=message):
        recipe(*arguments, "--output_dir", str(tmp_path))


def test_a_row_holds_the_completion_and_its_verdict() -> None:
    row = to_row(Problem("2 + 2?", "4", {"level": 2}), "2 + 2?", "#### 4", grade("#### 4", "4"))
    assert row["verdict_outcome"] == "correct"
    assert group_rows([row], "rows", "gold") == [Sampled("4", ["#### 4"], "2 + 2?", {"level": 2})]
