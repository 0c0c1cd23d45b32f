"""The neutral tree that answers are parsed to, and `render`, which writes one back in calculator notation.

Nodes say what was written, not what it is worth: `(1, 2)` is a Sequence in round brackets, and whether that is a
point or an open interval is for the kind of the gold to say. Every node is frozen and hashable.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from fractions import Fraction
from operator import attrgetter
from typing import Any, TypeAlias

__all__ = [
    "MINUS_ONE", "Apply", "Based", "BigOperator", "Constant", "Matrix", "Number", "Power", "Product", "Quantity",
    "Quotient", "Ratio", "Relation", "Sequence", "SetBuilder", "Sum", "Symbol", "Tree", "Words",
    "children", "render", "renamed", "to_json",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Number:
    """A rational literal. `decimal`: written with a point, so possibly rounded. `grouped`: written `1,234`, which a
    gold that is a list reads as two numbers."""

    value: Fraction
    decimal: bool = False
    grouped: bool = False

    def __hash__(self) -> int:
        """Of the two integers: a Fraction's own hash takes longer than all the rest of a tree."""
        return hash((self.value.numerator, self.value.denominator, self.decimal, self.grouped))


MINUS_ONE = Number(Fraction(-1))


@dataclass(frozen=True, slots=True)
class Symbol:
    """A variable or any other letter: `x`, `x_1`, `theta`, `C`."""

    name: str


@dataclass(frozen=True, slots=True)
class Constant:
    """`pi`, `e`, `i`, `oo`; the sets `R`, `Q`, `Z`, `N`, `C` and `empty`; `...` for an ellipsis in a list."""

    name: str


@dataclass(frozen=True, slots=True)
class Apply:
    """A named function or operator on arguments, e.g. `sin(x)`, `root(x, 3)`, `percent(50)`, `factorial(n)`."""

    name: str
    args: tuple[Tree, ...]


@dataclass(frozen=True, slots=True)
class Sum:
    """`a + b + ...`; a subtracted term is `Product((Number(-1), b))`."""

    terms: tuple[Tree, ...]


@dataclass(frozen=True, slots=True)
class Product:
    """`a * b * ...`, written or implied."""

    factors: tuple[Tree, ...]


@dataclass(frozen=True, slots=True)
class Quotient:
    numerator: Tree
    denominator: Tree


@dataclass(frozen=True, slots=True)
class Power:
    base: Tree
    exponent: Tree


@dataclass(frozen=True, slots=True)
class Quantity:
    """A value with a unit, or with the noun it counts: `5 cm`, `12 ducks`, `$7`. `unit` is lower-case plain text."""

    value: Tree
    unit: str


@dataclass(frozen=True, slots=True)
class Based:
    """A numeral in a base: `204_5` is `Based("204", 5)`."""

    digits: str
    base: int


@dataclass(frozen=True, slots=True)
class Ratio:
    """`a : b : c`; also a time of day before it is read as one."""

    parts: tuple[Tree, ...]


@dataclass(frozen=True, slots=True)
class Relation:
    """A chain: `operands[0] operators[0] operands[1] operators[1] ...` with operators `=`, `!=`, `<`, `<=`, `>`,
    `>=`, `in`, `~` (approximately) and `==` (congruent)."""

    operators: tuple[str, ...]
    operands: tuple[Tree, ...]


@dataclass(frozen=True, slots=True)
class Sequence:
    """Several items in brackets or in none. `opening`/`closing` are one of `(`, `[`, `{`, `<` and its partner, or
    empty; `joiner` is `,`, `;`, `and` or `or`."""

    opening: str
    items: tuple[Tree, ...]
    closing: str
    joiner: str = ","


@dataclass(frozen=True, slots=True)
class SetBuilder:
    """`{ element | condition }`."""

    element: Tree
    condition: Tree


@dataclass(frozen=True, slots=True)
class Matrix:
    """`rows` of equal length; `style` is `matrix` or `determinant`."""

    rows: tuple[tuple[Tree, ...], ...]
    style: str = "matrix"


@dataclass(frozen=True, slots=True)
class BigOperator:
    """`sum`, `prod`, `int` or `lim` over `variable`; `lower`/`upper` are None where not written."""

    name: str
    variable: str
    lower: Tree | None
    upper: Tree | None
    body: Tree


@dataclass(frozen=True, slots=True)
class Words:
    """Plain text: lower-cased, single spaces, fonts removed; `written` keeps the case."""

    text: str
    written: str


Tree: TypeAlias = (
    Number | Symbol | Constant | Apply | Sum | Product | Quotient | Power | Quantity | Based | Ratio | Relation
    | Sequence | SetBuilder | Matrix | BigOperator | Words
)  # fmt: skip


def children(tree: Tree) -> tuple[Tree, ...]:
    """The direct subtrees, left to right."""
    inside = _CHILDREN.get(type(tree))
    return inside(tree) if inside is not None else ()


_CHILDREN: dict[type, Callable[[Any], tuple[Tree, ...]]] = {  # a table: every walk over a tree asks it
    Apply: attrgetter("args"),
    Sum: attrgetter("terms"),
    Product: attrgetter("factors"),
    Ratio: attrgetter("parts"),
    Quotient: attrgetter("numerator", "denominator"),
    Power: attrgetter("base", "exponent"),
    SetBuilder: attrgetter("element", "condition"),
    Quantity: lambda tree: (tree.value,),
    Relation: attrgetter("operands"),
    Sequence: attrgetter("items"),
    Matrix: lambda tree: tuple(entry for row in tree.rows for entry in row),
    BigOperator: lambda tree: tuple(part for part in (tree.lower, tree.upper, tree.body) if part is not None),
}


def renamed(tree: Tree, old: str, new: str) -> Tree:
    """The tree with one variable under another name; a constant of that name becomes the variable."""
    if isinstance(tree, Symbol | Constant):
        return Symbol(new) if tree.name == old else tree
    return type(tree)(*(_renamed_field(getattr(tree, field.name), old, new) for field in fields(tree)))  # type: ignore[arg-type]


def _renamed_field(value: object, old: str, new: str) -> object:
    if isinstance(value, tuple):
        return tuple(_renamed_field(part, old, new) for part in value)
    if value is None or isinstance(value, str | bool | int | Fraction):
        return value
    return renamed(value, old, new)  # type: ignore[arg-type]  # every other field is a Tree


Json: TypeAlias = "str | int | bool | None | list[Json]"


def to_json(tree: Tree) -> Json:
    """The tree as nested lists, `[class name, field, field, ...]`, for the SymPy child."""
    return [type(tree).__name__, *(_field_to_json(getattr(tree, field.name)) for field in fields(tree))]


def _field_to_json(value: object) -> Json:
    if isinstance(value, Fraction):
        return [str(value.numerator), str(value.denominator)]
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, tuple):
        return [_field_to_json(part) for part in value]
    return to_json(value)  # type: ignore[arg-type]  # every other field is a Tree


# -- calculator notation ---------------------------------------------------------------------------------------------
# Binding strength of what `render` returns, so that a parent knows when to put brackets.
_SUM, _PRODUCT, _SIGN, _POWER, _ATOM = 1, 2, 3, 4, 5
_SET_NAMES = {"R": "Reals", "Q": "Rationals", "Z": "Integers", "N": "Naturals", "C": "Complexes", "empty": "{}"}
_SET_WORDS = {"union": "union", "intersection": "intersection", "difference": "setminus"}
_RELATION_SIGNS = {"~": "\u2248", "==": "\u2261"}
_JOINERS = {",": ", ", ";": "; ", "and": " and ", "or": " or "}


def render(tree: Tree) -> str:
    """Calculator notation that parses back to an equal answer.

    Example:
        >>> render(Quotient(Number(Fraction(14)), Number(Fraction(3))))
        '(14)/(3)'
    """
    if type(tree) is Number and tree.value.denominator == 1:
        return str(tree.value.numerator)
    return _render(tree)[0]


def _render(tree: Tree) -> tuple[str, int]:
    match tree:
        case Number(value, decimal, _):
            return _number(value, decimal)
        case Symbol(name):
            return name, _ATOM
        case Constant(name):
            return _SET_NAMES.get(name, name), _ATOM
        case Words(text, written):
            return _words(text, written), _ATOM
        case Based(digits, base):
            return f"{digits}_{base}", _ATOM
        case Sum(terms):
            return _sum(terms), _SUM
        case Product(factors):
            return _product(factors)
        case Quotient(top, Number(bottom, False, _)) if bottom == 100:
            return f"({_wrap(top, _POWER)}/100)", _ATOM
        case Quotient(top, bottom):
            return f"({render(top)})/({render(bottom)})", _PRODUCT
        case Power(base, exponent):
            return f"{_wrap(base, _ATOM)}**{_wrap(exponent, _ATOM)}", _POWER
        case Apply(name, args) if name not in _SET_WORDS:
            return _apply(name, args)
        case Quantity(Ratio() as value, unit):
            return f"{render(value)} {unit}", _SUM
        case Quantity(value, unit):
            return f"{_wrap(value, _PRODUCT)} {unit}", _SUM
        case _:
            return _render_compound(tree), _SUM


def _render_compound(tree: Tree) -> str:
    match tree:
        case Ratio(parts):
            return ":".join(_wrap(part, _PRODUCT) for part in parts)
        case Apply("union" | "intersection" | "difference", (left, right)):
            return f"{render(left)} {_SET_WORDS[tree.name]} {render(right)}"
        case Relation(operators, operands):
            signs = (_RELATION_SIGNS.get(operator, operator) for operator in operators)
            rest = (f" {sign} {render(side)}" for sign, side in zip(signs, operands[1:], strict=True))
            return render(operands[0]) + "".join(rest)
        case Sequence(opening, items, closing, joiner):
            inner = _JOINERS[joiner].join(_item(item) for item in items)
            return f"{opening}{inner}{closing}"
        case SetBuilder(element, condition):
            return f"{{{render(element)} | {render(condition)}}}"
        case Matrix(rows, style):
            body = ", ".join("[" + ", ".join(render(entry) for entry in row) + "]" for row in rows)
            return f"det([{body}])" if style == "determinant" else f"[{body}]"
        case BigOperator(name, variable, lower, upper, body):
            bounds = "".join(f", {render(bound)}" for bound in (lower, upper) if bound is not None)
            return f"{name}({render(body)}, {variable}{bounds})"
    raise TypeError(f"not a tree: {tree!r}")


def _item(item: Tree) -> str:
    bare = isinstance(item, Sequence) and not item.opening
    return f"({render(item)})" if bare else render(item)


def _number(value: Fraction, decimal: bool) -> tuple[str, int]:
    if value.denominator == 1:
        return str(value.numerator), _ATOM if value >= 0 else _SIGN
    text = _finite_decimal(value) if decimal else None
    if text is not None:
        return text, _ATOM if value >= 0 else _SIGN
    return f"({value.numerator})/({value.denominator})", _PRODUCT


def _finite_decimal(value: Fraction) -> str | None:
    """`value` as digits with a point, or None when its decimal expansion does not end."""
    rest, twos, fives = value.denominator, 0, 0
    while rest % 2 == 0:
        rest, twos = rest // 2, twos + 1
    while rest % 5 == 0:
        rest, fives = rest // 5, fives + 1
    if rest != 1:
        return None
    places = max(twos, fives)
    digits = str(abs(value.numerator) * 10**places // value.denominator).rjust(places + 1, "0")
    return ("-" if value < 0 else "") + digits[:-places] + "." + digits[-places:]


def _words(text: str, written: str) -> str:
    """Words as they are; in quotes where they would read back as a product, with capitals where they choose."""
    if len(text) == 2 and text.isalpha() and text.isascii():
        return f'"{text}"'
    return written if written.startswith("( ") else text


def _sum(terms: tuple[Tree, ...]) -> str:
    text = ""
    for term in terms:
        part = _wrap(term, _PRODUCT)
        text += part if not text or part[0] in "-\u00b1\u2213" else "+" + part
    return text


def _product(factors: tuple[Tree, ...]) -> tuple[str, int]:
    if len(factors) > 1 and factors[0] == MINUS_ONE:
        rest = _wrap(factors[1] if len(factors) == 2 else Product(factors[1:]), _PRODUCT)
        return f"-({rest})" if rest[0] in "-\u00b1\u2213" else "-" + rest, _SIGN
    texts = (_wrap(factor, _PRODUCT if index == 0 else _POWER) for index, factor in enumerate(factors))
    return "*".join(texts), _PRODUCT


def _apply(name: str, args: tuple[Tree, ...]) -> tuple[str, int]:
    match name, args:
        case "percent", (value,):
            return f"({_wrap(value, _POWER)}/100)", _ATOM
        case "factorial", (value,):
            return f"{_wrap(value, _ATOM)}!", _POWER
        case "plusminus" | "minusplus", (value,):
            return ("\u00b1" if name == "plusminus" else "\u2213") + _wrap(value, _PRODUCT), _SIGN
        case "log", (value,):
            return f"ln({render(value)})", _ATOM
        case "mod", (value, modulus):
            return f"{_wrap(value, _PRODUCT)} (mod {_wrap(modulus, _PRODUCT)})", _SUM
    return f"{name}({', '.join(render(arg) for arg in args)})", _ATOM


def _wrap(tree: Tree, strength: int) -> str:
    text, own = _render(tree)
    return text if own >= strength else f"({text})"
