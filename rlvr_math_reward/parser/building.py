"""Building nodes: what a name, a sign, brackets or a call stand for once their parts are read."""

from __future__ import annotations

from fractions import Fraction

from rlvr_math_reward.tree import (
    MINUS_ONE,
    Apply,
    Based,
    Constant,
    Number,
    Power,
    Product,
    Quotient,
    Relation,
    Sequence,
    SetBuilder,
    Symbol,
    Tree,
)

__all__ = [
    "FUNCTION_LETTERS",
    "NUMBER_SETS",
    "bracketed",
    "called",
    "rational_tree",
    "index_of",
    "listed",
    "named",
    "negate",
    "times",
]

FUNCTION_LETTERS = frozenset("fgh")
"""Letters that name a function where a bracket follows at once: `f(17)`, but `x(x+1)`."""
NUMBER_SETS = {"RR": "R", "QQ": "Q", "ZZ": "Z", "NN": "N", "CC": "C"}


def named(name: str) -> Tree:
    """A letter or name by itself: a constant where it is one."""
    if name in ("pi", "e", "i", "oo", "empty", "..."):
        return Constant(name)
    return Constant(NUMBER_SETS[name]) if name in NUMBER_SETS else Symbol(name)


def negate(value: Tree) -> Tree:
    match value:
        case Number(number, decimal, grouped):
            return Number(-number, decimal, grouped)
        case Quotient(Number(number, decimal, grouped), bottom):
            return Quotient(Number(-number, decimal, grouped), bottom)
        case Apply("percent" | "degree" as name, (inner,)):
            return Apply(name, (negate(inner),))
        case Product(factors):
            return Product((MINUS_ONE, *factors))
        case Based(digits, base) if not digits.startswith("-"):
            return Based("-" + digits, base)
    return Product((MINUS_ONE, value))


def bracketed(opening: str, inner: Tree, closing: str) -> Tree:
    """What brackets around `inner` mean: grouping around one value, else a Sequence that keeps them."""
    if isinstance(inner, SetBuilder):
        return inner
    bare = isinstance(inner, Sequence) and not inner.opening
    if not bare and (opening == "{" or (opening, closing) == ("(", ")")):
        return inner
    if isinstance(inner, Sequence) and bare and opening == "{":  # braces of TeX group, as in `( {3, -5} )`
        return inner
    opening, closing = _BRACKETS.get(opening, opening), _BRACKETS.get(closing, closing)
    if isinstance(inner, Sequence) and bare:
        return Sequence(opening, inner.items, closing, inner.joiner)
    return Sequence(opening, (inner,), closing)


_BRACKETS = {"{{": "{", "}}": "}", "<<": "<", ">>": ">"}


def listed(items: list[Tree], joiners: list[str]) -> Tree:
    """Items side by side. `or` binds looser than a comma between equations: `x=1, y=2 or x=2, y=1` is two pairs."""
    match items:
        case [first, Relation(("in",), (Symbol(), Constant("R")))]:
            return first  # "for real x" adds nothing
    joiner = "or" if "or" in joiners else next((found for found in reversed(joiners) if found != ","), ",")
    mixed = "or" in joiners and set(joiners) != {"or"}
    if not mixed or not all(isinstance(item, Relation) and item.operators == ("=",) for item in items):
        return Sequence("", tuple(items), "", joiner)
    groups = [[items[0]]]
    for found, item in zip(joiners, items[1:], strict=True):
        if found == "or":
            groups.append([])
        groups[-1].append(item)
    if len({len(group) for group in groups}) > 1 or len(groups[0]) < 2:
        return Sequence("", tuple(items), "", joiner)
    return Sequence("", tuple(Sequence("", tuple(group), "") for group in groups), "", "or")


def rational_tree(value: Fraction) -> Number | Quotient:
    if value.denominator == 1:
        return Number(value)
    return Quotient(Number(Fraction(value.numerator)), Number(Fraction(value.denominator)))


def times(left: Tree, right: Tree) -> Tree:
    front = left.factors if isinstance(left, Product) else (left,)
    return Product((*front, *(right.factors if isinstance(right, Product) else (right,))))


def called(name: str, args: tuple[Tree, ...], base: Tree | None) -> Tree:
    match name, args:
        case "log", (x,):
            return Apply("log", (x, base if base is not None else Number(Fraction(10))))
        case "ln", (x,):
            return Apply("log", (x,))
        case "exp", (x,):
            return Power(Constant("e"), x)
        case "cbrt", (x,):
            return Apply("root", (x, Number(Fraction(3))))
    if base is not None:
        return Apply(f"{name}_sub", (*args, base))
    return Apply(name, args)


def index_of(name: str, lower: Tree | None) -> tuple[str, Tree | None]:
    """The index of `k=1` or `x->0` beneath an operator."""
    match lower:
        case Relation(("=",) | ("->",), (Symbol(variable) | Constant(variable), start)) if name != "int":
            return variable, start
    return "", lower
