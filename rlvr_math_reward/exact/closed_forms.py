"""Known values: numerals in a base, factors of radicands, and the roots of unity that have radicals of low degree."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from functools import lru_cache

from rlvr_math_reward.exact.algebra import (
    ONE,
    UNIT,
    Atom,
    Form,
    Monomial,
    NotExact,
    Poly,
    Rational,
    add,
    atom,
    constant,
    content,
    freeze,
    inverse,
    multiply,
    negate,
    primes_of,
    subtract,
)

__all__ = [
    "based_value", "content_with_sign", "extracted", "is_turned", "parts", "principal_angles", "radicand_powers",
    "root_of_unity", "turns", "unfactored",
]  # fmt: skip


def based_value(digits: str, base: int) -> Fraction:
    """`("-12.4", 5)` as a rational number."""
    sign, body = (-1, digits[1:]) if digits.startswith("-") else (1, digits)
    whole, _, fraction = body.partition(".")
    return sign * Fraction(int((whole + fraction) or "0", base), base ** len(fraction))


# -- radicands ---------------------------------------------------------------------------------------------------------
def radicand_powers(number: int, index: int) -> list[tuple[int, Fraction]]:
    """`number ** (1/index)` as prime powers; a factor that is no proven prime comes negated, with exponent 1."""
    found, rest = primes_of(number)
    powers = [(prime, Fraction(count, index)) for prime, count in found.items()]
    return powers if rest == 1 else [*powers, (-rest, Fraction(1))]


def unfactored(number: int, index: int) -> Form:
    """The root of a number that was not factored: whole where it is a perfect power, else an opaque root."""
    found = _whole_root(number, index)
    if found**index == number:
        return constant(found)
    return atom(("root", freeze({ONE: number}), index))


def _whole_root(number: int, index: int) -> int:
    """The floor of the root, by Newton's method from above: the start is within twice of it."""
    root = 1 << -(-number.bit_length() // index)
    while (closer := ((index - 1) * root + number // root ** (index - 1)) // index) < root:
        root = closer
    return root


def content_with_sign(poly: Poly, index: int) -> Rational:
    """The rational factor to take out from under a root; with the sign of the terms when all share it and it may."""
    shared = content(poly)
    if index % 2 and all(value < 0 for value in poly.values()) and not is_turned(poly):
        return -shared
    return shared


def extracted(shared: Rational, index: int) -> tuple[Rational, int]:
    """`shared ** (1/index)` as `outside * left ** (1/index)` with `left` a whole number free of `index`-th powers."""
    number = shared.numerator * shared.denominator ** (index - 1)
    found, rest = primes_of(number)
    outside, left = inverse(shared.denominator), rest
    for prime, count in found.items():
        outside *= prime ** (count // index)
        left *= prime ** (count % index)
    return outside, left


# -- complex parts -----------------------------------------------------------------------------------------------------
def parts(form: Form) -> tuple[Form, Form]:
    """Real and imaginary part, with every variable taken as real.

    Raises:
        NotExact: an atom that may itself be complex.
    """
    if form.bottom is not UNIT and is_turned(form.bottom):
        real, imaginary = parts(Form(form.bottom, UNIT))
        conjugate = subtract(real, multiply(atom(("i",)), imaginary))
        lifted = multiply(Form(form.top, UNIT), conjugate)
        square = add((multiply(real, real), multiply(imaginary, imaginary)))
        above = parts(lifted)
        return tuple(multiply(part, Form(square.bottom, square.top)) for part in above)  # type: ignore[return-value]
    real_part: Poly = {}
    imaginary_part: Poly = {}
    for monomial, value in form.top.items():
        if not all(_is_real(entry) for entry, _ in monomial):
            raise NotExact("a value that may be complex")
        rest = frozenset(pair for pair in monomial if pair[0] != ("i",))
        target = imaginary_part if len(rest) < len(monomial) else real_part
        target[rest] = value
    return Form(real_part, form.bottom), Form(imaginary_part, form.bottom)


def is_turned(monomials: Iterable[Monomial]) -> bool:
    """Whether a sum of these may lie off the real line: its sign is part of its direction, and no root takes it out."""
    return any(turns(entry) for monomial in monomials for entry, _ in monomial)


def turns(part: object) -> bool:
    """Whether `i` or a root of unity stands anywhere in an atom."""
    if part in (("i",), ("zeta",)):
        return True
    return isinstance(part, tuple | frozenset) and any(map(turns, part))


def _is_real(entry: Atom) -> bool:
    """Real for real variables: roots of odd index, or of a sum of squares or positive terms, over real atoms."""
    if entry[0] == "i":
        return True
    if entry[0] == "root":
        inner = [(atom_, exponent) for monomial, _ in entry[1] for atom_, exponent in monomial]
        real = all(atom_[0] in ("prime", "pi", "sym") or atom_ == ("exp", ONE) for atom_, _ in inner)
        positive = all(value > 0 for _, value in entry[1]) and all(
            atom_[0] != "sym" or exponent % 2 == 0 for atom_, exponent in inner
        )
        return real and (entry[2] % 2 == 1 or positive)
    if entry[0] == "log":
        return isinstance(entry[1], int)
    return entry[0] in ("sym", "pi", "prime") or (entry[0] == "exp" and not turns(entry))


# -- roots of unity ----------------------------------------------------------------------------------------------------
_SQUARE_ROOTS = {2: ("prime", 2), 3: ("prime", 3), 5: ("prime", 5)}


def _sqrt(number: int) -> Form:
    return atom(_SQUARE_ROOTS[number], Fraction(1, 2))


@lru_cache(maxsize=1)
def _cosines() -> dict[Fraction, Form]:
    """cos(q pi) for q in [0, 1/2] with denominators 1, 2, 3, 4, 5, 6, 10 (even numerators of 10), 12."""
    quarter, half = constant(Fraction(1, 4)), constant(Fraction(1, 2))
    root2, root3, root5 = _sqrt(2), _sqrt(3), _sqrt(5)
    root6 = multiply(root2, root3)
    return {
        Fraction(0): constant(1),
        Fraction(1, 2): constant(0),
        Fraction(1, 3): half,
        Fraction(1, 4): multiply(half, root2),
        Fraction(1, 6): multiply(half, root3),
        Fraction(1, 5): multiply(quarter, add((constant(1), root5))),
        Fraction(2, 5): multiply(quarter, add((constant(-1), root5))),
        Fraction(1, 12): multiply(quarter, add((root6, root2))),
        Fraction(5, 12): multiply(quarter, subtract(root6, root2)),
    }


def _cosine(turn: Fraction) -> Form | None:
    """cos(turn * pi) where it has plain square roots."""
    turn = abs(turn) % 2
    turn = 2 - turn if turn > 1 else turn
    if turn > Fraction(1, 2):
        folded = _cosine(1 - turn)
        return None if folded is None else negate(folded)
    return _cosines().get(turn)


@lru_cache(maxsize=1_024)
def root_of_unity(turn: Fraction) -> Form:
    """e^(i pi turn): in radicals where both parts have them, else a power of the atom `zeta`."""
    turn %= 2
    real, imaginary = _cosine(turn), _cosine(turn - Fraction(1, 2))
    if real is not None and imaginary is not None:
        return add((real, multiply(atom(("i",)), imaginary)))
    sign = constant(1)
    if turn >= 1:
        sign, turn = constant(-1), turn - 1
    return multiply(sign, atom(("zeta",), turn))


_PRINCIPAL = {
    "arcsin": (Fraction(-1, 2), Fraction(1, 2)), "arccsc": (Fraction(-1, 2), Fraction(1, 2)),
    "arctan": (Fraction(-1, 2), Fraction(1, 2)), "arccos": (Fraction(0), Fraction(1)),
    "arcsec": (Fraction(0), Fraction(1)), "arccot": (Fraction(0), Fraction(1)),
}  # fmt: skip


@lru_cache(maxsize=8)
def principal_angles(name: str) -> tuple[Fraction, ...]:
    """The multiples of pi with denominator 10 or 12 in the range of an inverse function."""
    low, high = _PRINCIPAL[name]
    angles = {Fraction(n, d) for d in (10, 12) for n in range(-d, d + 1)}
    return tuple(sorted((angle for angle in angles if low <= angle <= high), key=abs))
