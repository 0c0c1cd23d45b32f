"""What holds for any answer and any text: totality, self-equality, symmetry, round trips, and agreement with SymPy."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest
import strategies as drawn
import sympy as sp
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from rlvr_math_reward import Outcome, Policy, canonicalize, extract_answer, grade, parse, verify
from rlvr_math_reward import _sympy_child as child
from rlvr_math_reward.exact.algebra import NotExact, new_verdict
from rlvr_math_reward.exact.forms import compare
from rlvr_math_reward.extraction.rules import RULES
from rlvr_math_reward.golds import BadGold, read_gold
from rlvr_math_reward.kinds import KINDS
from rlvr_math_reward.kinds.answer import RUNGS
from rlvr_math_reward.parser import ParseError
from rlvr_math_reward.tree import Sequence, Tree, render, to_json

settings.register_profile("project", deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
settings.load_profile("project")
QUICK = Policy(timeout=0.2)
"""Properties ask about verdicts, not about what SymPy finds in a second."""
POLICIES = st.sampled_from((
    QUICK, Policy(rel_tol=1e-4, timeout=0.2), Policy(substring="guarded", timeout=0.2),
    Policy(substring="raw", timeout=0.2), Policy(fallback="last_line", percent="value", timeout=0.2),
    Policy(require_evaluated=True, fallback="none", timeout=0.2),
    Policy(rel_tol=1e-2, tolerance="all", substring="guarded", timeout=0.2),
))  # fmt: skip


def examples(count: int) -> Callable[[Any], Any]:
    return settings(max_examples=count)


# -- never raises, always one verdict ----------------------------------------------------------------------------------
golds = st.one_of(drawn.answers, drawn.texts, drawn.mutated(drawn.answers), st.integers(), st.floats(), st.none(),
                  st.lists(st.one_of(drawn.answers, st.integers()), max_size=3))  # fmt: skip
predictions = st.one_of(drawn.answers, drawn.texts, drawn.mutated(drawn.answers))


@examples(500)
@given(drawn.completions, golds, st.one_of(st.none(), drawn.texts), POLICIES)
def test_grading_never_raises_and_every_verdict_is_whole(
    completion: str, gold: Any, prompt: str | None, policy: Policy
) -> None:
    check(grade(completion, gold, prompt=prompt, policy=policy), completion)


@examples(500)
@given(predictions, golds, POLICIES)
def test_bare_answers_never_raise(prediction: str, gold: Any, policy: Policy) -> None:
    assert verify(prediction, gold, policy=policy) in (True, False)


def check(verdict: Any, completion: str) -> None:
    """The fields of a verdict say the same thing as each other."""
    assert verdict.correct is bool(verdict) is (verdict.outcome is Outcome.CORRECT)
    assert (verdict.score == 1.0) is verdict.correct
    assert (0 < verdict.score < 1) is (verdict.outcome is Outcome.PARTIAL)
    assert "grading failed" not in verdict.reason, verdict.reason
    assert verdict.reason
    assert (verdict.kind is None) is (verdict.outcome is Outcome.BAD_GOLD)
    assert verdict.kind is None or verdict.kind in KINDS
    if verdict.outcome is Outcome.NO_ANSWER:
        assert verdict.prediction is verdict.extraction is None
        assert verdict.decided_by == "extraction"
    if verdict.outcome is Outcome.UNPARSABLE:
        assert verdict.decided_by == "parse"
        start, end = verdict.error_span
        assert 0 <= start <= end
    if verdict.correct:
        assert verdict.decided_by in RUNGS
    if verdict.extraction is not None:
        start, end = verdict.extraction.span
        assert 0 <= start <= end <= len(completion)
        assert verdict.extraction.rule in {name for name, _ in RULES} | {"last_line", "last_number"}
    assert isinstance(verdict.explain(completion), str)
    assert verdict.to_dict()["outcome"] == verdict.outcome.value


@examples(600)
@given(predictions)
def test_parsing_raises_nothing_but_a_parse_error_with_its_span(text: str) -> None:
    failure: ParseError | None = None
    try:
        parse(text)
    except ParseError as error:
        failure = error
    if failure is not None:
        start, end = failure.span
        assert 0 <= start <= end <= len(text) + 1
        assert failure.reason


@examples(500)
@given(drawn.completions)
def test_extraction_never_raises(completion: str) -> None:
    extract_answer(completion)


# -- self-equality, symmetry -------------------------------------------------------------------------------------------
def readable(text: str) -> bool:
    return not isinstance(read_gold(text), BadGold)


@examples(500)
@given(drawn.answers)
def test_every_gold_equals_itself(gold: str) -> None:
    assume(readable(gold))
    assert verify(gold, gold, policy=QUICK)
    assert grade(rf"So the answer is $\boxed{{{gold}}}$.", gold, policy=QUICK)


@examples(300)
@given(drawn.mutated(drawn.answers))
def test_a_mangled_gold_that_is_read_equals_itself(gold: str) -> None:
    assume("box" not in gold and "#" not in gold and "\n" not in gold)
    assume(readable(gold))
    assert verify(gold, gold, policy=QUICK)


def repeats(gold: Any) -> bool:
    """Whether a list holds a value twice: what repeats in a gold must repeat in a prediction, and not the reverse."""
    items = [render(item) for item in gold.answer.tree.items] if isinstance(gold.answer.tree, Sequence) else []
    return any(verify(a, b, policy=QUICK) for i, a in enumerate(items) for b in items[:i])


SYMMETRIC = {
    "scalars": drawn.scalars, "sets": drawn.sets, "tuples": drawn.tuples, "matrices": drawn.matrices,
    "intervals": drawn.intervals,
}  # fmt: skip


@pytest.mark.parametrize("kind", SYMMETRIC)
def test_equality_is_symmetric(kind: str) -> None:
    """Also where one is a mangled form of the other, which is where equality may be lost in one direction."""

    @examples(150)
    @given(st.data())
    def property_(data: st.DataObject) -> None:
        left = data.draw(SYMMETRIC[kind])
        right = data.draw(st.one_of(SYMMETRIC[kind], drawn.mutated(st.just(left), most=2)))
        assume(readable(left) and readable(right))
        first, second = read_gold(left), read_gold(right)
        assume(first.kind == second.kind)  # type: ignore[union-attr]
        assume(not repeats(first) and not repeats(second))
        assert verify(left, right, policy=QUICK) == verify(right, left, policy=QUICK)

    property_()


# -- round trips -------------------------------------------------------------------------------------------------------
@examples(500)
@given(st.one_of(drawn.answers, drawn.mutated(drawn.answers, most=2)))
def test_canonical_form_reads_back_as_itself(answer: str) -> None:
    once = canonicalize(answer)
    assert canonicalize(once) == once


@examples(500)
@given(drawn.answers)
def test_rendering_reads_back_as_the_same_answer(answer: str) -> None:
    try:
        tree = parse(answer)
    except ParseError:
        assume(False)
    written = render(tree)
    again = render(parse(written))
    # A product of bare numbers folds once more (`-(-1)` is 1), and is then the same value in fewer signs.
    assert again == written or (render(parse(again)) == again and verify(again, written, policy=QUICK))
    if readable(answer):
        assert verify(written, answer, policy=QUICK), written


# -- exact arithmetic beside SymPy -------------------------------------------------------------------------------------
DIGITS = 40
POINTS = (
    (sp.Rational(7321, 10_000), sp.Rational(-13919, 10_000)),
    (sp.Rational(-22391, 10_000), sp.Rational(5417, 10_000)),
)


def sympy_says(left: Tree, right: Tree) -> bool | None:
    """Whether the two agree to 25 digits at every point; None where SymPy has no value for one of them."""
    builder = child._Builder(frozenset())
    try:
        difference = builder.build(to_json(left)) - builder.build(to_json(right))
    except (child.UnsupportedError, child.UndefinedError):
        return None
    names = sorted(difference.free_symbols, key=str)
    agreed = []
    for point in POINTS if names else POINTS[:1]:
        value = sp.N(difference, DIGITS, subs=dict(zip(names, point, strict=False)), maxn=400)
        if not value.is_number or value.has(sp.nan, sp.zoo, sp.oo):
            return None
        agreed.append(bool(abs(value) < sp.Float("1e-25")))
    return all(agreed)


@pytest.mark.parametrize("trees", [drawn.closed_trees, drawn.open_trees], ids=["constants", "expressions"])
def test_exact_agrees_with_sympy(trees: st.SearchStrategy[Tree]) -> None:
    """On random trees, and on pairs of which one is the other rewritten; where exact is silent, nothing is held."""
    decided = {True: 0, False: 0}

    @examples(300)
    @given(st.data())
    def property_(data: st.DataObject) -> None:
        left = data.draw(trees)
        right = data.draw(st.one_of(trees, drawn.rewritten(left)))
        new_verdict()
        try:
            found = compare(left, right)
        except NotExact:
            return
        expected = sympy_says(left, right)
        if found is not None and expected is not None:
            assert found == expected, f"{render(left)}  and  {render(right)}"
            decided[found] += 1

    property_()
    assert min(decided.values()) > 50, f"too few pairs were decided to hold anything: {decided}"


@examples(300)
@given(st.one_of(drawn.closed_trees, drawn.open_trees), st.data())
def test_a_rewritten_tree_is_not_called_different(tree: Tree, data: st.DataObject) -> None:
    """Rules of algebra preserve value, so exact arithmetic may fail to see it but never deny it."""
    other = data.draw(drawn.rewritten(tree))
    new_verdict()
    try:
        found = compare(tree, other)
    except NotExact:
        return
    assert found is not False, f"{render(tree)}  and  {render(other)}"


@examples(300)
@given(st.integers(-(10**40), 10**40), st.integers(-(10**40), 10**40))
def test_integers_compare_exactly(left: int, right: int) -> None:
    for policy in (QUICK, Policy(rel_tol=1e-2, tolerance="all")):
        assert verify(str(right), str(left), policy=policy) == (left == right)
        assert not verify(str(left + 1), str(left), policy=policy)


@examples(300)
@given(st.floats(allow_nan=False, allow_infinity=False), st.floats(1e-9, 0.5))
def test_tolerance_is_relative_and_bounded(gold: float, tolerance: float) -> None:
    assume(1e-300 < abs(gold) < 1e300 and not gold.is_integer())
    policy = Policy(rel_tol=tolerance)
    assert verify(repr(gold * (1 + tolerance / 2)), repr(gold), policy=policy)
    far = gold * (1 + 3 * tolerance)
    assert not verify(repr(far), repr(gold), policy=policy) or math.isclose(far, gold, rel_tol=1e-12)
