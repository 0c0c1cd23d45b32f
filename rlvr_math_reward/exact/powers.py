"""Powers, roots, exponentials and logarithms of exact forms.

Every power with an exponent that is no number is an exponential, `b^x = e^(x ln b)`, so that `2^(2n)` and `4^n` come
out alike. Logarithms of rationals are sums over primes. Variables count as real.
"""

from __future__ import annotations

from fractions import Fraction
from math import floor

from rlvr_math_reward.exact import closed_forms
from rlvr_math_reward.exact.algebra import (
    MAX_BITS,
    ONE,
    UNIT,
    Atom,
    Form,
    Monomial,
    NotExact,
    Poly,
    Rational,
    TooLarge,
    Undefined,
    add,
    atom,
    constant,
    divide,
    freeze,
    inverse,
    magnitude,
    multiply,
    multiply_polys,
    power,
    rational,
    scale_poly,
    subtract,
)

__all__ = ["absolute", "exponential", "logarithm", "raised", "root"]


def raised(base: Form, exponent: Form) -> Form:
    """`base ** exponent`: whole powers multiply out, fractions take roots, all else becomes an exponential."""
    value = rational(exponent)
    if value is not None:
        if value.denominator == 1:
            if abs(value.numerator) > MAX_BITS and not (
                rational(base) in (0, 1, -1) or (len(base.top) == 1 and _unit(base))
            ):
                raise TooLarge("an exponent is too large")
            return power(base, value.numerator)
        return power(root(base, value.denominator), value.numerator)
    if base == atom(("exp", ONE)):
        return exponential(exponent)
    known = rational(base)
    if known == 0:
        raise Undefined("zero to an unknown power")
    return exponential(multiply(exponent, logarithm(base)))


def _unit(base: Form) -> bool:
    return base.bottom is UNIT and all(abs(value) == 1 for value in base.top.values())


def root(form: Form, index: int) -> Form:
    """The `index`-th root: real of a negative number where the index is odd, principal otherwise."""
    if not 1 <= index <= 10_000:
        raise TooLarge("the index of a root is too large")
    if index == 1 or not form.top:
        return form
    if form.bottom is not UNIT:
        return _root_of_quotient(form, index)
    if len(form.top) == 1:
        return _root_of_term(*next(iter(form.top.items())), index)
    shared = closed_forms.content_with_sign(form.top, index)
    inner = scale_poly(form.top, inverse(shared))
    outside, left = closed_forms.extracted(magnitude(shared), index)
    term: Poly = {frozenset(((("root", freeze(scale_poly(inner, left)), index), 1),)): outside}
    return Form(scale_poly(term, -1) if shared < 0 else term, UNIT)


def _root_of_quotient(form: Form, index: int) -> Form:
    """With b real, a/b is a b^(n-1) / b^n; the root of b^n is |b| where n is even, and b where both are real."""
    if closed_forms.is_turned(form.bottom):
        real, imaginary = closed_forms.parts(form)
        form = add((real, multiply(atom(("i",)), imaginary)))
        if closed_forms.is_turned(form.bottom):
            raise NotExact("the root of a quotient by a complex number")
        return root(form, index)
    bottom = Form(form.bottom, UNIT)
    lifted = multiply(Form(form.top, UNIT), power(bottom, index - 1))
    if index % 2 == 0:
        return divide(root(lifted, index), absolute(bottom))
    if closed_forms.is_turned(form.top):
        raise NotExact("an odd root of a complex quotient")
    return divide(root(lifted, index), bottom)


def _root_of_term(monomial: Monomial, value: Rational, index: int) -> Form:
    turned = value < 0 and closed_forms.is_turned((monomial,))
    total = _root_of_number(-value if turned else value, index)
    inside: Poly = {ONE: -1 if turned else 1}
    for entry, exponent in monomial:
        share = Fraction(exponent) / index
        odd_root = index % 2 == 1 and entry[0] in ("sym", "exp")
        positive = entry[0] in ("prime", "pi") or entry == ("exp", ONE) or odd_root
        if positive or (entry[0] == "sym" and not (exponent % 2 == 0 and share % 2 != 0)):
            total = multiply(total, _settled_atom(entry, share))
        elif entry[0] == "exp" and not any(inner[0] == "i" for inner, _ in entry[1]):
            total = multiply(total, atom(entry, share))
        else:
            inside = multiply_polys(inside, {frozenset(((entry, exponent),)): 1})
    if inside == UNIT:
        return total
    return multiply(total, atom(("root", freeze(inside), index)))


def _settled_atom(entry: Atom, exponent: Fraction) -> Form:
    return _prime_power(entry[1], exponent) if entry[0] == "prime" else atom(entry, exponent)


def _prime_power(prime: int, exponent: Fraction) -> Form:
    if 0 < exponent.numerator < exponent.denominator:
        return atom(("prime", prime), exponent)
    whole = floor(exponent)
    base = constant(Fraction(prime) ** whole)
    return base if exponent == whole else multiply(base, atom(("prime", prime), exponent - whole))


def _root_of_number(value: Rational, index: int) -> Form:
    sign = constant(1)
    if value < 0:
        sign = constant(-1) if index % 2 else closed_forms.root_of_unity(Fraction(1, index))
    number = abs(value.numerator) * value.denominator ** (index - 1)
    if number.bit_length() > MAX_BITS:
        raise TooLarge("a radicand is too large")
    total = constant(inverse(value.denominator))
    for prime, exponent in closed_forms.radicand_powers(number, index):
        total = multiply(total, _prime_power(prime, exponent) if prime > 0 else closed_forms.unfactored(-prime, index))
    return multiply(sign, total)


def absolute(form: Form) -> Form:
    """|z|: the root of the square, or of re^2 + im^2 where i occurs."""
    value = rational(form)
    if value is not None:
        return constant(magnitude(value))
    real, imaginary = closed_forms.parts(form)
    squares = multiply(real, real)
    if imaginary.top:
        squares = add((squares, multiply(imaginary, imaginary)))
    return root(squares, 2)


def exponential(exponent: Form) -> Form:
    """e to a power: one factor for each term, with roots of unity, powers of e and of logarithms in their own atoms."""
    if exponent.bottom is not UNIT:
        return atom(("call", "exp", freeze(exponent.top), freeze(exponent.bottom)))
    total = constant(1)
    for monomial, value in exponent.top.items():
        total = multiply(total, _exponential_of_term(monomial, value))
    return total


def _exponential_of_term(monomial: Monomial, value: Rational) -> Form:
    if monomial == frozenset(((("i",), 1), (("pi",), 1))):
        return closed_forms.root_of_unity(Fraction(value))
    if len(monomial) == 1:
        ((entry, exponent),) = monomial
        if entry[0] == "log" and exponent == 1:
            if isinstance(entry[1], int):
                if magnitude(value) * entry[1].bit_length() > MAX_BITS:
                    raise TooLarge("a power is too large")
                return _prime_power(entry[1], Fraction(value))
            return raised(Form(dict(entry[1]), UNIT), constant(value))
    return atom(("exp", monomial), value)


def logarithm(form: Form) -> Form:
    """The natural logarithm, as a sum over prime factors where the value is rational."""
    if not form.top:
        raise Undefined("the logarithm of zero")
    if form.bottom is not UNIT:
        if closed_forms.is_turned(form.top) or closed_forms.is_turned(form.bottom):
            raise NotExact("the logarithm of a complex quotient")
        return subtract(logarithm(Form(form.top, UNIT)), logarithm(Form(form.bottom, UNIT)))
    if len(form.top) > 1:
        shared = closed_forms.content_with_sign(form.top, 2)
        inner = scale_poly(form.top, inverse(shared))
        return add((_log_of_number(shared), atom(("log", freeze(inner)))))
    ((monomial, value),) = form.top.items()
    turned = [entry for entry, _ in monomial if closed_forms.turns(entry)]
    if len(turned) > 1 or (value < 0 and turned not in ([], [("i",)])):
        raise NotExact("the logarithm of a product of complex numbers")
    total = [_log_of_number(value, -1 if turned else 1)]  # -i points down, and not up and around
    for entry, exponent in monomial:
        total.append(_log_of_atom(entry, exponent))
    return add(total)


def _log_of_atom(entry: Atom, exponent: Rational) -> Form:
    if entry[0] == "prime":
        return multiply(constant(exponent), atom(("log", entry[1])))
    if entry[0] == "exp" and not any(inner[0] == "i" for inner, _ in entry[1]):
        return Form({entry[1]: exponent}, UNIT)
    if entry[0] == "i":
        return multiply(constant(Fraction(1, 2)), multiply(atom(("i",)), atom(("pi",))))
    if entry[0] in ("sym", "pi") and exponent % 2 != 0:
        return multiply(constant(exponent), atom(("log", freeze({frozenset(((entry, 1),)): 1}))))
    return atom(("log", freeze({frozenset(((entry, exponent),)): 1})))


def _log_of_number(value: Rational, turn: int = 1) -> Form:
    """With pi or, where `turn` is -1, minus pi for the direction of a negative number."""
    terms = [multiply(constant(turn), multiply(atom(("i",)), atom(("pi",))))] if value < 0 else []
    for number, sign in ((abs(value.numerator), 1), (value.denominator, -1)):
        for prime, exponent in closed_forms.radicand_powers(number, 1):
            entry = ("log", prime) if prime > 0 else ("log", freeze({ONE: -prime}))
            terms.append(multiply(constant(sign * exponent), atom(entry)))
    return add(terms)
