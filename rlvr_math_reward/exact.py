"""Tree to exact form, and the comparison of two forms.

Covered: rational arithmetic, radicals nested to any depth, complex numbers, pi and e, exponentials and logarithms,
trigonometric and hyperbolic functions (written as exponentials, so that their identities are algebra), integer
functions of integers, and finite sums and products. Not covered, and left to the next rung: integrals, limits, infinite
sums, and special functions other than as opaque names.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from fractions import Fraction
from functools import lru_cache
from math import ceil, comb, factorial, floor, gcd, lcm, lgamma

from rlvr_math_reward import closed_forms
from rlvr_math_reward.algebra import (
    MAX_BITS, ONE, UNIT, Form, Frozen, Monomial, NotExact, Poly, TooLarge, Undefined, add, atom, constant, divide, freeze, multiply,
    multiply_polys, negate, power, rational, scale_poly, subtract,
)  # fmt: skip
from rlvr_math_reward.separation import is_algebraic, is_zero
from rlvr_math_reward.tree import (
    Apply, Based, BigOperator, Constant, Matrix, Number, Power, Product, Quotient, Sequence, Sum, Symbol, Tree,
)  # fmt: skip

__all__ = ["compare", "compare_forms", "exact", "is_undefined", "substituted"]

MAX_SUMMANDS = 1_000
"""Terms of a written-out sum or product, each evaluated by itself."""
INDEPENDENT = frozenset(("sym", "pi", "prime", "i"))
"""Atoms among which no algebraic relation holds, so that a sum of distinct monomials in them is not zero."""
Bindings = Mapping[str, Form]
_NONE: Bindings = {}


@lru_cache(maxsize=8_192)
def exact(tree: Tree) -> Form:
    """The exact form of an expression.

    Raises:
        NotExact: it contains something that has no exact form here, or grows over a limit.
        Undefined: it has no value.
    """
    try:
        return _form(tree, _NONE)
    except OverflowError as error:  # a float inside math.lgamma or log2 of a number within the limits
        raise TooLarge("a number is too large") from error


def is_undefined(tree: Tree) -> bool:
    """Whether exact arithmetic shows that the expression has no value."""
    try:
        exact(tree)
    except Undefined:
        return True
    except NotExact:
        return False
    return False


def compare(left: Tree, right: Tree) -> bool | None:
    """Whether two expressions are equal; None where exact arithmetic cannot tell.

    Raises:
        Undefined: one of them has no value.
        TooLarge: one of them is beyond the size limits.
    """
    try:
        first, second = exact(left), exact(right)
    except (Undefined, TooLarge):
        raise
    except NotExact:
        return None
    return compare_forms(first, second)


def compare_forms(first: Form, second: Form) -> bool | None:
    a, b = rational(first), rational(second)
    if a is not None and b is not None:
        return a == b
    try:
        difference = subtract(Form(first.top, first.bottom), second)
        if not difference.top:
            return True
        return _vanishes(difference.top)
    except TooLarge:
        raise
    except NotExact:
        return None


def _vanishes(poly: Poly) -> bool | None:
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
        return False if independent or len(groups) == 1 and ONE in groups else None
    zero = [is_zero(group) for group in groups.values()]
    if all(zero):
        return True
    return False if independent else None


def _is_independent(entry: tuple[object, ...]) -> bool:
    """Variables, pi, e, logarithms of primes, and e to the power of one variable."""
    if entry[0] == "exp":
        return all(inner[0] == "sym" for inner, _ in entry[1]) and len(entry[1]) <= 1  # type: ignore[attr-defined,arg-type]
    if entry[0] == "log":
        return isinstance(entry[1], int)
    return entry[0] in INDEPENDENT


def substituted(sides: tuple[Tree, ...], name: str, value: Form) -> Form:
    """`left - right` of an equation with a value put in for one variable."""
    left, right = (_form(side, {name: value}) for side in sides)
    return subtract(left, right)


# -- tree to form ------------------------------------------------------------------------------------------------------
def _form(tree: Tree, bound: Bindings) -> Form:
    match tree:
        case Number(value, _, _):
            return constant(value)
        case Symbol(name):
            return bound[name] if name in bound else atom(("sym", name))
        case Constant(name):
            return _constant(name)
        case Sum(terms):
            return add(_form(term, bound) for term in terms)
        case Product(factors):
            return _product(factors, bound)
        case Quotient(top, bottom):
            return divide(_form(top, bound), _form(bottom, bound))
        case Power(base, exponent):
            return raised(_form(base, bound), _form(exponent, bound))
        case Apply(name, args):
            return _apply(name, args, bound)
        case Based(digits, base):
            return constant(closed_forms.based_value(digits, base))
        case BigOperator("sum" | "prod", variable, lower, upper, body) if lower is not None and upper is not None:
            return _folded(tree.name, variable, lower, upper, body, bound)
        case Sequence("[" | "(", (inner,), "]" | ")", _):
            return _form(inner, bound)
    raise NotExact(f"{type(tree).__name__} is no value")


def _product(factors: tuple[Tree, ...], bound: Bindings) -> Form:
    total = constant(1)
    for factor in factors:
        total = multiply(total, _form(factor, bound))
    return total


def _constant(name: str) -> Form:
    if name == "pi":
        return atom(("pi",))
    if name == "e":
        return atom(("exp", ONE))
    if name == "i":
        return atom(("i",))
    if name == "oo":
        raise Undefined("arithmetic with infinity")
    raise NotExact(f"{name} is no value")


def _folded(name: str, variable: str, lower: Tree, upper: Tree, body: Tree, bound: Bindings) -> Form:
    first, last = (_integer(_form(bound_tree, bound)) for bound_tree in (lower, upper))
    if last - first >= MAX_SUMMANDS:
        raise TooLarge("too many terms to write out")
    if not variable:
        raise NotExact("a sum without an index")
    total = constant(0 if name == "sum" else 1)
    for index in range(first, last + 1):
        value = _form(body, {**bound, variable: constant(index)})
        total = add((total, value)) if name == "sum" else multiply(total, value)
    return total


def _integer(form: Form) -> int:
    value = rational(form)
    if value is None or value.denominator != 1:
        raise NotExact("not a whole number")
    return value.numerator


# -- powers and roots --------------------------------------------------------------------------------------------------
def raised(base: Form, exponent: Form) -> Form:
    """`base ** exponent`: whole powers multiply out, fractions take roots, all else becomes an exponential."""
    value = rational(exponent)
    if value is not None:
        if value.denominator == 1:
            if abs(value) > MAX_BITS and not (rational(base) in (0, 1, -1) or len(base.top) == 1 and _unit(base)):
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
        bottom = Form(form.bottom, UNIT)
        lifted = multiply(Form(form.top, UNIT), power(bottom, index - 1))  # a/b = a b^(n-1) / b^n
        if index % 2:
            return divide(root(lifted, index), bottom)
        return divide(root(lifted, index), _absolute(bottom) if rational(bottom) is None else bottom)
    if len(form.top) == 1:
        return _root_of_term(*next(iter(form.top.items())), index)
    shared = closed_forms.content_with_sign(form.top, index)
    inner = scale_poly(form.top, 1 / shared)
    outside, left = closed_forms.extracted(abs(shared), index)
    top = {frozenset(((("root", freeze(scale_poly(inner, left)), index), Fraction(1)),)): outside}
    return Form(scale_poly(top, Fraction(-1)) if shared < 0 else top, UNIT)


def _root_of_term(monomial: Monomial, value: Fraction, index: int) -> Form:
    total = _root_of_number(value, index)
    inside: Poly = {ONE: Fraction(1)}
    for entry, exponent in monomial:
        share = exponent / index
        positive = entry[0] in ("prime", "pi") or entry == ("exp", ONE) or index % 2 == 1 and entry[0] in ("sym", "exp")
        if positive or entry[0] == "sym" and not (exponent % 2 == 0 and share % 2 != 0):
            total = multiply(total, _settled_atom(entry, share))
        elif entry[0] == "exp" and not any(inner[0] == "i" for inner, _ in entry[1]):
            total = multiply(total, atom(entry, share))
        else:
            inside = multiply_polys(inside, {frozenset(((entry, exponent),)): Fraction(1)})
    if inside == {ONE: Fraction(1)}:
        return total
    return multiply(total, atom(("root", freeze(inside), index)))


def _settled_atom(entry: tuple[object, ...], exponent: Fraction) -> Form:
    return multiply(atom(entry, exponent), constant(1)) if entry[0] != "prime" else _prime_power(int(entry[1]), exponent)  # type: ignore[call-overload]


def _prime_power(prime: int, exponent: Fraction) -> Form:
    whole = floor(exponent)
    base = constant(Fraction(prime) ** whole)
    return base if exponent == whole else multiply(base, atom(("prime", prime), exponent - whole))


def _root_of_number(value: Fraction, index: int) -> Form:
    sign = constant(1)
    if value < 0:
        sign = constant(-1) if index % 2 else closed_forms.root_of_unity(Fraction(1, index))
    number = abs(value.numerator) * value.denominator ** (index - 1)
    if number.bit_length() > MAX_BITS:
        raise TooLarge("a radicand is too large")
    total = constant(Fraction(1, value.denominator))
    for prime, exponent in closed_forms.radicand_powers(number, index):
        total = multiply(total, _prime_power(prime, exponent) if prime > 0 else closed_forms.unfactored(-prime, index))
    return multiply(sign, total)


def _absolute(form: Form) -> Form:
    """|z|: the root of the square, or of re^2 + im^2 where i occurs."""
    value = rational(form)
    if value is not None:
        return constant(abs(value))
    real, imaginary = closed_forms.parts(form)
    squares = multiply(real, real)
    if imaginary.top:
        squares = add((squares, multiply(imaginary, imaginary)))
    return root(squares, 2)


# -- exponentials and logarithms ---------------------------------------------------------------------------------------
def exponential(exponent: Form) -> Form:
    """e to a power: one factor for each term, with roots of unity, powers of e and of logarithms in their own atoms."""
    if exponent.bottom is not UNIT:
        return atom(("call", "exp", freeze(exponent.top), freeze(exponent.bottom)))
    total = constant(1)
    for monomial, value in exponent.top.items():
        total = multiply(total, _exponential_of_term(monomial, value))
    return total


def _exponential_of_term(monomial: Monomial, value: Fraction) -> Form:
    if monomial == frozenset(((("i",), Fraction(1)), (("pi",), Fraction(1)))):
        return closed_forms.root_of_unity(value)
    if len(monomial) == 1:
        ((entry, exponent),) = monomial
        if entry[0] == "log" and exponent == 1:
            if isinstance(entry[1], int):
                if abs(value) * entry[1].bit_length() > MAX_BITS:
                    raise TooLarge("a power is too large")
                return _prime_power(entry[1], value)
            return raised(Form(dict(entry[1]), UNIT), constant(value))
    return atom(("exp", monomial), value)


def logarithm(form: Form) -> Form:
    """The natural logarithm, as a sum over prime factors where the value is rational."""
    if not form.top:
        raise Undefined("the logarithm of zero")
    if form.bottom is not UNIT:
        return subtract(logarithm(Form(form.top, UNIT)), logarithm(Form(form.bottom, UNIT)))
    if len(form.top) > 1:
        shared = closed_forms.content_with_sign(form.top, 2)
        inner = scale_poly(form.top, 1 / shared)
        return add((_log_of_number(shared), atom(("log", freeze(inner)))))
    ((monomial, value),) = form.top.items()
    total = [_log_of_number(value)]
    for entry, exponent in monomial:
        total.append(_log_of_atom(entry, exponent))
    return add(total)


def _log_of_atom(entry: tuple[object, ...], exponent: Fraction) -> Form:
    if entry[0] == "prime":
        return multiply(constant(exponent), atom(("log", entry[1])))
    if entry[0] == "exp" and not any(inner[0] == "i" for inner, _ in entry[1]):  # type: ignore[attr-defined]
        return Form({entry[1]: exponent}, UNIT)  # type: ignore[dict-item]
    if entry[0] == "i":
        return multiply(constant(Fraction(1, 2)), multiply(atom(("i",)), atom(("pi",))))
    if entry[0] in ("sym", "pi") and exponent % 2 != 0:
        return multiply(constant(exponent), atom(("log", freeze({frozenset(((entry, Fraction(1)),)): Fraction(1)}))))
    return atom(("log", freeze({frozenset(((entry, exponent),)): Fraction(1)})))


def _log_of_number(value: Fraction) -> Form:
    terms = [multiply(atom(("i",)), atom(("pi",)))] if value < 0 else []
    for number, sign in ((abs(value.numerator), 1), (value.denominator, -1)):
        for prime, exponent in closed_forms.radicand_powers(number, 1):
            entry = ("log", prime) if prime > 0 else ("log", freeze({ONE: Fraction(-prime)}))
            terms.append(multiply(constant(sign * exponent), atom(entry)))
    return add(terms)


# -- functions ---------------------------------------------------------------------------------------------------------
def _apply(name: str, args: tuple[Tree, ...], bound: Bindings) -> Form:
    if name in _ANGLES:
        return _trigonometric(name, args, bound)
    if name in ("degree", "celsius", "fahrenheit") and len(args) == 1:
        return _form(args[0], bound)
    if name == "det" and len(args) == 1 and isinstance(args[0], Matrix):
        rows = [[_form(entry, bound) for entry in row] for row in args[0].rows]
        return _determinant(rows)
    values = [_form(arg, bound) for arg in args]
    rule = _FUNCTIONS.get((name, len(values))) or _FUNCTIONS.get((name, 0))
    if rule is not None:
        return rule(*values)
    if name in ("plusminus", "minusplus", "union", "intersection", "difference", "mod"):
        raise NotExact(f"{name} is no single value")
    return atom(("call", name, *((freeze(value.top), freeze(value.bottom)) for value in values)))


def _in_radians(tree: Tree, bound: Bindings) -> Form:
    """The argument of a trigonometric function: a degree sign inside it counts pi/180."""
    match tree:
        case Apply("degree", (value,)):
            return multiply(_form(value, bound), multiply(atom(("pi",)), constant(Fraction(1, 180))))
        case Sum(terms):
            return add(_in_radians(term, bound) for term in terms)
        case Product(factors) if any(isinstance(f, Apply) and f.name == "degree" for f in factors):
            total = constant(1)
            for factor in factors:
                total = multiply(total, _in_radians(factor, bound))
            return total
        case Quotient(top, bottom):
            return divide(_in_radians(top, bound), _form(bottom, bound))
    return _form(tree, bound)


def _trigonometric(name: str, args: tuple[Tree, ...], bound: Bindings) -> Form:
    if len(args) != 1:
        raise NotExact(f"{name} of several arguments")
    return _ANGLES[name](_in_radians(args[0], bound))


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
    if form.top and _vanishes(form.top):
        raise Undefined("a division by zero")
    return form


_ANGLES: dict[str, Callable[[Form], Form]] = {
    "sin": _sine,
    "cos": _cosine,
    "tan": lambda x: divide(_sine(x), _nonzero(_cosine(x))),
    "cot": lambda x: divide(_cosine(x), _nonzero(_sine(x))),
    "sec": lambda x: divide(constant(1), _nonzero(_cosine(x))),
    "csc": lambda x: divide(constant(1), _nonzero(_sine(x))),
    "cis": lambda x: _turned(x, 1),
}


def _integers(*forms: Form) -> list[int]:
    return [_integer(form) for form in forms]


def _factorial(form: Form) -> Form:
    value = rational(form)
    if value is None:
        return atom(("call", "factorial", freeze(form.top), freeze(form.bottom)))
    number = _integer(form)
    if number < 0:
        raise Undefined("the factorial of a negative number")
    if number > MAX_BITS or lgamma(number + 1) / 0.69 > MAX_BITS:
        raise TooLarge("a factorial is too large")
    return constant(factorial(number))


def _binomial(top: Form, bottom: Form) -> Form:
    if rational(top) is None or rational(bottom) is None:
        return atom(("call", "binomial", *(freeze(part) for form in (top, bottom) for part in form)))
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


def _extreme(rule: Callable[[list[Fraction]], Fraction], name: str) -> Callable[..., Form]:
    def apply(*forms: Form) -> Form:
        values = [rational(form) for form in forms]
        known = [value for value in values if value is not None]
        if known and len(known) == len(values):
            return constant(rule(known))
        return atom(("call", name, frozenset((freeze(form.top), freeze(form.bottom)) for form in forms)))

    return apply


def _rounded(rule: Callable[[Fraction], int]) -> Callable[[Form], Form]:
    def apply(form: Form) -> Form:
        value = rational(form)
        if value is None:
            raise NotExact("rounding of an irrational number")
        return constant(rule(value))

    return apply


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
        if key in known():
            return known()[key]
        if rational(form) is not None:
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


def _determinant(rows: list[list[Form]]) -> Form:
    if len(rows) != len(rows[0]) or len(rows) > 4:
        raise NotExact("no determinant of this shape is expanded")
    if len(rows) == 1:
        return rows[0][0]
    total = constant(0)
    for column, entry in enumerate(rows[0]):
        minor = [[value for index, value in enumerate(row) if index != column] for row in rows[1:]]
        term = multiply(entry, _determinant(minor))
        total = add((total, negate(term) if column % 2 else term))
    return total


_FUNCTIONS: dict[tuple[str, int], Callable[..., Form]] = {
    ("percent", 1): lambda x: divide(x, constant(100)),
    ("sqrt", 1): lambda x: root(x, 2),
    ("root", 2): lambda x, n: root(x, _integer(n)),
    ("abs", 1): _absolute,
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
    **{(f"arc{name}", 1): _inverse(f"arc{name}", _ANGLES[name]) for name in ("sin", "cos", "tan", "cot", "sec", "csc")},
    ("factorial", 1): _factorial,
    ("binomial", 2): _binomial,
    ("gcd", 0): _whole_numbers(gcd, "gcd"),
    ("lcm", 0): _whole_numbers(lcm, "lcm"),
    ("max", 0): _extreme(max, "max"),
    ("min", 0): _extreme(min, "min"),
    ("floor", 1): _rounded(floor),
    ("ceil", 1): _rounded(ceil),
    ("sgn", 1): _signum,
}
