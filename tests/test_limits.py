"""Limits: what is just within one is decided, what is beyond is refused and never paid; work grows with the text.

Growth is counted in calls of Python functions, which are the same on every machine; the clock only bounds what no
count sees, and generously.
"""

from __future__ import annotations

import ast
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import pytest
from hostile import BOMBS, matrix

import rlvr_math_reward
from rlvr_math_reward import Outcome, Policy, canonicalize, extract_answer, grade, grading, parse, policy
from rlvr_math_reward.parser import ParseError

PACKAGE = Path(rlvr_math_reward.__file__).parent
CORRECT, UNPARSABLE, UNDECIDED = Outcome.CORRECT, Outcome.UNPARSABLE, Outcome.UNDECIDED


# -- every limit is named, with its unit and its reason ----------------------------------------------------------------
def limits() -> list[tuple[str, str, str | None]]:
    """`(module, name, its docstring)` of every constant called MAX_... in the package."""
    found = []
    for path in sorted(PACKAGE.rglob("*.py")):
        body = ast.parse(path.read_text(encoding="utf-8")).body
        for node, after in zip(body, [*body[1:], ast.Pass()], strict=True):
            targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
            names = [target.id for target in targets if isinstance(target, ast.Name)]
            text = after.value.value if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant) else None
            found += [(path.stem, name, text) for name in names if name.lstrip("_").startswith("MAX_")]
    return found


def test_every_limit_says_its_unit_and_its_reason() -> None:
    found = limits()
    assert len(found) > 25, "the limits were not found"
    silent = [f"{module}.{name}" for module, name, text in found if not isinstance(text, str) or len(text.split()) < 4]
    assert not silent, f"limits without a docstring: {silent}"


# -- just within, just beyond ------------------------------------------------------------------------------------------
class Limit(NamedTuple):
    name: str
    within: tuple[str, str]
    beyond: tuple[str, str]
    outcome: Outcome
    reason: str
    """Words of the reason that the verdict beyond the limit gives."""


def signs(count: int) -> str:
    return "1" + "".join(rf" \pm {10**power}" for power in range(count))


def product(roots: int) -> str:
    return "".join(f"(x-{root})" for root in range(1, roots + 1)) + "=0"


def listed(count: int) -> str:
    return ", ".join(map(str, range(count)))


LIMITS = (
    # name, (prediction, gold) within, (prediction, gold) beyond, the outcome beyond
    Limit("MAX_ANSWER_CHARS", ("1+" + " " * 3_990 + "0", "1"), ("1+" + " " * 4_000 + "0", "1"),
          UNPARSABLE, "characters"),
    Limit("MAX_TOKENS", ("+".join(["1"] * 750), "750"), ("+".join(["1"] * 751), "751"), UNPARSABLE, "tokens"),
    Limit("MAX_DEPTH", ("(" * 59 + "1" + ")" * 59, "1.0"), ("(" * 61 + "1" + ")" * 61, "1.0"), UNPARSABLE, "nested"),
    Limit("MAX_DEPTH of fractions", (r"\frac{" * 28 + "1" + "}{1}" * 28, "1"),
          (r"\frac{" * 61 + "1" + "}{1}" * 61, "1"), UNPARSABLE, "nested"),
    Limit("MAX_DIGITS written", ("7" * 3_900, "7" * 3_900), ("0." + "7" * 3_980 + "e30", "1"), UNPARSABLE, "digits"),
    Limit("MAX_DIGITS of an exponent", ("1e3900", r"10^{3900}"), ("1e4001", r"10^{4001}"), UNPARSABLE, "digits"),
    Limit("MAX_DIGITS of an exponent's digits", ("1e2", "100"), ("1e" + "9" * 50, "1"), UNPARSABLE, "digits"),
    Limit("MAX_ITEMS", (listed(200), listed(200)), (listed(201), listed(200)), UNPARSABLE, "items"),
    Limit("summands", (r"\sum_{k=1}^{1000} k", "500500"), (r"\sum_{k=1}^{1001} k", "501501"), UNDECIDED, "terms"),
    Limit("a factorial", (r"\frac{2500!}{2499!}", "2500"), (r"\frac{3500!}{3499!}", "3500"), UNDECIDED, "factorial"),
    Limit("a power", ("3^{9000} - 3^{9000} + 1", "1"), ("3^{30001} - 3^{30001} + 1", "1"), UNDECIDED, "exponent"),
    Limit("the index of a root", (r"\sqrt[9999]{2^{9999}}", "2"), (r"\sqrt[10001]{2^{10001}}", "2"),
          UNDECIDED, "large"),
    Limit("solutions checked", ("1,2,3", product(3)), (", ".join(map(str, range(1, 14))), product(13)),
          Outcome.INCORRECT, "degree"),
    Limit("words of a gold", ("word " * 12, "word " * 12), ("word " * 13, "word " * 13), Outcome.BAD_GOLD, "sentence"),
    Limit("a determinant", (r"\begin{vmatrix} 1 & 2 \\ 3 & 4 \end{vmatrix}", "-2"),
          (matrix(9, 9, "x").replace("pmatrix", "vmatrix"), "1"), UNDECIDED, "neither"),
)  # fmt: skip


@pytest.mark.parametrize("limit", LIMITS, ids=lambda limit: limit.name)
def test_limit(limit: Limit) -> None:
    inside = boxed(*limit.within)
    assert inside.outcome is CORRECT, inside.reason
    outside = boxed(*limit.beyond)
    assert outside.outcome is limit.outcome, outside.reason
    assert outside.score == 0.0
    assert limit.reason in outside.reason


def boxed(prediction: str, gold: str, timeout: float = 1.0) -> rlvr_math_reward.Verdict:
    return grade(rf"\boxed{{{prediction}}}", gold, policy=Policy(timeout=timeout))


def test_entries_of_a_matrix() -> None:
    """A matrix over the limit is no matrix, and so not the matrix that it shows."""
    assert boxed(matrix(20, 20), matrix(20, 20, "1.0")).correct
    assert not boxed(matrix(21, 20), matrix(21, 20, "1.0")).correct


def test_signs() -> None:
    """Four signs are sixteen values; more are no answer, on either side, and no error."""
    assert boxed(signs(4), signs(4)).correct
    for gold in ("1", "x", "1, 2", r"2 \pm 3", signs(6)):
        verdict = boxed(signs(5), gold)
        assert not verdict.correct
        assert "grading failed" not in verdict.reason


def test_seconds_of_a_child() -> None:
    assert Policy(timeout=policy.MAX_CHILD_SECONDS)
    for seconds in (0.0, -1.0, policy.MAX_CHILD_SECONDS + 0.1, float("inf"), float("nan")):
        with pytest.raises(ValueError, match="timeout"):
            Policy(timeout=seconds)


@pytest.mark.parametrize("tolerance", [-0.1, 1.0, 2.0, float("nan"), float("inf")])
def test_tolerances_that_are_none(tolerance: float) -> None:
    with pytest.raises(ValueError, match="rel_tol"):
        Policy(rel_tol=tolerance)


# -- growth ------------------------------------------------------------------------------------------------------------
def calls(function: Callable[[], object]) -> int:
    """How many Python functions a call enters, itself included."""
    count = 0

    def seen(_frame: object, event: str, _arg: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(seen)
    try:
        function()
    finally:
        sys.setprofile(before)
    return count


ANSWERS: dict[str, Callable[[int], str]] = {
    "a sum": lambda n: "+".join(f"x_{k}" for k in range(n)),
    "a list": lambda n: ", ".join(map(str, range(2 * n))),
    "fractions": lambda n: "+".join([r"\frac{1}{2}"] * (n // 3)),
    "signs": lambda n: "-" * (4 * n) + "4",
    "implied factors": lambda n: "x " * (3 * n),
    "words": lambda n: "a word " * n,
    "a broken sum": lambda n: "+".join(["x"] * n) + "+",
    "a broken bracket": lambda n: "(" + "x+" * n,
    "stray closing braces": lambda n: "4" + "}" * (3 * n),
    "percent signs": lambda n: "4" + "%" * n,
    "factorials": lambda n: "4" + "!" * n,
    "primes": lambda n: "f" + "'" * n + "(x)",
    "text": lambda n: r"\text{ab}" * n,
    "a chain": lambda n: "=".join(["x"] * n),
    "a union": lambda n: r" \cup ".join(f"({k},{k + 1})" for k in range(n // 6)),
}


@pytest.mark.parametrize("name", ANSWERS)
def test_parsing_grows_with_the_text(name: str) -> None:
    """Four times the text takes at most some five times the calls; what grows with the square takes sixteen."""

    def work(size: int) -> int:
        text = ANSWERS[name](size)
        assert len(text) < policy.MAX_ANSWER_CHARS

        def read() -> None:
            with suppress(ParseError):
                parse(text)

        read()
        return calls(read)

    small, large = work(45), work(180)
    assert large <= 6 * small + 400, f"{small} calls, then {large}"


COMPLETIONS: dict[str, Callable[[int], str]] = {
    "prose": lambda n: "so we go on and on. " * (n // 20) + r"\boxed{4}",
    "prose without an answer": lambda n: "so we go on and on. " * (n // 20),
    "open boxes": lambda n: r"\boxed{" * (n // 7),
    "boxes": lambda n: r"\boxed{3} " * (n // 10),
    "braces": lambda n: r"\boxed{" + "{" * (n // 2) + "}" * (n // 2) + "}",
    "dollars": lambda n: "$" * n,
    "numbers": lambda n: "1 " * (n // 2),
    "digits": lambda n: "7" * n,
    "phrases": lambda n: "the answer is " * (n // 14),
    "think": lambda n: "<think>" * (n // 7),
    "closed thinking": lambda n: "</think>" * (n // 8) + "4",
    "tags": lambda n: "<answer>" * (n // 8),
    "hashes": lambda n: "#" * n,
    "lines of hashes": lambda n: "####\n" * (n // 5),
    "line breaks": lambda n: "\n" * n,
    "backslashes": lambda n: "\\" * n,
    "stars": lambda n: "*" * n,
    "commas": lambda n: "1," * (n // 2),
    "unicode": lambda n: "½√π" * (n // 3),
}


@pytest.mark.parametrize("name", COMPLETIONS)
def test_a_megabyte_returns_soon(name: str) -> None:
    """A step that is quadratic in the text would take minutes on a megabyte."""
    text = COMPLETIONS[name](1 << 20)
    started = time.perf_counter()
    grade(text, "4", policy=Policy(timeout=0.5))
    canonicalize(text)
    extract_answer(text, policy=Policy(fallback="last_line"))
    assert time.perf_counter() - started < 5.0


@pytest.mark.parametrize("name", COMPLETIONS)
def test_grading_grows_with_the_completion(name: str) -> None:
    def work(size: int) -> int:
        text = COMPLETIONS[name](size)
        grading._remembered.cache_clear()
        grading._read.cache_clear()
        return calls(lambda: extract_answer(text))

    small, large = work(1 << 12), work(1 << 15)
    assert large <= 10 * small + 500, f"{small} calls, then {large}"


PATTERN_SECONDS = 100.0
"""For all patterns and texts, which take two; one that backtracks takes years."""


def test_no_pattern_tries_every_way_to_read_a_text() -> None:
    script = Path(__file__).parent / "contexts" / "pumped_patterns.py"
    try:
        done = subprocess.run(
            [sys.executable, script], capture_output=True, text=True, timeout=PATTERN_SECONDS, check=True
        )
    except subprocess.TimeoutExpired as late:
        pytest.fail(f"{(late.stdout or b'').decode().split()[-1]} did not end")
    assert int(done.stdout.split()[-1]) > 80


BETWEEN = (
    " " * 60 + "so ",
    "\n" * 60 + "So ",
    " (a)" * 14 + "?",
    " a)" * 20 + "?",
    "(a)" * 25 + "?",
    " x =  " * 12 + "?",
)


@pytest.mark.parametrize("between", BETWEEN)
def test_what_stands_between_boxes_is_read_once(between: str) -> None:
    found = extract_answer(f"\\boxed{{1}}{between}\\boxed{{2}}")
    assert found is not None
    assert found.text == "2"


# -- bombs -------------------------------------------------------------------------------------------------------------
BOUND_SECONDS = 3.0
"""Generous: no bomb takes a tenth of it on an idle machine, but one that reaches the end of the child's deadline."""


@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_returns_soon_and_earns_nothing(name: str) -> None:
    for gold in ("4", "x+1", "(1, 2)", "1, 2, 3", r"[0, 1)", r"x^2 = 9", "5 cm"):
        started = time.perf_counter()
        verdict = boxed(BOMBS[name], gold, timeout=0.3)
        assert time.perf_counter() - started < BOUND_SECONDS, gold
        assert not verdict.correct, gold
        assert "grading failed" not in verdict.reason, verdict.reason


@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_for_a_gold_returns_soon(name: str) -> None:
    for prediction in ("4", "x+1", "1, 2, 3", BOMBS[name] + "+1"):
        started = time.perf_counter()
        verdict = boxed(prediction, BOMBS[name], timeout=0.3)
        assert time.perf_counter() - started < BOUND_SECONDS, prediction
        assert not verdict.correct, prediction
        assert "grading failed" not in verdict.reason, verdict.reason
