"""Is a sum of radicals and roots of unity zero? Decided by computing more digits than a non-zero one could hide in.

A non-zero algebraic integer has a norm of at least 1 in absolute value. If all its conjugates are at most `u` and its
degree is at most `d`, it is itself at least `u^(1-d)`; evaluating it more finely than that settles the question
(Burnikel, Fleischer, Mehlhorn and Schirra, "A strong and easily computable separation bound for arithmetic
expressions involving radicals", Algorithmica 27, 2000). Every atom here is an algebraic integer once the rational
coefficients are cleared, which keeps the bound short.
"""

from __future__ import annotations

from math import lcm, log2
from typing import Any

from mpmath import mpf
from mpmath.ctx_mp import MPContext

from rlvr_math_reward.exact.algebra import (
    Atom,
    Frozen,
    NotExact,
    Poly,
    Rational,
    content,
    inverse,
    scale_poly,
    spend,
)

__all__ = ["is_algebraic", "is_zero"]

MAX_SEPARATION_BITS = 20_000
"""Bits computed to show a sum zero: nested roots of degree 64 over six-digit numbers need about 2,000."""
QUICK_BITS = 128
"""Bits that show most sums to be far from zero; the proof of another one takes thousands."""
GUARD_BITS = 64
"""Bits above the bound, for the rounding of the few hundred operations of one evaluation."""
WORK_BITS = 50
"""Bits of one term that cost as much as one pair of terms in a product."""
MAX_ROOT_INDEX = 64
"""Index of a root that is decided here."""


def is_algebraic(entry: Atom) -> bool:
    """Whether an atom is a root of a polynomial with integer coefficients, by its construction."""
    if entry[0] == "root":
        return entry[2] <= MAX_ROOT_INDEX and all(is_algebraic(inner) for mono, _ in entry[1] for inner, _ in mono)
    return entry[0] in ("prime", "i", "zeta")


def is_zero(poly: Poly) -> bool:
    """Whether a sum over algebraic atoms is zero.

    Raises:
        NotExact: the proof would take more than `MAX_SEPARATION_BITS`.
    """
    whole = frozenset(scale_poly(poly, inverse(content(poly))).items())
    degrees: dict[Atom, int] = {}
    _collect_degrees(whole, degrees)
    degree = 1
    for factor in degrees.values():
        degree *= factor
    size = _log_bound(whole)
    spare = int(size) + GUARD_BITS
    # Far from zero is not zero. Not with nested roots: on which side of the cut a radicand lies takes all the digits.
    if not any(entry[0] == "root" for entry in degrees):
        spend(QUICK_BITS * len(whole) // WORK_BITS)
        if abs(_Evaluation(QUICK_BITS, spare).poly(whole)) > _power_of_two(-QUICK_BITS // 2):
            return False
    bits = int((degree - 1) * size) + GUARD_BITS
    if bits > MAX_SEPARATION_BITS:
        raise NotExact("the radicals are too many to be told apart exactly")
    spend(bits * len(whole) // WORK_BITS)
    value = _Evaluation(bits, spare).poly(whole)
    return bool(abs(value) < _power_of_two(-bits + GUARD_BITS // 2))


def _power_of_two(exponent: int) -> Any:
    return mpf((0, 1, exponent, 1))


def _collect_degrees(frozen: Frozen, degrees: dict[Atom, int]) -> None:
    """The degree that each generator adds: a prime's root by its common denominator, a root by its index."""
    for monomial, _ in frozen:
        for entry, exponent in monomial:
            if entry[0] == "root":
                degrees[entry] = entry[2]
                _collect_degrees(entry[1], degrees)
            elif entry[0] == "i":
                degrees[entry] = 2
            else:
                times = 2 if entry[0] == "zeta" and entry not in degrees else 1
                degrees[entry] = lcm(degrees.get(entry, 1), exponent.denominator * times)


def _log_bound(frozen: Frozen) -> float:
    """log2 of a bound for the absolute values of all conjugates of a sum."""
    total = 0.0
    logs = []
    for monomial, value in frozen:
        size = max(0.0, log2(abs(value.numerator)) - log2(value.denominator))
        for entry, exponent in monomial:
            size += float(exponent) * _atom_log_bound(entry)
        logs.append(size)
    for size in logs:
        total = max(total, size)
    return total + log2(max(1, len(logs))) + 1e-6


def _atom_log_bound(entry: Atom) -> float:
    if entry[0] == "prime":
        return log2(entry[1])
    if entry[0] == "root":
        return _log_bound(entry[1]) / int(entry[2])
    return 0.0


class _Evaluation:
    """Values of atoms at one precision, in an mpmath context of its own: mpmath's global precision is not shared."""

    def __init__(self, bits: int, spare: int) -> None:
        self.mp = MPContext()
        self.mp.prec = bits + spare
        self.nothing = _power_of_two(-bits)
        self.known: dict[Atom, Any] = {}

    def poly(self, frozen: Frozen) -> Any:
        total = self.mp.mpf(0)
        for monomial, value in frozen:
            term = self.mp.mpf(value.numerator) / value.denominator
            for entry, exponent in monomial:
                term *= self.raised(entry, exponent)
            total += term
        return total

    def raised(self, entry: Atom, exponent: Rational) -> Any:
        mp = self.mp
        if entry[0] == "prime":
            return mp.root(mp.mpf(entry[1]) ** exponent.numerator, exponent.denominator)
        if entry[0] == "zeta":
            return mp.expjpi(mp.mpf(exponent.numerator) / exponent.denominator)
        if entry not in self.known:
            self.known[entry] = mp.mpc(0, 1) if entry[0] == "i" else self.root(entry)
        return self.known[entry] ** int(exponent)

    def root(self, entry: Atom) -> Any:
        """The real root where there is one, the principal root elsewhere."""
        mp, inner, index = self.mp, self.poly(entry[1]), entry[2]
        inner = mp.re(inner) if abs(mp.im(inner)) < self.nothing else inner  # what rounding left of a real sum
        if mp.im(inner) == 0 and inner < 0:
            return -mp.root(-inner, index) if index % 2 else mp.expjpi(mp.mpf(1) / index) * mp.root(-inner, index)
        return mp.root(inner, index)
