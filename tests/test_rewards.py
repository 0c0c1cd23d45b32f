"""The contract of the reward functions: shapes in, one value a completion out, the log, the errors."""

import asyncio
import importlib
import logging
import math
import multiprocessing
import pickle
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rlvr_math_reward.policy import Policy
from rlvr_math_reward.rewards import (
    GOLD_COLUMNS,
    AsyncMathReward,
    FormatReward,
    MathReward,
    Scores,
    accuracy_reward,
    async_accuracy_reward,
    format_reward,
    shaped_reward,
    think_answer_format_reward,
)
from rlvr_math_reward.verdict import Outcome, Verdict

READY = [accuracy_reward, shaped_reward, format_reward, think_answer_format_reward, async_accuracy_reward]
RIGHT, WRONG = r"so it is \boxed{4}.", r"so it is \boxed{5}."


def assistant(content: object, **fields: object) -> dict[str, object]:
    return {"role": "assistant", "content": content, **fields}


def asked(content: object) -> dict[str, object]:
    return {"role": "user", "content": content}


def tool(content: str) -> dict[str, object]:
    return {"role": "tool", "content": content, "tool_call_id": "1"}


SURE = asked("Sure?")

# -- completions ---------------------------------------------------------------------------------------------------
COMPLETIONS: list[tuple[str, object, float]] = [
    ("plain string", RIGHT, 1.0),
    ("one message", [assistant(RIGHT)], 1.0),
    ("a bare message", assistant(RIGHT), 1.0),
    ("several turns, the last counts", [assistant(WRONG), SURE, assistant(RIGHT)], 1.0),
    ("several turns, the last is wrong", [assistant(RIGHT), SURE, assistant(WRONG)], 0.0),
    ("tool result at the end", [assistant(RIGHT), tool(r"\boxed{5}")], 1.0),
    ("the tool has the answer, the model has not", [assistant("let me see"), tool(r"\boxed{4}")], 0.0),
    ("tool call without text, then the answer", [assistant(None, tool_calls=[]), tool("4"), assistant(RIGHT)], 1.0),
    ("answer, then a tool call without text", [assistant(RIGHT), assistant(None, tool_calls=[])], 1.0),
    ("answer, then an empty message", [assistant(RIGHT), assistant("  ")], 1.0),
    ("content parts", [assistant([{"type": "text", "text": "it is "}, {"type": "text", "text": r"\boxed{4}"}])], 1.0),
    ("an image among the parts", [assistant([{"type": "image"}, {"type": "text", "text": RIGHT}])], 1.0),
    ("parts that are strings", [assistant(["so it is ", r"\boxed{4}"])], 1.0),
    ("a thinking part", [assistant([{"type": "thinking", "text": RIGHT}, {"type": "text", "text": "hm"}])], 0.0),
    ("thinking moved to a field", [assistant(RIGHT, reasoning_content=WRONG)], 1.0),
    ("answer only in the reasoning field", [assistant("", reasoning_content=RIGHT)], 0.0),
    ("answer only in the thinking field", [assistant("no idea", thinking=RIGHT)], 0.0),
    ("answer only in think tags", rf"<think>{RIGHT}</think> no idea", 0.0),
    ("think tags, then the answer", rf"<think>{WRONG}</think> {RIGHT}", 1.0),
    ("the user says it", [{"role": "user", "content": RIGHT}], 0.0),
    ("no content", [assistant(None)], 0.0),
    ("content is a number", [assistant(4)], 0.0),
    ("content is bytes", [assistant(b"\\boxed{4}")], 0.0),
    ("text of a part is a number", [assistant([{"type": "text", "text": 4}])], 0.0),
    ("no messages", [], 0.0),
    ("None", None, 0.0),
    ("a number", 4, 0.0),
    ("messages that are no messages", [None, 4, "4"], 0.0),
    ("empty string", "", 0.0),
]  # fmt: skip


@pytest.mark.parametrize(("completion", "expected"), [c[1:] for c in COMPLETIONS], ids=[c[0] for c in COMPLETIONS])
def test_completion_shapes(completion: object, expected: float) -> None:
    assert accuracy_reward(completions=[completion], solution=["4"]) == [expected]
    assert asyncio.run(async_accuracy_reward(completions=[completion], solution=["4"])) == [expected]


@pytest.mark.parametrize(
    ("prompt", "completion", "expected"),
    [
        ("What is 2 + 2?", r"\boxed{2 + 2}", 0.0),
        ([{"role": "system", "content": "Be brief."}, asked("What is 2 + 2?")], r"\boxed{2 + 2}", 0.0),
        ([asked([{"type": "text", "text": "What is 2 + 2?"}])], r"\boxed{2 + 2}", 0.0),
        ("What is 2 + 2?", r"\boxed{4}", 1.0),
        ("The answer is \\boxed{4}. Why?", "no idea", 0.0),
        (None, r"\boxed{4}", 1.0),
        (7, r"\boxed{4}", 1.0),
    ],
)  # fmt: skip
def test_prompt_is_used_against_echoes_only(prompt: object, completion: str, expected: float) -> None:
    assert accuracy_reward(prompts=[prompt], completions=[completion], solution=["4"]) == [expected]


# -- golds ---------------------------------------------------------------------------------------------------------
GOLDS: list[tuple[str, object, float | None]] = [
    ("bare", "4", 1.0),
    ("gsm8k solution", "2 + 2 = <<2+2=4>>4\n#### 4", 1.0),
    ("MATH solution", r"We add, so it is $\boxed{4}$.", 1.0),
    ("int", 4, 1.0),
    ("float", 4.0, 1.0),
    ("fraction", Fraction(4), 1.0),
    ("list of accepted answers", ["four apples", "4"], 1.0),
    ("tuple of numbers", (3, 4), 1.0),
    ("list without it", ["3", "5"], 0.0),
    ("another int", 5, 0.0),
    ("empty", "", None),
    ("blank", "  \n", None),
    ("None", None, None),
    ("NaN", math.nan, None),
    ("empty list", [], None),
    ("list of nothing", [None, ""], None),
    ("a mapping", {"value": "4"}, None),
    ("bytes", b"4", None),
]


@pytest.mark.parametrize(("gold", "expected"), [g[1:] for g in GOLDS], ids=[g[0] for g in GOLDS])
def test_gold_shapes(gold: object, expected: float | None) -> None:
    assert accuracy_reward(completions=[RIGHT], solution=[gold]) == [expected]


def test_numpy_golds() -> None:
    numpy = pytest.importorskip("numpy")
    golds = [numpy.int64(4), numpy.float32(4), numpy.array(["4", "four"], dtype=object), numpy.float64("nan")]
    assert accuracy_reward(completions=[RIGHT] * 4, solution=golds) == [1.0, 1.0, 1.0, None]
    assert accuracy_reward(completions=numpy.array([RIGHT, WRONG]), solution=numpy.array([4, 4])) == [1.0, 0.0]


@pytest.mark.parametrize("column", GOLD_COLUMNS)
def test_each_gold_column_is_found(column: str) -> None:
    assert accuracy_reward(completions=[RIGHT, WRONG], other=["5", "5"], **{column: ["4", "4"]}) == [1.0, 0.0]


def test_gold_columns_in_their_order_and_by_row() -> None:
    nothing = [None, " ", math.nan, "nan", "N/A", [], [None]]
    columns = {"gold": ["5"] * 8, "answer": ["4"] * 8, "solution": ["5", *nothing]}
    assert accuracy_reward(completions=[RIGHT] * 8, **columns) == [0.0, *[1.0] * 7]


@pytest.mark.parametrize("reward", [accuracy_reward, shaped_reward])
def test_missing_gold_column_is_named(reward: MathReward) -> None:
    with pytest.raises(ValueError, match=r"solution, answer, ground_truth, gold; columns found: level, target"):
        reward(completions=[RIGHT], target=["4"], level=[1])


@pytest.mark.parametrize("solution", [["4"], ["4", "4", "4"], "44", 4])
def test_column_of_another_length_is_named(solution: object) -> None:
    with pytest.raises(ValueError, match="column 'solution'"):
        accuracy_reward(completions=[RIGHT, RIGHT], solution=solution)


@pytest.mark.parametrize("reward", [accuracy_reward, format_reward])
def test_one_string_for_completions_is_refused(reward: Callable[..., object]) -> None:
    with pytest.raises(ValueError, match="completions is one string"):
        reward(completions=RIGHT, solution=["4"])


def test_bad_gold_is_warned_about_once_with_its_row(caplog: pytest.LogCaptureFixture) -> None:
    gold = "####"
    with caplog.at_level(logging.WARNING, logger="rlvr_math_reward"):
        for _ in range(3):
            rewards = accuracy_reward(
                completions=[RIGHT] * 3, prompts=["a?", "a?", "which one?"], solution=["4", "4", gold]
            )
    assert rewards == [1.0, 1.0, None]
    assert len(caplog.records) == 1
    message = caplog.records[0].getMessage()
    assert repr(gold) in message
    assert "row 2" in message
    assert "which one?" in message


# -- scores --------------------------------------------------------------------------------------------------------
LADDER: list[tuple[str, str, float, float]] = [
    # completion, gold, accuracy, shaped
    (r"\boxed{1/2}", "1/2", 1.0, 1.0),
    (r"\boxed{\frac{2}{4}}", "1/2", 1.0, 1.0),
    (r"\boxed{0.33333}", "1/3", 0.0, 1.0),
    (r"\boxed{0.3}", "1/3", 0.0, 0.0),
    (r"\boxed{about 4 or so}", "4", 0.0, 0.5),
    (r"\boxed{14}", "4", 0.0, 0.0),
    (r"\boxed{1, 2, 3, 4, 5, 6}", "4", 0.0, 0.0),
    (r"\boxed{-4}", "4", 0.0, 0.0),
    (r"\boxed{}", "4", 0.0, 0.0),
    ("no idea", "4", 0.0, 0.0),
    (r"\boxed{4", "4", 0.0, 0.0),
    (r"\boxed{4}}}}", "4", 1.0, 1.0),
]


@pytest.mark.parametrize(("completion", "gold", "accuracy", "shaped"), LADDER)
def test_ladder(completion: str, gold: str, accuracy: float, shaped: float) -> None:
    assert accuracy_reward(completions=[completion], solution=[gold]) == [accuracy]
    assert shaped_reward(completions=[completion], solution=[gold]) == [shaped]


RUNGS = ["text", "exact", "numeric", "symbolic", "partial", "incorrect", "no_answer", "unparsable", "undecided"]


@pytest.mark.parametrize("rung", RUNGS)
def test_every_rung_is_settable(rung: str) -> None:
    outcome = Outcome.CORRECT if rung in RUNGS[:4] else Outcome(rung)
    decided_by = rung if rung in RUNGS[:5] else "none"
    verdict = Verdict(outcome, 0.0, "4", "4", "scalar", decided_by, "")
    assert Scores(**{rung: -0.25}).of(verdict) == -0.25
    others = {name: 0.75 for name in RUNGS if name != rung}
    assert Scores(**others).of(verdict) == getattr(Scores(), rung)


def test_bad_gold_is_none_whatever_the_scores() -> None:
    verdict = Verdict(Outcome.BAD_GOLD, 0.0, "", None, None, "gold", "")
    assert Scores(incorrect=-1.0, parts=1.0).of(verdict) is None


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        ({"partial": math.nan}, "Scores.partial is nan; allowed: a finite number"),
        ({"exact": math.inf}, "Scores.exact is inf"),
        ({"exact": 10**400}, "Scores.exact is 1000"),
        ({"exact": "1"}, "Scores.exact is '1'"),
        ({"exact": None}, "Scores.exact is None"),
        ({"exact": True}, "Scores.exact is True"),
        ({"parts": -0.5}, "Scores.parts is -0.5; allowed: a number of at least 0"),
        ({"exct": 1.0}, "Scores has no 'exct'; allowed: text, exact, numeric, symbolic, partial, incorrect"),
    ],
)
def test_scores_refuse_what_makes_no_sense(scores: dict[str, float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Scores(**scores)


@pytest.mark.parametrize(
    "arguments",
    [{"policy": {"rel_tol": 1e-4}}, {"scores": {"partial": 0.1}}, {"name": ""}, {"name": 5}, {"policy": None}],
)
def test_reward_refuses_what_makes_no_sense(arguments: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="allowed:"):
        MathReward(**arguments)


@pytest.mark.parametrize("rel_tol", [-1e-4, math.nan, 1.0])
def test_tolerance_that_makes_no_sense(rel_tol: float) -> None:
    with pytest.raises(ValueError, match="rel_tol"):
        Policy(rel_tol=rel_tol)


PARTS: list[tuple[str, str, float]] = [
    ("1, 2, 3", r"\boxed{1, 2, 3}", 1.0),
    ("1, 2, 3", r"\boxed{1, 2, 7}", 0.6),
    ("1, 2, 3", r"\boxed{1, 8, 7}", 0.3),
    ("1, 2, 3", r"\boxed{9, 8, 7}", 0.0),
    ("1, 2, 3", r"\boxed{1, 2, 3, 4}", 0.0),
    ("1, 2, 3", r"\boxed{1, 2, 3, 4, 5, 6, 7, 8, 9}", 0.0),
    ("1, 2, 3", r"\boxed{1, 2, 4, 5, 6, 7, 8, 9}", 0.0),
    ("1, 2, 3", r"\boxed{1, 1, 1}", 0.3),
    ("(1, 2)", r"\boxed{(1, 5)}", 0.45),
    ("(1, 2)", r"\boxed{(2, 1)}", 0.0),
    ("(1, 2)", r"\boxed{(1, 2, 3)}", 0.0),
    ("4", r"\boxed{4, 5}", 0.0),
]


@pytest.mark.parametrize(("gold", "completion", "expected"), PARTS)
def test_share_of_parts_pays_no_hedging(gold: str, completion: str, expected: float) -> None:
    paying = MathReward(scores=Scores(parts=0.9))
    assert paying(completions=[completion], solution=[gold]) == [pytest.approx(expected)]
    assert accuracy_reward(completions=[completion], solution=[gold]) == [float(expected == 1.0)]


# -- names, pickling, contexts -------------------------------------------------------------------------------------


@pytest.mark.parametrize("reward", READY, ids=lambda reward: reward.__name__)
def test_ready_instances_are_dotted_paths(reward: object) -> None:
    module = importlib.import_module("rlvr_math_reward.rewards")
    assert getattr(module, reward.__name__) is reward


def test_names_tell_configurations_apart() -> None:
    rewards = [
        MathReward(),
        MathReward(policy=Policy(rel_tol=1e-3)),
        MathReward(policy=Policy(rel_tol=1e-4)),
        MathReward(scores=Scores(partial=0.25)),
        MathReward(policy=Policy(rel_tol=1e-3), scores=Scores(partial=0.25)),
        MathReward(name="mine"),
        FormatReward(),
        FormatReward(think=True),
        FormatReward(name="shape"),
        *READY[:2],
    ]
    names = [reward.__name__ for reward in rewards]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("reward", [*READY, MathReward(policy=Policy(rel_tol=0.1), scores=Scores(numeric=0.5))])
def test_pickles(reward: MathReward | AsyncMathReward | FormatReward) -> None:
    copy = pickle.loads(pickle.dumps(reward))  # noqa: S301  (our own object)
    assert (type(copy), repr(copy), copy.__name__) == (type(reward), repr(reward), reward.__name__)


def test_works_in_a_spawned_process() -> None:
    reward = MathReward(policy=Policy(rel_tol=0.1), scores=Scores(numeric=0.5), name="mine")
    accuracy_reward(completions=[RIGHT], solution=["4"])  # whatever it starts here must not travel
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        mine = pool.submit(reward, completions=[r"\boxed{3.9}", "hm"], solution=["4", "4"])
        ready = pool.submit(accuracy_reward, completions=[r"\boxed{\sqrt{16}}"], solution=["4"])
        assert mine.result(60) == [0.5, 0.0]
        assert ready.result(60) == [1.0]


def test_works_off_the_main_thread() -> None:
    found: list[list[float | None]] = []
    worker = threading.Thread(target=lambda: found.append(accuracy_reward(completions=[RIGHT], solution=["4"])))
    worker.start()
    worker.join(30)
    assert found == [[1.0]]


def test_async_reward_leaves_the_event_loop_free() -> None:
    completions = [rf"\boxed{{\frac{{{n}}}{{7}}+\sqrt{{{n}}}-\frac{{{n}}}{{7}}}}" for n in range(2, 3000)]
    ticks = 0

    async def tick(grading: asyncio.Task[list[float | None]]) -> None:
        nonlocal ticks
        while not grading.done():
            ticks += 1
            await asyncio.sleep(0.001)

    async def both() -> list[float | None]:
        grading = asyncio.create_task(async_accuracy_reward(completions=completions, solution=["4"] * len(completions)))
        await tick(grading)
        return await grading

    rewards = asyncio.run(both())
    assert sum(rewards) == 1.0
    assert ticks > 3


def test_importing_rewards_loads_no_framework() -> None:
    code = (
        "import sys, rlvr_math_reward.rewards, rlvr_math_reward.integrations as i, pkgutil, importlib\n"
        "modules = [m.name for m in pkgutil.iter_modules(i.__path__, i.__name__ + '.')]\n"
        "assert len(modules) >= 7, modules\n"
        "for name in modules: importlib.import_module(name)\n"
        "heavy = {'torch', 'trl', 'transformers', 'datasets', 'sympy', 'numpy', 'swift', 'verl', 'lm_eval', 'ray'}\n"
        "print(sorted(heavy & set(sys.modules)))\n"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert result.stdout.strip() == "[]"


# -- what goes to the log ------------------------------------------------------------------------------------------
COLUMNS = {"gold", "extracted", "canonical", "outcome", "decided_by"}
METRICS = {*(outcome.value for outcome in Outcome), "cache_hits", "grading_ms"}


def logged(reward: MathReward, completions: list[object], golds: list[object]) -> tuple[dict, dict]:
    columns: dict[str, list[str]] = {}
    metrics: dict[str, float] = {}
    reward(
        completions=completions, solution=golds, log_extra=columns.__setitem__, log_metric=metrics.__setitem__,
        trainer_state=object(), completion_ids=[[1]] * len(completions), environments=None,
    )  # fmt: skip
    return columns, metrics


@pytest.mark.parametrize(
    "completions",
    [[], [RIGHT], [RIGHT, WRONG, "no idea", r"\boxed{}", r"\boxed{\frac{}", None], ["\ud800 \\boxed{\ud800}"]],
)
def test_the_same_columns_and_metrics_at_every_call(completions: list[object]) -> None:
    columns, metrics = logged(shaped_reward, completions, ["4"] * len(completions))
    assert set(columns) == COLUMNS
    assert set(metrics) == {f"shaped_reward/{name}" for name in METRICS}
    for cells in columns.values():
        assert len(cells) == len(completions)
        assert all(isinstance(cell, str) for cell in cells)
        "".join(cells).encode()
    assert all(math.isfinite(value) for value in metrics.values())
    shares = sum(metrics[f"shaped_reward/{outcome.value}"] for outcome in Outcome)
    assert shares == (pytest.approx(1.0) if completions else 0.0)


def test_columns_say_what_was_read() -> None:
    columns, metrics = logged(accuracy_reward, [r"\boxed{\frac{28}{6}}", WRONG, "no idea"], ["#### 14/3", "4", ""])
    assert columns["gold"] == ["14/3", "4", ""]
    assert columns["extracted"] == [r"\frac{28}{6}", "5", ""]
    assert columns["canonical"] == ["(28)/(6)", "5", ""]
    assert columns["outcome"] == ["correct", "incorrect", "bad_gold"]
    assert columns["decided_by"] == ["exact", "exact", "gold"]
    assert metrics["accuracy_reward/correct"] == pytest.approx(1 / 3)
    assert metrics["accuracy_reward/bad_gold"] == pytest.approx(1 / 3)


def test_repeated_completions_hit_the_cache() -> None:
    completion = r"\boxed{271828 + 17}"
    _, first = logged(accuracy_reward, [completion], ["271845"])
    _, again = logged(accuracy_reward, [completion] * 4, ["271845"] * 4)
    assert first["accuracy_reward/cache_hits"] == 0.0
    assert again["accuracy_reward/cache_hits"] == 1.0


class Table:
    """Collects columns as TRL does: two rewards that log one column make it twice as long."""

    def __init__(self) -> None:
        self.columns: dict[str, list[str]] = {}

    def log_extra(self, column: str, values: list[str]) -> None:
        self.columns.setdefault(column, []).extend(values)


def test_two_rewards_in_one_trainer_keep_their_columns_apart() -> None:
    table = Table()
    for reward in (accuracy_reward, shaped_reward, MathReward(name="mine")):
        reward(completions=[RIGHT, WRONG], solution=["4", "4"], log_extra=table.log_extra)
    assert set(table.columns) == COLUMNS | {f"{name}/{c}" for name in ("shaped_reward", "mine") for c in COLUMNS}
    assert {len(values) for values in table.columns.values()} == {2}
    other = Table()
    shaped_reward(completions=[RIGHT], solution=["4"], log_extra=other.log_extra)
    assert set(other.columns) == COLUMNS


# -- totality ------------------------------------------------------------------------------------------------------
HOSTILE: list[object] = [
    "", " ", "\x00", "\ud800", "\\", "\\boxed", "\\boxed{", "{" * 100_000, "\\boxed{" * 5_000, "}" * 100_000,
    r"\boxed{9^{9^{9^{9}}}}", r"\boxed{10^{10^{10}}!}", r"\boxed{\frac{1}{0}}", r"\boxed{" + "9" * 100_000 + "}",
    r"\boxed{" + r"\sqrt{" * 2_000 + "4" + "}" * 2_001, r"\boxed{__import__('os').system('true')}",
    r"\boxed{\binom{10^{9}}{5\cdot10^{8}}}", "<think>" * 10_000, "</think>" * 10_000, "<answer>" * 10_000,
    "<answer>\\boxed{4", "$" * 100_000, "The answer is " * 10_000, "#### " * 10_000, "4" * 1_000_000, "٤", "４",
    [[]], [{}], {"role": "assistant"}, [{"role": "assistant", "content": [{}]}], object(), float("nan"), b"4",
    [assistant([[["\\boxed{4}"]]])], {"content": {"text": "4"}},
]  # fmt: skip


@pytest.mark.parametrize("completion", HOSTILE, ids=lambda value: repr(value)[:30])
@pytest.mark.parametrize("reward", [accuracy_reward, shaped_reward, format_reward, think_answer_format_reward])
def test_hostile_completion_gives_a_float(reward: MathReward | FormatReward, completion: object) -> None:
    rewards = reward(completions=[completion], solution=["271828"])
    assert isinstance(rewards, list)
    assert rewards == [0.0] or reward in (format_reward,)
    assert isinstance(rewards[0], float)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=40),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["role", "content", "type", "text", "thinking"]) | st.text(max_size=5), inner)
    ),
    max_leaves=12,
)
MESSAGES = st.lists(
    st.fixed_dictionaries(
        {"role": st.sampled_from(["assistant", "user", "tool"]), "content": JSON}, optional={"reasoning_content": JSON}
    ),
    max_size=4,
)


@given(st.lists(st.tuples(st.text(max_size=60) | MESSAGES | JSON, JSON, JSON), max_size=5))
@settings(deadline=None, max_examples=150)
def test_any_input_gives_one_value_each(rows: list[tuple[object, object, object]]) -> None:
    completions, golds, prompts = ([row[column] for row in rows] for column in range(3))
    for reward in (accuracy_reward, shaped_reward):
        rewards = reward(completions=completions, solution=golds, prompts=prompts)
        assert len(rewards) == len(rows)
        assert all(value is None or isinstance(value, float) for value in rewards)
    for shape in (format_reward, think_answer_format_reward):
        assert all(isinstance(value, float) for value in shape(completions=completions, prompts=prompts))


# -- the format reward ---------------------------------------------------------------------------------------------
FORMATS: list[tuple[str, float, float]] = [
    # completion, format, with thinking
    (r"\boxed{11}", 1.0, 0.0),
    (r"So it is $\boxed{11}$.", 1.0, 0.0),
    (r"So it is \[ \boxed{\frac{1}{2}} \]", 1.0, 0.0),
    (r"**Answer:** **\boxed{\{1, 2\}}**", 1.0, 0.0),
    (r"\fbox{11}", 1.0, 0.0),
    (r"\boxed {11}", 1.0, 0.0),
    ("<answer>11</answer>", 1.0, 0.0),
    ("<answer>\\boxed{11}</answer>\n", 1.0, 0.0),
    (r"\boxed{11}}}}}", 0.0, 0.0),
    (r"\boxed{\boxed{11}}", 0.0, 0.0),
    (r"\boxed{1} or \boxed{2}", 0.0, 0.0),
    (r"\boxed{11} and that is all there is to say", 0.0, 0.0),
    (r"\boxed{11", 0.0, 0.0),
    (r"\boxed{}", 0.0, 0.0),
    (r"\boxed{ }", 0.0, 0.0),
    (r"\boxed 11", 0.0, 0.0),
    ("The answer is 11.", 0.0, 0.0),
    ("<answer>11", 0.0, 0.0),
    ("11</answer>", 0.0, 0.0),
    ("<answer></answer>", 0.0, 0.0),
    ("<answer>11}</answer>", 0.0, 0.0),
    ("<answer>11</answer> or so", 0.0, 0.0),
    ("<answer>11</answer><answer>12</answer>", 0.0, 0.0),
    (r"\boxed{11} <answer>11</answer>", 0.0, 0.0),
    (r"<answer>\boxed{1}\boxed{2}</answer>", 0.0, 0.0),
    (r"<think>5 + 6</think>\boxed{11}", 1.0, 1.0),
    (r"5 + 6 is \boxed{12}? no</think> <answer>11</answer>", 1.0, 1.0),
    (r"<think> </think>\boxed{11}", 1.0, 0.0),
    (r"<think>5 + 6 \boxed{11}", 0.0, 0.0),
    (r"<think>a</think><think>b</think>\boxed{11}", 0.0, 0.0),
    (r"a <think>5 + 6</think>\boxed{11}", 0.0, 0.0),
    (r"<think>5 + 6 = \boxed{11}</think>", 0.0, 0.0),
    ("", 0.0, 0.0),
]


@pytest.mark.parametrize(("completion", "expected", "with_thinking"), FORMATS)
def test_format(completion: str, expected: float, with_thinking: float) -> None:
    assert format_reward(completions=[completion]) == [expected]
    assert format_reward(completions=[[assistant(completion)]], prompts=["?"], solution=["12"]) == [expected]
    assert think_answer_format_reward(completions=[completion]) == [with_thinking]


def test_format_takes_thinking_from_its_field() -> None:
    message = assistant(r"\boxed{11}", reasoning_content="5 + 6")
    assert think_answer_format_reward(completions=[[message], [assistant(r"\boxed{11}")]]) == [1.0, 0.0]


@pytest.mark.parametrize("arguments", [{"think": "yes"}, {"think": 1}, {"name": ""}])
def test_format_refuses_what_makes_no_sense(arguments: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="allowed:"):
        FormatReward(**arguments)
