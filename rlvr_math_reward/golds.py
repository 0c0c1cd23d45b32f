"""Reading a gold: a bare answer, `#### 72`, a solution with a box, a number or a list of accepted answers.

A gold that is missing, unreadable or without a value is a `BadGold` with its reason; nothing is ever equal to it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from numbers import Real
from typing import NamedTuple, TypeAlias

from rlvr_math_reward.exact.algebra import TooLarge, new_verdict
from rlvr_math_reward.exact.forms import is_undefined
from rlvr_math_reward.extraction import extract
from rlvr_math_reward.kinds import choice, classify
from rlvr_math_reward.kinds.answer import Answer
from rlvr_math_reward.kinds.scalar import SEVERAL, fraction
from rlvr_math_reward.parser import ParseError, parse
from rlvr_math_reward.parser.literals import plain_value
from rlvr_math_reward.parser.wording import spelled, symbols
from rlvr_math_reward.tree import Constant, Tree, Words, children, render

__all__ = ["BadGold", "Gold", "GoldSource", "is_missing", "read_gold", "sources"]

GoldSource: TypeAlias = "str | int | float | Iterable[str | int | float]"

MAX_GOLD_WORDS = 12
"""Words of a gold in words; MATH's longest has three, and a longer one is a sentence that was cut out wrongly."""
MAX_BROKEN_CHARS = 200
"""Characters of a gold that may be one answer although a line ends in it; MATH's longest has 159."""
_MISSING = frozenset(("", "None", "nan", "NaN", "NAN", "null", "N/A", "n/a", "<NA>"))
"""What a missing value looks like once something has made a string of it."""


class Gold(NamedTuple):
    """A gold that was read. `kind` names its kind; `numeric`: it has no variables, so a lone letter may be a unit."""

    answer: Answer
    kind: str
    canonical: str
    numeric: bool


@dataclass(frozen=True, slots=True)
class BadGold:
    """A gold that cannot be compared with, and why."""

    text: str
    reason: str


def sources(gold: object) -> list[str]:
    """The texts of a gold: one, or every accepted answer of a list. A missing value is an empty text.

    Example:
        >>> sources(72), sources(Fraction(1, 3)), sources(("1/2", 0.5)), sources(None), sources({"a": 1})
        (['72'], ['1/3'], ['1/2', '0.5'], [''], [''])
    """
    if isinstance(gold, str):
        return [gold]
    if isinstance(gold, Real | Decimal):  # int and float, numpy's scalars, Fraction
        try:
            return [f"{gold.numerator}/{gold.denominator}" if isinstance(gold, Fraction) else str(gold)]
        except ValueError:  # an integer longer than Python converts
            return [""]
    if gold is None or isinstance(gold, Mapping | bytes):
        return [""]
    if getattr(gold, "ndim", None) == 0 and hasattr(gold, "item"):  # a numpy or torch value of no dimension
        return sources(gold.item())
    if isinstance(gold, Iterable):
        return [text for part in gold for text in sources(part) if text.strip()] or [""]
    return [""]


def is_missing(gold: object) -> bool:
    """Whether a cell holds no gold at all: nothing, a blank, the NaN of a table with gaps, an empty list.

    Example:
        >>> is_missing(None), is_missing(float("nan")), is_missing([" "]), is_missing("0")
        (True, True, True, False)
    """
    return all(text.strip() in _MISSING for text in sources(gold))


def read_gold(text: str) -> Gold | BadGold:
    """The gold in a text, with its kind. What no rule foresaw makes a bad gold, with the error as its reason."""
    try:
        return _read_gold(text)
    except Exception as error:
        return BadGold(text, f"reading the gold failed: {type(error).__name__}: {error}"[:300])


@lru_cache(maxsize=16_384)
def _read_gold(text: str) -> Gold | BadGold:
    plain = plain_value(text)
    if plain is not None and fraction(plain) is not None:
        return Gold(Answer(text, plain), "scalar", render(plain), True)
    stated = _stated(text)
    if stated.strip() in _MISSING:
        return BadGold(stated, "the gold is empty")
    try:
        tree = parse(stated)
    except ParseError as error:
        marked = Words(spelled(stated).lower(), spelled(stated))  # `C)` is no formula, and a choice
        if not choice.claims(Answer(stated, marked)):
            return BadGold(stated, f"the gold is not readable: {error.reason}")
        tree = marked
    try:
        return _classified(stated, tree)
    except TooLarge as error:
        return BadGold(stated, f"the gold is too large: {error}")


def _classified(stated: str, tree: Tree) -> Gold | BadGold:
    new_verdict()
    if isinstance(tree, Words) and len(tree.text.split()) > MAX_GOLD_WORDS:
        return BadGold(stated, "the gold is a sentence, not an answer")
    if _has_no_value(tree) or tree == Constant("..."):
        return BadGold(stated, "the gold has no value")
    answer = Answer(stated, tree)
    return Gold(answer, classify(answer), render(tree), not symbols(tree))


def _stated(text: str) -> str:
    """The answer that a raw solution states; any other text is the answer itself."""
    if "####" in text or "\\boxed" in text or "\\fbox" in text:
        found = extract(text, fallback="none")
        return found.text if found is not None else ""
    if "\n" in text.strip():  # a solution in several lines states its answer as a completion does
        if len(text) <= MAX_BROKEN_CHARS and _is_broken_inside(text) and _is_formula(flat := " ".join(text.split())):
            return flat
        found = extract(text, fallback="last_number")
        return found.text if found is not None else text.strip()
    return text.strip()


def _is_broken_inside(text: str) -> bool:
    """Whether every line but the last ends inside braces or an environment, and not between two statements."""
    text = text.strip()
    heads = [text[:at] for at, character in enumerate(text) if character == "\n"]
    return all(head.count("{") > head.count("}") or head.count("\\begin") > head.count("\\end") for head in heads)


def _is_formula(text: str) -> bool:
    """Whether it is one answer, and no prose: `90\\text{ square units}` with a line break in it."""
    try:
        return not isinstance(parse(text), Words)
    except ParseError:
        return False


def _has_no_value(tree: Tree) -> bool:
    if isinstance(tree, SEVERAL):
        return any(_has_no_value(child) for child in children(tree))
    return is_undefined(tree) and render(tree) not in ("oo", "-oo")
