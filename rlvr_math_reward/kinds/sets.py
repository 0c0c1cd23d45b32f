"""Reading sets of real numbers: intervals, unions, inequalities in one variable and set-builders, as one structure."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from rlvr_math_reward.exact.algebra import ONE, UNIT, NotExact
from rlvr_math_reward.exact.forms import approximate, exact
from rlvr_math_reward.kinds.answer import is_name
from rlvr_math_reward.kinds.signs import has_signs, written_out
from rlvr_math_reward.parser.wording import symbols
from rlvr_math_reward.tree import (
    MINUS_ONE,
    Apply,
    Constant,
    Number,
    Product,
    Quantity,
    Quotient,
    Relation,
    Sequence,
    SetBuilder,
    Sum,
    Tree,
)

__all__ = ["ORDERED", "Combined", "NotASet", "Piece", "RealSet", "is_infinite", "position", "read"]

ORDERED = ("<", "<=", ">", ">=", "!=")
_FLIPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "!=": "!=", "=": "="}
_INFINITY, _MINUS_INFINITY = Constant("oo"), Product((MINUS_ONE, Constant("oo")))


@dataclass(frozen=True, slots=True)
class Piece:
    """One interval; a point where both ends are the same and closed."""

    low: Tree
    high: Tree
    closed_low: bool
    closed_high: bool


@dataclass(frozen=True, slots=True)
class Combined:
    """`union`, `either` (a union in words, whose parts may not overlap), `intersection` or `difference`."""

    operation: str
    left: RealSet
    right: RealSet


RealSet = Piece | Combined | None
"""A set as it was written; None is the empty set."""
EVERYTHING = Piece(_MINUS_INFINITY, _INFINITY, False, False)


class NotASet(Exception):
    """The tree is no set of real numbers with constant ends."""


def is_infinite(tree: Tree) -> bool:
    match tree:
        case Constant("oo"):
            return True
        case Product((Number(), inner)):
            return is_infinite(inner)
    return False


def read(tree: Tree) -> RealSet:
    """The set that a tree describes, with every condition in the same variable.

    Raises:
        NotASet: it describes none, or one whose ends are no constants.
    """
    match tree:
        case Constant("R"):
            return EVERYTHING
        case Constant("empty"):
            return None
        case Sequence("{", items, "}", _):
            return _union([_point(item) for item in items])
        case Sequence("(" | "[", (low, high), ")" | "]", _):
            return _interval(low, high, tree.opening == "[", tree.closing == "]")
        case Apply("union" | "intersection" | "difference", (left, right)):
            return Combined(tree.name, _operand(left), _operand(right))
        case Relation(("in",), (left, right)) if is_name(left):
            return read(right)
        case Relation(("=",), (left, right)) if is_name(left) and not isinstance(right, Number):
            return _inequalities(tree.operators, tree.operands) if _is_value(right) else read(right)
        case Relation(operators, operands):
            _one_variable(operands)
            return _inequalities(operators, operands)
        case SetBuilder(element, condition) if is_name(element) or isinstance(element, Relation):
            return _condition(element, condition)
        case Sequence("", (Relation(("!=",), (name, _)) as first, *rest), "", _) if not _has_relation(rest):
            return _joined([read(part) for part in (first, *(Relation(("!=",), (name, v)) for v in rest))], (), "and")
        case Sequence("", items, "", joiner) if joiner == "or" or all(isinstance(item, Relation) for item in items):
            _one_variable(items)
            return _joined([read(item) for item in items], items, joiner)
        case Sum((whole, Product((Number(minus), removed)))) if minus == -1:
            return Combined("difference", read(whole), read(removed))
    raise NotASet


def _operand(tree: Tree) -> RealSet:
    """A set in a union; plain text writes the set of one number without a backslash, and so as that number."""
    try:
        return read(tree)
    except NotASet:
        return _point(tree)


def _is_value(tree: Tree) -> bool:
    try:
        position(tree)
    except NotASet:
        return False
    return True


def _one_variable(parts: tuple[Tree, ...]) -> None:
    """`x > 4, y > 4` is about two numbers and describes no set of one."""
    names = [part for part in parts if isinstance(part, Relation) for part in part.operands if symbols(part)] or [
        part for part in parts if symbols(part)
    ]
    if len({symbols(name) for name in names}) > 1:
        raise NotASet


def _has_relation(items: list[Tree]) -> bool:
    return any(isinstance(item, Relation) for item in items)


def _condition(element: Tree, condition: Tree) -> RealSet:
    if isinstance(condition, Relation) and "=" in condition.operators:
        raise NotASet  # {x | x^2 = 4} restates a question
    inner = read(condition)
    return inner if not isinstance(element, Relation) else Combined("intersection", read(element), inner)


def _joined(sets: list[RealSet], items: tuple[Tree, ...], joiner: str) -> RealSet:
    """Statements side by side: `or` unites; `and` and a comma intersect, but equations and rays apart unite."""
    equations = any(isinstance(item, Relation) and "=" in item.operators for item in items)
    if joiner == "or" or (joiner == "," and (equations or _apart(sets))):
        return _union(sets, "either")
    total = sets[0]
    for part in sets[1:]:
        total = Combined("intersection", total, part)
    return total


def _apart(sets: list[RealSet]) -> bool:
    """`x < 2, x > 3`: two rays that no number is on, so the comma stands for `or`."""
    match sets:
        case [Piece() as first, Piece() as second]:
            ends = position(first.high), position(second.low)
            return ends[0] < ends[1] or position(second.high) < position(first.low)
    return False


def _union(sets: list[RealSet], operation: str = "union") -> RealSet:
    total: RealSet = None
    for part in sets:
        total = part if total is None else Combined(operation, total, part)
    return total


def _interval(low: Tree, high: Tree, closed_low: bool, closed_high: bool) -> Piece:
    if (closed_low and is_infinite(low)) or (closed_high and is_infinite(high)):
        raise NotASet  # no interval holds infinity
    piece = Piece(_end(low), _end(high), closed_low, closed_high)
    first, last = position(piece.low), position(piece.high)
    if first > last or (first == last and not (piece.closed_low and piece.closed_high)):
        raise NotASet
    return piece


def _point(tree: Tree) -> Piece:
    end = _end(tree)
    if is_infinite(end):
        raise NotASet
    return Piece(end, end, True, True)


def _end(tree: Tree) -> Tree:
    tree = tree.value if isinstance(tree, Quantity) else tree
    position(tree)
    return tree


def position(tree: Tree) -> float:
    """Where an end lies, as a float; only used to order ends that are not equal."""
    if is_infinite(tree):
        return float("inf") if tree == _INFINITY else float("-inf")
    if symbols(tree):
        raise NotASet
    value = approximate(tree)
    if value is None or value.imag:
        raise NotASet
    return value.real


def _inequalities(operators: tuple[str, ...], operands: tuple[Tree, ...]) -> RealSet:
    """A chain with one side in the variable and constants elsewhere."""
    if not set(operators) <= {*ORDERED, "="}:
        raise NotASet
    total: RealSet = EVERYTHING
    if operators == ("!=",) and any(has_signs(operand) for operand in operands):
        values = written_out(operands[1])
        return _joined([_inequalities(operators, (operands[0], value)) for value in values], (), "and")
    for operator, left, right in zip(operators, operands, operands[1:], strict=False):
        if symbols(left) and not symbols(right):
            part = _solved(operator, left, right)
        elif symbols(right) and not symbols(left):
            part = _solved(_FLIPPED[operator], right, left)
        else:
            raise NotASet
        total = part if total is EVERYTHING else Combined("intersection", total, part)
    return total


def _solved(operator: str, side: Tree, bound: Tree) -> RealSet:
    """`side operator bound`, where `side` is a name, linear in one variable, or the absolute value of such."""
    bound = bound.value if isinstance(bound, Quantity) else bound
    match side:
        case Apply("abs", (inner,)):
            minus = Product((MINUS_ONE, bound))
            if operator in ("<", "<=", "="):
                operation = "intersection"
            else:
                operation = "union"
            return Combined(operation, _solved(operator, inner, bound), _solved(_FLIPPED[operator], inner, minus))
    if not is_name(side):
        factor, offset = _linear(side)
        bound = Quotient(Sum((bound, Number(-offset))), Number(factor))
        operator = operator if factor > 0 else _FLIPPED[operator]
    return _ray(operator, bound)


def _linear(side: Tree) -> tuple[Fraction, Fraction]:
    try:
        form = exact(side)
    except NotExact:
        raise NotASet from None
    variable = [mono for mono in form.top if mono != ONE]
    simple = form.bottom == UNIT and len(variable) == 1 and len(symbols(side)) == 1
    if not simple or len(variable[0]) != 1 or next(iter(variable[0]))[1] != 1 or next(iter(variable[0]))[0][0] != "sym":
        raise NotASet
    return Fraction(form.top[variable[0]]), Fraction(form.top.get(ONE, 0))


def _ray(operator: str, bound: Tree) -> RealSet:
    if is_infinite(bound):
        return EVERYTHING
    end = _end(bound)
    match operator:
        case "<" | "<=":
            return Piece(_MINUS_INFINITY, end, False, operator == "<=")
        case ">" | ">=":
            return Piece(end, _INFINITY, operator == ">=", False)
        case "=":
            return Piece(end, end, True, True)
    return Combined("difference", EVERYTHING, Piece(end, end, True, True))
