"""Exact arithmetic: quotients of sums of monomials with rational coefficients.

A monomial is a product of powers of atoms, and an atom is a tuple whose first entry names its sort:

    ("sym", name)        a variable                      ("pi",)              pi
    ("prime", p)         the positive root of a prime    ("i",)               the imaginary unit
    ("exp", monomial)    e raised to that monomial       ("log", p | frozen)  the natural logarithm
    ("root", frozen, n)  the n-th root of a sum          ("zeta",)            e^(i pi)
    ("sum", frozen)      a sum too large to expand       ("call", name, ...)  any other function

`("prime", p)` carries an exponent in (0, 1), `("i",)` one, `("root", s, n)` one below n; all others any rational.
Sums, products and quotients of these are compared by cross-multiplying, without dividing or factoring.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable
from fractions import Fraction
from math import comb, gcd, lcm
from typing import Any, NamedTuple, TypeAlias

__all__ = [
    "Atom", "Form", "Frozen", "Monomial", "NotExact", "Poly", "Rational", "TooLarge", "Undefined", "add", "atom",
    "charge", "constant", "content", "divide", "form_left", "freeze", "inverse", "magnitude", "multiply",
    "multiply_polys", "negate", "new_form", "new_verdict", "power", "primes_of", "rational", "scale_poly", "spend",
    "subtract",
]  # fmt: skip

Rational: TypeAlias = int | Fraction
"""A coefficient or an exponent. A whole one is an int wherever that is known: it is equal to the Fraction and has its
hash, and takes a tenth of the time. So none is divided by `/`; `inverse` and `Fraction` are there for it."""
Atom: TypeAlias = tuple[Any, ...]
Monomial: TypeAlias = frozenset[tuple[Atom, Rational]]
Poly: TypeAlias = dict[Monomial, Rational]
Frozen: TypeAlias = frozenset[tuple[Monomial, Rational]]

MAX_BITS = 30_000
"""Bits of any coefficient: 9,000 digits, enough for 2005!; one product of two such takes under 0.1 ms."""
MAX_TERMS = 400
"""Terms of a sum: (x+y+z)^20 has 231. Beyond it a power stays unexpanded, and a product is not exact."""
MAX_PAIRS = 20_000
"""Pairs of terms that one product may form, about 20 ms."""
TRIAL_LIMIT = 2_000
"""Trial division up to this bound; what is left of a radicand is then no proven prime, see `primes_of`."""

MAX_WORK = 15_000
"""Work of one exact form, in products of two terms of one atom each: some 100 ms."""
MAX_VERDICT_WORK = 40_000
"""Work of one verdict, for all the parts of an answer together: some 300 ms."""

ONE: Monomial = frozenset()


class _Budget(threading.local):
    """What is left for the form and for the verdict that this thread is working out."""

    form = MAX_WORK
    verdict = MAX_VERDICT_WORK


_budget = _Budget()


def new_verdict() -> None:
    """To be called before each verdict. Work is counted and not timed, so that a verdict is the same on any machine."""
    _budget.verdict = MAX_VERDICT_WORK
    _budget.form = MAX_WORK


def new_form() -> int:
    """To be called before each form; returns its whole budget, of which `form_left` tells what was not used."""
    _budget.form = MAX_WORK
    return MAX_WORK


def form_left() -> int:
    return _budget.form


def spend(work: int) -> None:
    """Count work on a form.

    Raises:
        TooLarge: the form has used up its budget.
    """
    _budget.form -= work
    if _budget.form < 0:
        raise TooLarge("the expression takes too much work")


def charge(work: int) -> None:
    """Count work, done now or remembered, on the verdict.

    Raises:
        TooLarge: the verdict has used up its budget.
    """
    _budget.verdict -= work
    if _budget.verdict < 0:
        raise TooLarge("the comparison takes too much work")


class NotExact(Exception):
    """The value has no exact form here; the next rung decides. The message says what was not read."""


class TooLarge(NotExact):
    """The exact form would exceed a size limit. SymPy is not asked either: it has no such limits."""


class Undefined(NotExact):
    """The expression has no value: a division by zero, the logarithm of zero, infinity minus infinity."""


class Form(NamedTuple):
    """A quotient of two sums."""

    top: Poly
    bottom: Poly


UNIT: Poly = {ONE: 1}


def _plain(value: Rational) -> Rational:
    return value if type(value) is int or value.denominator != 1 else value.numerator


def inverse(value: Rational) -> Rational:
    return _plain(Fraction(value.denominator, value.numerator))


def magnitude(value: Rational) -> Rational:
    """What `abs` gives, whose type for one of these is `object`."""
    return -value if value < 0 else value


def constant(value: Rational) -> Form:
    return Form({ONE: _plain(value)} if value else {}, UNIT) if value != 1 else _ONE


_ONE = Form(UNIT, UNIT)


def atom(entry: Atom, exponent: Rational = 1) -> Form:
    return Form({frozenset(((entry, _plain(exponent)),)): 1}, UNIT)


def rational(form: Form) -> Rational | None:
    """The value of a form that is a plain rational number, else None."""
    if not form.top:
        return 0
    if form.bottom is UNIT and len(form.top) == 1:
        return form.top.get(ONE)
    return None


def freeze(poly: Poly) -> Frozen:
    return frozenset(poly.items())


# -- monomials ---------------------------------------------------------------------------------------------------------
def _join(left: Monomial, right: Monomial) -> tuple[Rational, Monomial, Poly | None]:
    """The product as `coefficient * monomial * sum`; the sum is what a root raised to its index turned into."""
    if not left:
        return 1, right, None
    if not right:
        return 1, left, None
    merged = dict(left)
    coefficient: Rational = 1
    extra = None
    for entry, exponent in right:
        total = merged.pop(entry, 0) + exponent
        sort = entry[0]
        if sort == "prime":
            whole = total.numerator // total.denominator
            coefficient *= entry[1] ** whole if whole >= 0 else Fraction(1, entry[1] ** -whole)
            total -= whole
        elif sort == "i":
            turns = int(total) % 4
            coefficient = -coefficient if turns >= 2 else coefficient
            total = turns % 2
        elif sort == "zeta":
            total %= 2
            if total >= 1:
                coefficient, total = -coefficient, total - 1
        elif sort == "root" and total >= entry[2]:
            radicand = dict(entry[1])
            extra = radicand if extra is None else multiply_polys(extra, radicand)
            total -= entry[2]
        if total:
            merged[entry] = total
    return coefficient, frozenset(merged.items()), extra


def _check(value: Rational) -> None:
    if value.numerator.bit_length() + value.denominator.bit_length() > MAX_BITS:
        raise TooLarge("a number is too long")


def multiply_polys(left: Poly, right: Poly) -> Poly:
    if left is UNIT or right is UNIT:
        return right if left is UNIT else left
    if len(left) == 1 and (factor := left.get(ONE)) is not None:
        spend(len(right))
        scaled = scale_poly(right, factor)
        for value in scaled.values():
            _check(value)
        return scaled
    if left and right:
        spend(len(left) * len(right) * (1 + len(next(iter(left))) + len(next(iter(right)))))
    if len(left) * len(right) > MAX_PAIRS:
        raise TooLarge("a product has too many terms")
    result: Poly = {}
    for monomial, coefficient in left.items():
        for other, factor in right.items():
            sign, joined, extra = _join(monomial, other)
            value = coefficient * factor * sign
            if extra is None:
                _accumulate(result, joined, value)
            else:
                for rest, weight in multiply_polys({joined: value}, extra).items():
                    _accumulate(result, rest, weight)
    if len(result) > MAX_TERMS:
        raise TooLarge("a sum has too many terms")
    return result


def _accumulate(poly: Poly, monomial: Monomial, value: Rational) -> None:
    total = poly.get(monomial, 0) + value
    if total:
        _check(total)
        poly[monomial] = _plain(total)
    else:
        poly.pop(monomial, None)


def _add_to(total: Poly, poly: Poly) -> None:
    spend(len(poly))
    for monomial, value in poly.items():
        _accumulate(total, monomial, value)
    if len(total) > MAX_TERMS:
        raise TooLarge("a sum has too many terms")


def scale_poly(poly: Poly, factor: Rational) -> Poly:
    return poly if factor == 1 else {monomial: _plain(value * factor) for monomial, value in poly.items()}


def content(poly: Poly) -> Rational:
    """The positive rational that leaves coprime integer coefficients when divided out; 1 for the empty sum."""
    top, bottom = 0, 1
    for value in poly.values():
        top, bottom = gcd(top, value.numerator), lcm(bottom, value.denominator)
    return _plain(Fraction(top, bottom)) if top else 1


# -- forms -------------------------------------------------------------------------------------------------------------
def add(forms: Iterable[Form]) -> Form:
    top: Poly = {}
    bottom = UNIT
    for form in forms:
        if form.bottom is bottom or form.bottom == bottom:
            _add_to(top, form.top)
        else:
            top = dict(multiply_polys(top, form.bottom))
            _add_to(top, multiply_polys(form.top, bottom))
            joined = reduced(top, multiply_polys(bottom, form.bottom))
            top, bottom = dict(joined.top), joined.bottom
    return Form(top, bottom)


def negate(form: Form) -> Form:
    return Form(scale_poly(form.top, -1), form.bottom)


def subtract(left: Form, right: Form) -> Form:
    return add((left, negate(right)))


def multiply(left: Form, right: Form) -> Form:
    if left.bottom is UNIT and right.bottom is UNIT:
        return Form(multiply_polys(left.top, right.top), UNIT)
    return reduced(multiply_polys(left.top, right.top), multiply_polys(left.bottom, right.bottom))


def divide(left: Form, right: Form) -> Form:
    if not right.top:
        raise Undefined("a division by zero")
    return reduced(multiply_polys(left.top, right.bottom), multiply_polys(left.bottom, right.top))


def reduced(top: Poly, bottom: Poly) -> Form:
    """The quotient, with a divisor of one term moved up as negative exponents."""
    if not bottom:
        raise Undefined("a division by zero")
    if bottom is UNIT or not top:
        return Form(top, UNIT)
    if len(bottom) == 1:
        ((monomial, value),) = bottom.items()
        if not any(entry[0] == "root" for entry, _ in monomial):
            turned: Monomial = frozenset((entry, -exponent) for entry, exponent in monomial)
            return Form(multiply_polys(top, _settled(turned, inverse(value))), UNIT)
        return Form(top, bottom)
    shared = inverse(content(bottom))
    return Form(scale_poly(top, shared), scale_poly(bottom, shared))


_RANGED = frozenset(("prime", "i", "zeta", "root"))
"""Sorts of atoms whose exponents stay within a range."""


def _settled(monomial: Monomial, value: Rational) -> Poly:
    """A monomial whose exponents may be out of their range, brought into it."""
    ranged = [(entry, exponent) for entry, exponent in monomial if entry[0] in _RANGED]
    if not ranged:
        return {monomial: value}
    poly: Poly = {monomial.difference(ranged): value}
    for entry, exponent in ranged:
        coefficient, joined, extra = _join(frozenset(((entry, 0),)), frozenset(((entry, exponent),)))
        step: Poly = {joined: coefficient}
        poly = multiply_polys(poly, step if extra is None else multiply_polys(step, extra))
    return poly


def power(form: Form, exponent: int) -> Form:
    """A whole power, unexpanded where it would have more than `MAX_TERMS` terms."""
    if exponent < 0:
        if not form.top:
            raise Undefined("a division by zero")
        form, exponent = reduced(form.bottom, form.top), -exponent
    if exponent == 0:
        if not form.top:
            raise Undefined("zero to the power zero")
        return constant(1)
    return reduced(_power_poly(form.top, exponent), _power_poly(form.bottom, exponent))


def _power_poly(poly: Poly, exponent: int) -> Poly:
    if poly is UNIT or not poly:
        return poly
    if len(poly) == 1:
        ((monomial, value),) = poly.items()
        _check_power(value, exponent)
        raised: Monomial = frozenset((entry, own * exponent) for entry, own in monomial)
        return _settled_power(raised, value**exponent)
    if exponent > MAX_TERMS or comb(exponent + len(poly) - 1, len(poly) - 1) > MAX_TERMS:
        shared = content(poly)
        _check_power(shared, exponent)
        base = freeze(scale_poly(poly, inverse(shared)))
        return {frozenset(((("sum", base), exponent),)): shared**exponent}
    result: Poly = UNIT
    for _ in range(exponent):
        result = multiply_polys(result, poly)
    return result


def _settled_power(monomial: Monomial, value: Rational) -> Poly:
    if any(entry[0] == "root" for entry, _ in monomial):
        poly: Poly = {ONE: value}
        for entry, exponent in monomial:
            if entry[0] != "root":
                poly = multiply_polys(poly, _settled(frozenset(((entry, exponent),)), 1))
                continue
            turns, rest = divmod(int(exponent), entry[2])
            poly = multiply_polys(poly, _power_poly(dict(entry[1]), turns) if turns else UNIT)
            if rest:
                poly = multiply_polys(poly, {frozenset(((entry, rest),)): 1})
        return poly
    for entry, exponent in monomial:
        if entry[0] == "prime":
            _check_power(entry[1], int(exponent))
    return _settled(monomial, value)


def _check_power(value: Rational, exponent: int) -> None:
    if abs(value) != 1 and (value.numerator.bit_length() + value.denominator.bit_length()) * exponent > MAX_BITS:
        raise TooLarge("a power is too large")


# -- numbers -----------------------------------------------------------------------------------------------------------
def primes_of(number: int) -> tuple[dict[int, int], int]:
    """`number` > 0 as prime powers, and what trial division up to `TRIAL_LIMIT` left over (1, or no proven prime)."""
    found: dict[int, int] = {}
    candidate = 2
    while candidate <= TRIAL_LIMIT and candidate * candidate <= number:
        while number % candidate == 0:
            found[candidate] = found.get(candidate, 0) + 1
            number //= candidate
        candidate += 1 if candidate == 2 else 2
    if 1 < number <= TRIAL_LIMIT * TRIAL_LIMIT:
        found[number] = found.get(number, 0) + 1
        number = 1
    return found, number
