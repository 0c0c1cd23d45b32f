"""One completion, top to bottom: extract, parse, read as the gold's kind, compare, explain.

Error model: text never raises. A completion without an answer, an answer that is no formula, a gold that cannot be
read and a comparison that cannot be decided are outcomes of a `Verdict`. The broad `except`s stand in `_judged`
and in `golds.read_gold`, for what no rule foresaw; they name the error in the verdict's reason.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import TypeAlias

from rlvr_math_reward import kinds, partial
from rlvr_math_reward.comparing import ALIKE, OTHER_NUMBER, SAME_NUMBER, Ladder
from rlvr_math_reward.exact.algebra import Rational, TooLarge, new_verdict
from rlvr_math_reward.extraction import extract
from rlvr_math_reward.golds import BadGold, Gold, GoldSource, read_gold, sources
from rlvr_math_reward.kinds.answer import Answer, Match
from rlvr_math_reward.kinds.scalar import fraction, is_plain_number
from rlvr_math_reward.parser import ParseError
from rlvr_math_reward.parser import parse as _parse
from rlvr_math_reward.parser.literals import numeral
from rlvr_math_reward.parser.wording import spelled
from rlvr_math_reward.policy import MAX_ANSWER_CHARS, Policy
from rlvr_math_reward.tree import Apply, Quantity, Quotient, Tree, Words, render
from rlvr_math_reward.verdict import Extraction, Outcome, Verdict

__all__ = ["canonicalize", "extract_answer", "grade", "grade_batch", "parse", "verify"]

DEFAULT = Policy()
_READ_AS_TEXT = ("choice", "words")
"""Kinds that read letters: for them `C)` is an answer, though it is no formula."""


def parse(answer: str) -> Tree:
    """The tree of a bare answer; see `parser.parse`.

    Raises:
        ParseError: the text is no answer in any notation that is read here.

    Example:
        >>> parse("1/2")
        Quotient(numerator=Number(value=Fraction(1, 1), decimal=False, grouped=False), denominator=Number(value=Fraction(2, 1), decimal=False, grouped=False))
    """  # noqa: E501
    return _parse(answer)


def canonicalize(answer: str) -> str:
    """A bare answer in calculator notation: one string for the forms that differ only on the surface.

    Idempotent. Text that is no answer comes back as it is, without the white space around it. Values are not
    computed: `2/4` and `1/2` stay apart; comparing them is for `verify`.

    Example:
        >>> canonicalize(r"\\dfrac{14}{3}"), canonicalize("50%"), canonicalize(r"90^\\circ")
        ('(14)/(3)', '(50/100)', '90')
    """
    tree = _read(answer, False)
    if isinstance(tree, ParseError):
        return answer.strip()
    text = _canonical(tree)
    again = _read(text, False)
    # A form that would read back as something else is none: the answer then stays as it was written.
    return text if not isinstance(again, ParseError) and _canonical(again) == text else answer.strip()


def _canonical(tree: Tree) -> str:
    match tree:
        case Apply("degree", (value,)) | Quantity(value, "degree" | "degrees"):
            return render(value)
    return render(tree)


def extract_answer(completion: str, *, policy: Policy = DEFAULT) -> Extraction | None:
    """The final answer that a completion states, by the rules of `extraction`; None where it states none.

    Example:
        >>> extract_answer(r"so \\boxed{42}.")
        Extraction(text='42', span=(10, 12), rule='boxed')
    """
    return extract(completion, policy.fallback) if isinstance(completion, str) else None


def verify(prediction: str, gold: GoldSource, *, policy: Policy = DEFAULT) -> bool:
    """Whether two bare answers are the same answer. Nothing is extracted from the prediction.

    Raises:
        TypeError: a prediction that is no text.

    Example:
        >>> verify("0.5", r"\\frac12"), verify("(2,1)", "(1,2)")
        (True, False)
    """
    if not isinstance(prediction, str):
        raise TypeError(f"prediction is a {type(prediction).__name__}; allowed: a str")
    return any(_decided(_unboxed(prediction), source, policy)[0] is Outcome.CORRECT for source in sources(gold))


def _unboxed(prediction: str) -> str:
    found = extract(prediction, "none") if "\\boxed" in prediction else None
    return found.text if found is not None else prediction.strip()


def grade(completion: str | None, gold: GoldSource, *, prompt: str | None = None, policy: Policy = DEFAULT) -> Verdict:
    """Grades one completion against its gold.

    Args:
        completion: the model's text; None, as from a generation that failed, states no answer.
        gold: a bare answer, a GSM8K or MATH solution, a number, or a list of accepted answers.
        prompt: the problem as the model saw it; with it, an answer that only repeats a computation from the prompt
            is refused. It is never searched for an answer.
        policy: how to read what can be read in two ways.

    Returns:
        The verdict; of several accepted answers, the best one's.

    Raises:
        TypeError: a completion, prompt or policy of another type. No text raises.

    Example:
        >>> verdict = grade("Half of it. #### 0.5", r"\\frac{1}{2}")
        >>> verdict.outcome, verdict.kind, verdict.reason
        (<Outcome.CORRECT: 'correct'>, 'scalar', 'both are the same number')
    """
    if not (isinstance(completion, str) and (prompt is None or isinstance(prompt, str)) and isinstance(policy, Policy)):
        _check_arguments(completion, prompt, policy)
    found = extract(completion, policy.fallback) if completion is not None else None
    if type(gold) is str:
        return _grade_one(found, gold, prompt, policy)
    verdicts = [_grade_one(found, source, prompt, policy) for source in sources(gold)]
    return min(verdicts, key=lambda verdict: _PREFERENCE.index(verdict.outcome))


def _check_arguments(completion: object, prompt: object, policy: object) -> None:
    """Text is data and raises nothing. What is no text is a mistake of the caller, which a wrong verdict would hide."""
    for name, value, allowed in (("completion", completion, "a str, or None for no text"), ("prompt", prompt, "a str")):
        if not (value is None or isinstance(value, str)):
            hint = "; the reward functions read conversations" if isinstance(value, list | dict) else ""
            raise TypeError(f"{name} is a {type(value).__name__}; allowed: {allowed}{hint}")
    if not isinstance(policy, Policy):
        raise TypeError(f"policy is a {type(policy).__name__}; allowed: a Policy")


_PREFERENCE = (
    Outcome.CORRECT, Outcome.PARTIAL, Outcome.UNDECIDED, Outcome.INCORRECT, Outcome.UNPARSABLE, Outcome.NO_ANSWER,
    Outcome.BAD_GOLD,
)  # fmt: skip


SHARE = 16
"""Completions that a thread takes at once: few, so that no thread has all the slow ones, and no lock for each."""


def grade_batch(
    completions: Sequence[str | None],
    golds: Sequence[GoldSource],
    *,
    prompts: Sequence[str | None] | None = None,
    policy: Policy = DEFAULT,
    workers: int = 0,
) -> list[Verdict]:
    """Grades many completions, each distinct pair of prediction and gold that can be decided once.

    Args:
        completions: n texts.
        golds: n golds, as in `grade`.
        prompts: n prompts, or None.
        policy: as in `grade`.
        workers: threads that grade beside each other. They help where many pairs need the SymPy child; exact
            arithmetic itself runs on one core.

    Raises:
        ValueError: the lengths differ, or `workers` is no whole number of at least 0.

    Example:
        >>> [v.correct for v in grade_batch(["#### 4", "#### 5"], ["4", "4"])]
        [True, False]
    """
    asked: Sequence[str | None] = prompts if prompts is not None else [None] * len(completions)
    if isinstance(workers, bool) or not isinstance(workers, int) or workers < 0:
        raise ValueError(f"workers is {workers!r}; allowed: a whole number of at least 0")
    if not len(completions) == len(golds) == len(asked):
        counts = f"{len(completions)} completions, {len(golds)} golds, {len(asked)} prompts"
        raise ValueError(f"{counts}; allowed: as many of each")
    jobs = list(zip(completions, golds, asked, strict=True))

    def graded(share: list[tuple[str | None, GoldSource, str | None]]) -> list[Verdict]:
        return [grade(completion, gold, prompt=prompt, policy=policy) for completion, gold, prompt in share]

    if workers < 2 or len(jobs) < 2:
        return graded(jobs)
    from concurrent.futures import ThreadPoolExecutor

    shares = (jobs[start : start + SHARE] for start in range(0, len(jobs), SHARE))
    with ThreadPoolExecutor(workers) as pool:
        return [verdict for share in pool.map(graded, shares) for verdict in share]


def _grade_one(found: Extraction | None, source: str, prompt: str | None, policy: Policy) -> Verdict:
    if found is None:
        gold = read_gold(source)
        if isinstance(gold, BadGold):
            return Verdict(*_bad_gold(gold))
        reason = "the completion states no final answer"
        return Verdict(*_decision(gold, None, Outcome.NO_ANSWER, "extraction", reason))
    decision = _decided(found.text, source, policy)
    if prompt and decision[0] is Outcome.CORRECT and _is_echo(found.text, source, prompt):
        reason = "the answer repeats a computation of the prompt"
        decision = (Outcome.INCORRECT, 0.0, *decision[2:5], "none", reason, *decision[7:])
    return Verdict(*decision, found)


# -- one pair ----------------------------------------------------------------------------------------------------------
Decision: TypeAlias = tuple[
    Outcome, float, str, str | None, str | None, str, str, str | None, str | None, tuple[int, int] | None,
    tuple[int, int] | None,
]  # fmt: skip
"""The fields of a `Verdict` in their order, up to the extraction: what is remembered about a pair, wherever the
prediction stood. A tuple, since a frozen dataclass takes ten times as long to make."""


def _decision(
    gold: Gold,
    prediction: str | None,
    outcome: Outcome,
    rung: str,
    reason: str,
    *,
    canonical: str | None = None,
    score: float = 0.0,
    parts: tuple[int, int] | None = None,
    span: tuple[int, int] | None = None,
) -> Decision:
    return (outcome, score, gold.answer.text, prediction, gold.kind, rung, reason, gold.canonical, canonical, parts,
            span)  # fmt: skip


def _bad_gold(gold: BadGold) -> Decision:
    return Outcome.BAD_GOLD, 0.0, gold.text, None, None, "gold", gold.reason, None, None, None, None


class _NotRemembered(Exception):
    """Carries a decision past the cache: what was undecided on a busy machine may be decided next time."""

    def __init__(self, decision: Decision) -> None:
        super().__init__()
        self.decision = decision


def judge(prediction: str, source: str, policy: Policy) -> Verdict:
    """The verdict on a bare prediction. Each distinct triple is compared once, unless it stays undecided."""
    return Verdict(*_decided(prediction, source, policy))


def _decided(prediction: str, source: str, policy: Policy) -> Decision:
    if len(prediction) > MAX_ANSWER_CHARS:  # before the caches, which would keep it
        gold = read_gold(source)
        if isinstance(gold, BadGold):
            return _bad_gold(gold)
        reason = f"the answer is longer than {MAX_ANSWER_CHARS} characters"
        return _decision(gold, prediction[:MAX_ANSWER_CHARS], Outcome.UNPARSABLE, "parse", reason)
    try:
        return _remembered(prediction, source, policy)
    except _NotRemembered as passed:
        return passed.decision


@lru_cache(maxsize=32_768)
def _remembered(prediction: str, source: str, policy: Policy) -> Decision:
    gold = read_gold(source)
    if isinstance(gold, BadGold):
        return _bad_gold(gold)
    try:
        decision = _compared(prediction, gold, policy)
    except Exception as error:
        reason = f"grading failed: {type(error).__name__}: {error}"[:300]
        decision = _decision(gold, prediction, Outcome.UNDECIDED, "none", reason)
    if decision[0] is Outcome.UNDECIDED:
        raise _NotRemembered(decision)
    return decision


def cache_hits() -> int:
    """How many verdicts of this process were remembered rather than worked out."""
    return _remembered.cache_info().hits


def _compared(prediction: str, gold: Gold, policy: Policy) -> Decision:
    if prediction == gold.answer.text:
        return _ended(ALIKE, prediction, gold.canonical, gold, policy)
    value = fraction(gold.answer.tree)
    if value is not None and not policy.rel_tol and (found := numeral(prediction)) is not None:
        return _compared_numbers(prediction, *found, value, gold, policy)
    new_verdict()
    tree = _read(prediction, gold.numeric)
    if isinstance(tree, ParseError) and gold.kind in _READ_AS_TEXT:
        tree = Words(spelled(prediction).lower(), spelled(prediction))
    if isinstance(tree, ParseError):
        reason = f"the answer is not readable: {tree.reason}"
        return _decision(gold, prediction, Outcome.UNPARSABLE, "parse", reason, span=tree.span)
    canonical = _canonical(tree)
    if policy.require_evaluated and is_plain_number(gold.answer.tree) and not is_plain_number(tree):
        match = Match(False, "none", "the answer leaves an operation to perform")
    elif canonical == gold.canonical and type(tree) is type(gold.answer.tree):
        match = ALIKE
    else:
        match = _matched(gold, Answer(prediction, tree), policy)
    return _ended(match, prediction, canonical, gold, policy)


def _compared_numbers(
    prediction: str, number: Rational, canonical: str, barred: bool, value: Rational, gold: Gold, policy: Policy
) -> Decision:
    """Two plain numbers or fractions, as in most of GSM8K: no tree and no kind is needed."""
    if canonical == gold.canonical and barred is (type(gold.answer.tree) is Quotient):
        match = ALIKE
    else:
        match = SAME_NUMBER if number == value else OTHER_NUMBER
    return _ended(match, prediction, canonical, gold, policy)


def _matched(gold: Gold, prediction: Answer, policy: Policy) -> Match:
    try:
        return kinds.match(gold.kind, gold.answer, prediction, Ladder(policy))
    except TooLarge as error:
        return Match(None, "none", f"neither equality nor difference was shown: {error}")


def _ended(match: Match, prediction: str, canonical: str, gold: Gold, policy: Policy) -> Decision:
    """What a match comes to; `canonical` is the prediction's form."""
    outcome, rung, reason, score = Outcome.INCORRECT, match.rung, match.reason, 0.0
    if match.equal:
        outcome, score = Outcome.CORRECT, 1.0
    elif policy.substring != "none" and partial.contains_gold(gold.canonical, canonical, policy.substring):
        outcome, score, rung, reason = Outcome.PARTIAL, 0.5, "partial", "the gold stands in the prediction"
    elif match.equal is None:
        outcome, rung = Outcome.UNDECIDED, "none"
    return _decision(gold, prediction, outcome, rung, reason, canonical=canonical, score=score, parts=match.parts)


@lru_cache(maxsize=32_768)
def _read(text: str, unit_letters: bool) -> Tree | ParseError:
    """The tree, or the error as a value, so that a refusal is remembered too."""
    try:
        return _parse(text, unit_letters=unit_letters)
    except ParseError as error:
        return error.with_traceback(None)
    except RecursionError:
        return ParseError("nested too deep", (0, len(text)))


_SPACE = re.compile(r"[\s$]+")


def _is_echo(prediction: str, source: str, prompt: str) -> bool:
    """The prediction stands in the prompt, as text, and still holds an operation to perform for a plain number."""
    gold, tree = read_gold(source), _read(prediction, False)
    if isinstance(gold, BadGold) or isinstance(tree, ParseError) or not is_plain_number(gold.answer.tree):
        return False
    return not is_plain_number(tree) and _SPACE.sub("", prediction) in _SPACE.sub("", prompt)
