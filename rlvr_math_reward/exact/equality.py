"""Whether two exact forms are equal: cross-multiplied, what is left must vanish.

Distinct monomials in independent atoms never cancel. Where radicals or roots of unity are involved, `separation`
decides; where other atoms are, nobody does here.
"""

from __future__ import annotations

from rlvr_math_reward.exact.algebra import ONE, Atom, Form, Monomial, NotExact, Poly, TooLarge, rational, subtract
from rlvr_math_reward.exact.separation import is_algebraic, is_zero

__all__ = ["compare_forms", "vanishes"]

INDEPENDENT = frozenset(("sym", "pi", "prime", "i"))
"""Atoms among which no algebraic relation holds, so that a sum of distinct monomials in them is not zero."""


def compare_forms(first: Form, second: Form) -> bool | None:
    a, b = rational(first), rational(second)
    if a is not None and b is not None:
        return a == b
    try:
        difference = subtract(Form(first.top, first.bottom), second)
        if not difference.top:
            return True
        return vanishes(difference.top)
    except TooLarge:
        raise
    except NotExact:
        return None


def vanishes(poly: Poly) -> bool | None:
    """Whether a non-empty sum is zero: no, where its atoms are independent; else group by group of algebraic atoms."""
    groups: dict[Monomial, Poly] = {}
    independent = proven = True
    for monomial, value in poly.items():
        algebraic: Monomial = frozenset(pair for pair in monomial if is_algebraic(pair[0]))
        rest: Monomial = monomial - algebraic
        independent = independent and all(_is_independent(entry) for entry, _ in rest)
        proven = proven and all(entry[0] in INDEPENDENT for entry, _ in algebraic)
        groups.setdefault(rest, {})[algebraic] = value
    if proven:
        return False if independent or (len(groups) == 1 and ONE in groups) else None
    zero = [is_zero(group) for group in groups.values()]
    if all(zero):
        return True
    return False if independent else None


def _is_independent(entry: Atom) -> bool:
    """Variables, pi, e, logarithms of primes, and e to the power of one variable."""
    if entry[0] == "exp":
        return all(inner[0] == "sym" for inner, _ in entry[1]) and len(entry[1]) <= 1
    if entry[0] == "log":
        return isinstance(entry[1], int)
    return entry[0] in INDEPENDENT
