"""Policy: the few readings that two users may want differently, and the size limits that nobody may lift.

A policy is frozen and hashable, so verdicts can be cached by it. The limits are module constants: a verdict is then
the same on every machine, because sizes bound the work before the clock does.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["Policy"]

# -- limits: what, unit, why ---------------------------------------------------------------------------------------
MAX_ANSWER_CHARS = 4_000
"""Characters of one answer. The longest gold of GSM8K, MATH and MATH-500 has 159; tables of 100 integers have 600."""
MAX_TOKENS = 1_500
"""Tokens of one answer: an answer of 4,000 characters that is not digits or words is not a final answer."""
MAX_DEPTH = 60
"""Nesting of brackets, fractions and powers. The parser recurses, and Python's stack holds about 1,000 frames."""
MAX_TREE_DEPTH = 90
"""Levels of a tree: brackets, and the chains of signs and bars between them. Walking one level takes three frames."""
MAX_DIGITS = 4_000
"""Decimal digits of a numeral. Golds have up to 30; Python itself refuses to convert more than 4,300."""
MAX_ITEMS = 200
"""Parts of a list, tuple or set."""
MAX_MATRIX_ENTRIES = 400
"""Entries of a matrix: 20 by 20."""
MAX_SIGNS = 16
"""Values that the plus-minus signs of one answer stand for."""
MAX_CHILD_SECONDS = 10.0
"""Seconds a policy may give the SymPy child for one comparison."""


@dataclass(frozen=True, slots=True)
class Policy:
    """How to read answers where a careful grader could read them in two ways.

    Attributes:
        fallback: what states the answer when there is no tag, box, `####` line or phrase: `last_number` (the last
            line where it is one answer, else the last number in prose), `last_line`, or `none`.
        percent: `either` also accepts `50` for `50\\%` (a missing sign is a missing unit); `value` does not.
        rel_tol: relative tolerance for the `numeric` rung, or None for exact comparison only.
        tolerance: `inexact` applies `rel_tol` only where one side is written as a decimal; `all` everywhere. Two
            integers always compare exactly.
        substring: partial credit for a prediction that contains the gold: `none`, `guarded` (at token boundaries and
            without rival answers) or `raw` (the plain substring test; pays whoever lists many candidates).
        require_evaluated: refuse an unevaluated operation (`2+2`, a sum, a binomial) where the gold is a plain number.
        timeout: seconds the SymPy child may take for one comparison; beyond it the outcome is UNDECIDED.

    Raises:
        ValueError: a value outside what is named above.

    Example:
        >>> Policy(rel_tol=1e-4).tolerance
        'inexact'
    """

    fallback: Literal["last_number", "last_line", "none"] = "last_number"
    percent: Literal["either", "value"] = "either"
    rel_tol: float | None = None
    tolerance: Literal["inexact", "all"] = "inexact"
    substring: Literal["none", "guarded", "raw"] = "none"
    require_evaluated: bool = False
    timeout: float = 1.0

    def __post_init__(self) -> None:
        for name, allowed in _CHOICES.items():
            value = getattr(self, name)
            if value not in allowed:
                raise ValueError(f"Policy.{name} is {value!r}; allowed: {', '.join(map(repr, allowed))}")
        if self.rel_tol is not None and not (_is_number(self.rel_tol) and 0 <= self.rel_tol < 1):
            raise ValueError(f"Policy.rel_tol is {self.rel_tol!r}; allowed: None, or a number in [0, 1)")
        if not isinstance(self.require_evaluated, bool):
            raise ValueError(f"Policy.require_evaluated is {self.require_evaluated!r}; allowed: True, False")
        if not (_is_number(self.timeout) and 0 < self.timeout <= MAX_CHILD_SECONDS):
            raise ValueError(f"Policy.timeout is {self.timeout!r}; allowed: seconds in (0, {MAX_CHILD_SECONDS:g}]")


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


_CHOICES: dict[str, tuple[str, ...]] = {
    "fallback": ("last_number", "last_line", "none"),
    "percent": ("either", "value"),
    "tolerance": ("inexact", "all"),
    "substring": ("none", "guarded", "raw"),
}
