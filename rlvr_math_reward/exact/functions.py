"""The named functions of exact forms, as tables: name and number of arguments to the rule.

Trigonometric and hyperbolic functions become exponentials. What has no exact value becomes an opaque call on its
arguments, equal only to the same call.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from fractions import Fraction
from functools import lru_cache
from math import ceil, comb, factorial, floor, gcd, lcm, lgamma

from rlvr_math_reward.exact import closed_forms
from rlvr_math_reward.exact.algebra import (
    MAX_BITS,
    Form,
    Frozen,
    NotExact,
    Rational,
    TooLarge,
    Undefined,
    add,
    atom,
    constant,
    divide,
    freeze,
    magnitude,
    multiply,
    negate,
    rational,
    subtract,
)
from rlvr_math_reward.exact.equality import compare_forms, vanishes
from rlvr_math_reward.exact.powers import absolute, exponential, logarithm, root

__all__ = ["ANGLES", "FUNCTIONS", "determinant", "integer"]


def integer(form: Form) -> int:
    value = rational(form)
    if value is None or value.denominator != 1:
        raise NotExact("not a whole number")
    return value.numerator


def _turned(angle: Form, direction: int) -> Form:
    return exponential(multiply(angle, multiply(atom(("i",)), constant(direction))))


def _sine(angle: Form) -> Form:
    wave = subtract(_turned(angle, 1), _turned(angle, -1))
    return divide(wave, multiply(atom(("i",)), constant(2)))


def _cosine(angle: Form) -> Form:
    return divide(add((_turned(angle, 1), _turned(angle, -1))), constant(2))


def _hyperbolic(argument: Form, sign: int) -> Form:
    return divide(add((exponential(argument), multiply(constant(sign), exponential(negate(argument))))), constant(2))


def _nonzero(form: Form) -> Form:
    if form.top and vanishes(form.top):
        raise Undefined("a division by zero")
    return form


ANGLES: dict[str, Callable[[Form], Form]] = {
    "sin": _sine,
    "cos": _cosine,
    "tan": lambda x: divide(_sine(x), _nonzero(_cosine(x))),
    "cot": lambda x: divide(_cosine(x), _nonzero(_sine(x))),
    "sec": lambda x: divide(constant(1), _nonzero(_cosine(x))),
    "csc": lambda x: divide(constant(1), _nonzero(_sine(x))),
    "cis": lambda x: _turned(x, 1),
}


def _integers(*forms: Form) -> list[int]:
    return [integer(form) for form in forms]


def _factorial(form: Form) -> Form:
    value = rational(form)
    if value is None:
        return atom(("call", "factorial", freeze(form.top), freeze(form.bottom)))
    number = integer(form)
    if number < 0:
        raise Undefined("the factorial of a negative number")
    if number > MAX_BITS or lgamma(number + 1) / 0.69 > MAX_BITS:
        raise TooLarge("a factorial is too large")
    return constant(factorial(number))


def _binomial(top: Form, bottom: Form) -> Form:
    if rational(top) is None or rational(bottom) is None:
        return divide(_factorial(top), multiply(_factorial(bottom), _factorial(subtract(top, bottom))))
    n, k = _integers(top, bottom)
    if n < 0 or k < 0:
        raise NotExact("a binomial of negative numbers")
    if min(k, n - k) * max(1, n.bit_length()) > MAX_BITS:
        raise TooLarge("a binomial is too large")
    return constant(comb(n, k))


def _whole_numbers(rule: Callable[..., int], name: str) -> Callable[..., Form]:
    """A function of whole numbers; of anything else an opaque call that does not depend on the order."""

    def apply(*forms: Form) -> Form:
        if all(rational(form) is not None for form in forms):
            return constant(rule(*_integers(*forms)))
        return atom(("call", name, frozenset((freeze(form.top), freeze(form.bottom)) for form in forms)))

    return apply


def _extreme(rule: Callable[[list[Rational]], Rational], name: str) -> Callable[..., Form]:
    def apply(*forms: Form) -> Form:
        values = [rational(form) for form in forms]
        known = [value for value in values if value is not None]
        if known and len(known) == len(values):
            return constant(rule(known))
        return atom(("call", name, frozenset((freeze(form.top), freeze(form.bottom)) for form in forms)))

    return apply


def _rounded(rule: Callable[[Rational], int]) -> Callable[[Form], Form]:
    def apply(form: Form) -> Form:
        value = rational(form)
        if value is None:
            raise NotExact("rounding of an irrational number")
        return constant(rule(value))

    return apply


def _remainder(form: Form, modulus: Form) -> Form:
    value, step = integer(form), integer(modulus)
    if step <= 0:
        raise NotExact("a modulus that is not positive")
    return constant(value % step)


def _signum(form: Form) -> Form:
    value = rational(form)
    if value is None:
        raise NotExact("the sign of an irrational number")
    return constant((value > 0) - (value < 0))


def _log_to_base(argument: Form, base: Form) -> Form:
    denominator = logarithm(base)
    if not denominator.top:
        raise Undefined("a logarithm to base one")
    return divide(logarithm(argument), denominator)


def _tangent_hyperbolic(x: Form) -> Form:
    return divide(_hyperbolic(x, -1), _hyperbolic(x, 1))


_RATIONAL_VALUES = (0, Fraction(1, 2), 1, 2)
"""All that a trigonometric function of a rational multiple of pi can be, if it is rational at all (Niven, "Irrational
Numbers", 1956, corollary 3.12)."""


def _inverse(name: str, function: Callable[[Form], Form]) -> Callable[[Form], Form]:
    """An inverse trigonometric function: a multiple of pi where the value is a known one."""

    @lru_cache(maxsize=1)
    def known() -> dict[tuple[Frozen, Frozen], Form]:
        """The rational values at these angles, and others that come out in the form they are compared in."""
        table = {}
        for angle in closed_forms.principal_angles(name):
            candidate = multiply(constant(angle), atom(("pi",)))
            with suppress(Undefined):
                value = function(candidate)
                table[freeze(value.top), freeze(value.bottom)] = candidate
        return table

    def apply(form: Form) -> Form:
        key = freeze(form.top), freeze(form.bottom)
        value = rational(form)
        if (value is None or magnitude(value) in _RATIONAL_VALUES) and key in known():
            return known()[key]
        if value is not None:
            return atom(("call", name, *key))
        for angle in closed_forms.principal_angles(name):
            candidate = multiply(constant(angle), atom(("pi",)))
            try:
                if compare_forms(function(candidate), form):
                    return candidate
            except Undefined:
                continue
        return atom(("call", name, *key))

    return apply


def determinant(rows: list[list[Form]]) -> Form:
    if len(rows) != len(rows[0]) or len(rows) > 4:
        raise NotExact("no determinant of this shape is expanded")
    if len(rows) == 1:
        return rows[0][0]
    total = constant(0)
    for column, entry in enumerate(rows[0]):
        minor = [[value for index, value in enumerate(row) if index != column] for row in rows[1:]]
        term = multiply(entry, determinant(minor))
        total = add((total, negate(term) if column % 2 else term))
    return total


FUNCTIONS: dict[tuple[str, int], Callable[..., Form]] = {
    ("percent", 1): lambda x: divide(x, constant(100)),
    ("sqrt", 1): lambda x: root(x, 2),
    ("root", 2): lambda x, n: root(x, integer(n)),
    ("abs", 1): absolute,
    ("conjugate", 1): lambda x: subtract(closed_forms.parts(x)[0], multiply(atom(("i",)), closed_forms.parts(x)[1])),
    ("re", 1): lambda x: closed_forms.parts(x)[0],
    ("im", 1): lambda x: closed_forms.parts(x)[1],
    ("log", 1): logarithm,
    ("log", 2): _log_to_base,
    ("exp", 1): exponential,
    ("sinh", 1): lambda x: _hyperbolic(x, -1),
    ("cosh", 1): lambda x: _hyperbolic(x, 1),
    ("tanh", 1): _tangent_hyperbolic,
    ("sech", 1): lambda x: divide(constant(1), _hyperbolic(x, 1)),
    ("csch", 1): lambda x: divide(constant(1), _hyperbolic(x, -1)),
    ("coth", 1): lambda x: divide(constant(1), _tangent_hyperbolic(x)),
    **{(f"arc{name}", 1): _inverse(f"arc{name}", ANGLES[name]) for name in ("sin", "cos", "tan", "cot", "sec", "csc")},
    ("factorial", 1): _factorial,
    ("binomial", 2): _binomial,
    ("gcd", 0): _whole_numbers(gcd, "gcd"),
    ("lcm", 0): _whole_numbers(lcm, "lcm"),
    ("max", 0): _extreme(max, "max"),
    ("min", 0): _extreme(min, "min"),
    ("floor", 1): _rounded(floor),
    ("ceil", 1): _rounded(ceil),
    ("sgn", 1): _signum,
    ("remainder", 2): _remainder,
}
