"""Tree to exact form, and the comparison of two forms.

Covered: rational arithmetic, radicals nested to any depth, complex numbers, pi and e, exponentials and logarithms,
trigonometric and hyperbolic functions (written as exponentials, so that their identities are algebra), integer
functions of integers, and finite sums and products. Not covered, and left to the next rung: integrals, limits, infinite
sums, and special functions other than as opaque names.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache
from math import ceil, floor

from rlvr_math_reward.exact import closed_forms
from rlvr_math_reward.exact.algebra import (
    ONE,
    Form,
    NotExact,
    TooLarge,
    Undefined,
    add,
    atom,
    charge,
    constant,
    divide,
    form_left,
    freeze,
    multiply,
    new_form,
    rational,
    spend,
    subtract,
)
from rlvr_math_reward.exact.equality import compare_forms
from rlvr_math_reward.exact.functions import ANGLES, FUNCTIONS, determinant, integer
from rlvr_math_reward.exact.powers import raised
from rlvr_math_reward.numeric import value as numeric_value
from rlvr_math_reward.parser.wording import symbols
from rlvr_math_reward.tree import (
    Apply,
    Based,
    BigOperator,
    Constant,
    Matrix,
    Number,
    Power,
    Product,
    Quotient,
    Sequence,
    Sum,
    Symbol,
    Tree,
    children,
)

__all__ = ["approximate", "compare", "exact", "is_undefined", "substituted"]

MAX_NESTED_ANGLES = 4
"""Trigonometric functions inside one another. Each uses its argument twice, so forms double with each level."""
HYPERBOLIC = frozenset(("sinh", "cosh", "tanh", "coth", "sech", "csch"))
MAX_FLOAT = 10**300
"""Beyond it a number has no float."""
MAX_ROUNDED, CLEAR = 1e9, 1e-5
"""A float holds the place of a value up to the first to within the second."""
MAX_SUMMANDS = 1_000
"""Terms of a written-out sum or product, each evaluated by itself."""
_ARITHMETIC = (Sum, Product, Quotient, Power)
Bindings = Mapping[str, Form]
_NONE: Bindings = {}


def exact(tree: Tree) -> Form:
    """The exact form of an expression.

    Raises:
        NotExact: it contains something that has no exact form here, or grows over a limit.
        Undefined: it has no value.
    """
    result, work = _worked_out(tree)
    new_form()  # a form that was remembered leaves as much for what comes after it as one that was not
    charge(work)
    if isinstance(result, NotExact):
        raise result.with_traceback(None)
    return result


@lru_cache(maxsize=2_048)
def _worked_out(tree: Tree) -> tuple[Form | NotExact, int]:
    """The form, or why there is none, with the work it took: remembered, it is charged again, so that the cache
    changes no verdict."""
    whole = new_form()
    try:
        result: Form | NotExact = _form(tree, _NONE)
    except NotExact as error:
        result = error.with_traceback(None)
    except OverflowError:  # a float inside math.lgamma or log2 of a number within the limits
        result = TooLarge("a number is too large")
    return result, whole - form_left() + 1


def approximate(tree: Tree) -> complex | None:
    """A constant as a number with the precision of a float; None where it has no value here."""
    if type(tree) is Number:
        return complex(tree.value) if abs(tree.value) < MAX_FLOAT else None
    try:
        known = rational(exact(tree))
    except NotExact:
        return numeric_value(tree)
    if known is None:
        return numeric_value(tree)
    return complex(known) if -MAX_FLOAT < known < MAX_FLOAT else None


def is_undefined(tree: Tree) -> bool:
    """Whether exact arithmetic shows that the expression has no value."""
    if _has_value(tree):
        return False
    try:
        exact(tree)
    except Undefined:
        return True
    except TooLarge:
        return False
    except NotExact:  # met before the part that has no value, perhaps
        divides = isinstance(tree, Quotient) and _is_zero(tree.denominator)
        return divides or (isinstance(tree, _ARITHMETIC) and any(map(is_undefined, children(tree))))
    return False


def _is_zero(tree: Tree) -> bool:
    try:
        return not exact(tree).top
    except NotExact:
        return False


def _has_value(tree: Tree) -> bool:
    """Whether nothing in it can be undefined, which is seen without working it out: most golds are such."""
    match tree:
        case Number() | Symbol() | Constant("pi" | "e" | "i"):
            return True
        case Sum(parts) | Product(parts) | Apply("sqrt" | "percent" | "degree", parts):
            return all(_has_value(part) for part in parts)
        case Quotient(inner, Number(number)) | Power(inner, Number(number)):
            return number > 0 and _has_value(inner)
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
    whole = new_form()
    try:
        return compare_forms(first, second)
    finally:
        charge(min(whole, whole - form_left()) + 1)


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
    if _is_infinite(upper) or _is_infinite(lower):
        raise NotExact("an infinite sum")
    first, last = (integer(_form(bound_tree, bound)) for bound_tree in (lower, upper))
    if last - first >= MAX_SUMMANDS:
        raise TooLarge("too many terms to write out")
    if not variable:
        raise NotExact("a sum without an index")
    total = constant(0 if name == "sum" else 1)
    for index in range(first, last + 1):
        spend(10)
        value = _form(body, {**bound, variable: constant(index)})
        total = add((total, value)) if name == "sum" else multiply(total, value)
    return total


def _is_infinite(tree: Tree) -> bool:
    return tree == Constant("oo") or (isinstance(tree, Product) and any(map(_is_infinite, tree.factors)))


# -- functions --------------------------------------------------------------------------------------------------------
def _apply(name: str, args: tuple[Tree, ...], bound: Bindings) -> Form:
    if name in ANGLES:
        return _trigonometric(name, args, bound)
    if name in HYPERBOLIC and args and _nested_angles(args[0]) >= MAX_NESTED_ANGLES:
        raise NotExact("hyperbolic functions nested deep")
    if name in ("degree", "celsius", "fahrenheit") and len(args) == 1:
        return _form(args[0], bound)
    if name == "det" and len(args) == 1 and isinstance(args[0], Matrix):
        rows = [[_form(entry, bound) for entry in row] for row in args[0].rows]
        return determinant(rows)
    if name in ("floor", "ceil") and len(args) == 1 and (whole := _rounded(name, args[0])) is not None:
        return constant(whole)
    values = [_form(arg, bound) for arg in args]
    rule = FUNCTIONS.get((name, len(values))) or FUNCTIONS.get((name, 0))
    if rule is not None:
        return rule(*values)
    if name in ("plusminus", "minusplus", "union", "intersection", "difference", "mod"):
        raise NotExact(f"{name} is no single value")
    return atom(("call", name, *((freeze(value.top), freeze(value.bottom)) for value in values)))


def _rounded(name: str, tree: Tree) -> int | None:
    """The floor or ceiling of a constant that lies clear of a whole number."""
    value = None if symbols(tree) else numeric_value(tree)
    if value is None or value.imag or abs(value.real) > MAX_ROUNDED or abs(value.real - round(value.real)) < CLEAR:
        return None
    return floor(value.real) if name == "floor" else ceil(value.real)


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


def _nested_angles(tree: Tree) -> int:
    """How many trigonometric or hyperbolic functions stand inside one another."""
    own = isinstance(tree, Apply) and (tree.name in ANGLES or tree.name in HYPERBOLIC)
    return own + max((_nested_angles(child) for child in children(tree)), default=0)


def _trigonometric(name: str, args: tuple[Tree, ...], bound: Bindings) -> Form:
    if len(args) != 1:
        raise NotExact(f"{name} of several arguments")
    if _nested_angles(args[0]) >= MAX_NESTED_ANGLES:
        raise NotExact("trigonometric functions nested deep")
    return ANGLES[name](_in_radians(args[0], bound))
