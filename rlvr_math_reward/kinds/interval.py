"""Sets of real numbers: intervals, unions, inequalities in one variable, set-builder, the named sets and the empty set.

Two sets are equal when they hold the same boundary points and the same gaps between them, so unions may come in any
order and touch. End points compare as values; a set with an end that is no constant compares as it is written.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cmp_to_key

from rlvr_math_reward.algebra import ONE, UNIT, NotExact
from rlvr_math_reward.exact import exact
from rlvr_math_reward.kinds.answer import Answer, Comparer, Match, is_name, no, yes
from rlvr_math_reward.kinds.signs import has_signs, written_out
from rlvr_math_reward.numeric import value as numeric_value
from rlvr_math_reward.tree import (
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
    render,
)
from rlvr_math_reward.wording import symbols

__all__ = ["claims", "match"]

ORDERED = ("<", "<=", ">", ">=", "!=")
_FLIPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "!=": "!=", "=": "="}
_DISCRETE = ("Z", "N", "Q", "C")
_INFINITY, _MINUS_INFINITY = Constant("oo"), Product((Number(Fraction(-1)), Constant("oo")))


@dataclass(frozen=True, slots=True)
class Piece:
    """One interval; a point where both ends are the same and closed."""

    low: Tree
    high: Tree
    closed_low: bool
    closed_high: bool


@dataclass(frozen=True, slots=True)
class Combined:
    """`union`, `intersection` or `difference` of two sets."""

    operation: str
    left: RealSet
    right: RealSet


RealSet = Piece | Combined | None
"""A set as it was written; None is the empty set."""
EVERYTHING = Piece(_MINUS_INFINITY, _INFINITY, False, False)


class NotASet(Exception):
    """The tree is no set of real numbers with constant ends."""


# -- the kind ----------------------------------------------------------------------------------------------------------
def claims(gold: Answer) -> bool:
    tree = gold.tree
    match tree:
        case Constant("R" | "Z" | "N" | "Q" | "C" | "empty") | SetBuilder():
            return True
        case Sequence("", items, "", _):
            return len(items) > 1 and all(_is_part(item) and claims(Answer("", item)) for item in items)
        case Sequence(opening, items, closing, _) if len(items) == 2:
            mixed = (opening, closing) in (("[", ")"), ("(", "]"), ("[", "]"))
            return mixed or (opening == "(" and any(_is_infinite(item) for item in items))
        case Apply("union" | "intersection" | "difference", _):
            return True
        case Relation(("in",), (left, _)):
            return is_name(left)
        case Relation(operators, operands) if set(operators) <= set(ORDERED):
            unknown = [operand for operand in operands if symbols(operand)]
            return len(unknown) == 1 and (is_name(unknown[0]) or len(symbols(unknown[0])) == 1)
    return False


def match(gold: Answer, prediction: Answer, compare: Comparer) -> Match:
    named = _named_set(gold.tree), _named_set(prediction.tree)
    if any(name in _DISCRETE for name in named):
        same = named[0] == named[1]
        return Match(same, "exact", f"{prediction.text!r} is {'the same set' if same else 'another set'}")
    names = _variable(gold.tree), _variable(prediction.tree)
    if None not in names and names[0] != names[1]:
        return no(f"the variable is {names[1]}, not {names[0]}")
    try:
        wanted = read(gold.tree)
    except NotASet:
        return _as_written(gold, prediction, compare)
    try:
        found = read(prediction.tree)
    except NotASet:
        return no(f"{prediction.text!r} is no set of real numbers")
    return _same(wanted, found, compare)


def _is_part(item: Tree) -> bool:
    return isinstance(item, Relation) or (isinstance(item, Sequence) and (item.opening, item.closing) != ("(", ")"))


def could_be(tree: Tree) -> bool:
    """Whether a tree other than a tuple reads as a set, for a gold `(a, b)` that is a point or an interval."""
    if isinstance(tree, Sequence) and tree.opening == "(" and tree.closing == ")":
        return False
    if _as_interval(tree) is not tree:
        return True
    try:
        read(tree)
    except NotASet:
        return False
    return not isinstance(tree, Sequence) or tree.opening != "{"


def _named_set(tree: Tree) -> str | None:
    match tree:
        case Relation(("in",), (_, Constant(name))):
            return name
        case Constant(name):
            return name
    return None


def _variable(tree: Tree) -> str | None:
    match tree:
        case Relation(operators, operands) if operators[0] in (*ORDERED, "in"):
            names = [render(operand) for operand in operands if is_name(operand)]
            return names[0] if len(names) == 1 else None
        case Sequence("", items, "", _):
            found = {_variable(item) for item in items}
            return found.pop() if len(found) == 1 else None
    return None


def _is_infinite(tree: Tree) -> bool:
    match tree:
        case Constant("oo"):
            return True
        case Product((Number(), inner)):
            return _is_infinite(inner)
    return False


# -- reading -----------------------------------------------------------------------------------------------------------
def read(tree: Tree) -> RealSet:
    """The set that a tree describes.

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
        case Relation(operators, operands):
            return _inequalities(operators, operands)
        case SetBuilder(element, condition) if is_name(element) or isinstance(element, Relation):
            return _condition(element, condition)
        case Sequence("", (Relation(("!=",), (name, _)) as first, *rest), "", _) if not _has_relation(rest):
            return _joined([read(part) for part in (first, *(Relation(("!=",), (name, v)) for v in rest))], (), "and")
        case Sequence("", items, "", joiner) if joiner == "or" or all(isinstance(item, Relation) for item in items):
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
    if joiner == "or" or (joiner == "," and equations):
        return _union(sets)
    total = sets[0]
    for part in sets[1:]:
        total = Combined("intersection", total, part)
    return total


def _union(sets: list[RealSet]) -> RealSet:
    total: RealSet = None
    for part in sets:
        total = part if total is None else Combined("union", total, part)
    return total


def _interval(low: Tree, high: Tree, closed_low: bool, closed_high: bool) -> Piece:
    if (closed_low and _is_infinite(low)) or (closed_high and _is_infinite(high)):
        raise NotASet  # no interval holds infinity
    piece = Piece(_end(low), _end(high), closed_low, closed_high)
    first, last = _position(piece.low), _position(piece.high)
    if first > last or (first == last and not (piece.closed_low and piece.closed_high)):
        raise NotASet
    return piece


def _point(tree: Tree) -> Piece:
    end = _end(tree)
    if _is_infinite(end):
        raise NotASet
    return Piece(end, end, True, True)


def _end(tree: Tree) -> Tree:
    tree = tree.value if isinstance(tree, Quantity) else tree
    _position(tree)
    return tree


def _position(tree: Tree) -> float:
    """Where an end lies, as a float; only used to order ends that are not equal."""
    if _is_infinite(tree):
        return float("inf") if tree == _INFINITY else float("-inf")
    if symbols(tree):
        raise NotASet
    if type(tree) is Number:
        return float(tree.value)
    value = numeric_value(tree)
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
            minus = Product((Number(Fraction(-1)), bound))
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
    return form.top[variable[0]], form.top.get(ONE, Fraction(0))


def _ray(operator: str, bound: Tree) -> RealSet:
    if _is_infinite(bound):
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


# -- comparing ---------------------------------------------------------------------------------------------------------
def _same(left: RealSet, right: RealSet, compare: Comparer) -> Match:
    ends = _boundary([*_ends(left), *_ends(right)], compare)
    for position in range(2 * len(ends) + 1):
        if _member(left, position, ends) != _member(right, position, ends):
            where = f"at {render(ends[position // 2][0])}" if position % 2 else "between its ends"
            return no(f"the sets differ {where}")
    return yes("both sets hold the same numbers")


def _ends(reals: RealSet) -> list[Tree]:
    match reals:
        case Piece(low, high, _, _):
            return [end for end in (low, high) if not _is_infinite(end)]
        case Combined(_, left, right):
            return [*_ends(left), *_ends(right)]
    return []


def _boundary(ends: list[Tree], compare: Comparer) -> list[list[Tree]]:
    """The distinct ends in ascending order, each with all its written forms."""

    def order(first: Tree, second: Tree) -> int:
        a, b = _position(first), _position(second)
        if abs(a - b) <= 1e-9 * max(1.0, abs(a), abs(b)) and compare.scalar(first, second).equal:
            return 0
        return -1 if a < b else 1

    groups: list[list[Tree]] = []
    for end in sorted(dict.fromkeys(ends), key=cmp_to_key(order)):
        if groups and order(groups[-1][0], end) == 0:
            groups[-1].append(end)
        else:
            groups.append([end])
    return groups


def _member(reals: RealSet, position: int, ends: list[list[Tree]]) -> bool:
    """Whether the boundary point (odd positions) or the gap (even) belongs to the set."""
    match reals:
        case None:
            return False
        case Combined("union", left, right):
            return _member(left, position, ends) or _member(right, position, ends)
        case Combined("intersection", left, right):
            return _member(left, position, ends) and _member(right, position, ends)
        case Combined(_, left, right):
            return _member(left, position, ends) and not _member(right, position, ends)
        case Piece(low, high, closed_low, closed_high):
            first, last = _index(low, ends, -1), _index(high, ends, 2 * len(ends) + 1)
            return first < position < last or (position == first and closed_low) or (position == last and closed_high)
    raise TypeError(f"not a set: {reals!r}")


def _index(end: Tree, ends: list[list[Tree]], infinite: int) -> int:
    if _is_infinite(end):
        return infinite
    return 2 * next(i for i, group in enumerate(ends) if end in group) + 1


def _as_written(gold: Answer, prediction: Answer, compare: Comparer) -> Match:
    """Sets with ends that are no constants: the same shape, end by end."""
    return _parallel(_as_interval(gold.tree), _as_interval(prediction.tree), compare.scalar, prediction.text)


def _as_interval(tree: Tree) -> Tree:
    """`a < x <= b` as `(a, b]`, whatever a and b are; any other tree as it is."""
    match tree:
        case Relation((("<" | "<=") as first, ("<" | "<=") as second), (low, name, high)) if is_name(name):
            return Sequence("(" if first == "<" else "[", (low, high), ")" if second == "<" else "]")
        case Relation(((">" | ">=") as first, (">" | ">=") as second), (high, name, low)) if is_name(name):
            return Sequence("(" if second == ">" else "[", (low, high), ")" if first == ">" else "]")
    return tree


def _parallel(gold: Tree, prediction: Tree, scalar: Callable[[Tree, Tree], Match], text: str) -> Match:
    match gold, prediction:
        case Sequence(), Sequence():
            same = (gold.opening, gold.closing, len(gold.items)) == (
                prediction.opening, prediction.closing, len(prediction.items))  # fmt: skip
            pairs = list(zip(gold.items, prediction.items, strict=False))
        case Apply(), Apply():
            same = (gold.name, len(gold.args)) == (prediction.name, len(prediction.args))
            pairs = list(zip(gold.args, prediction.args, strict=False))
        case SetBuilder(), SetBuilder():
            same, pairs = True, [(gold.element, prediction.element), (gold.condition, prediction.condition)]
        case Relation(), Relation():
            same = gold.operators == prediction.operators
            pairs = list(zip(gold.operands, prediction.operands, strict=False))
        case _:
            return _written_value(gold, prediction, scalar, text)
    if not same:
        return no(f"{text!r} is written in another shape than the gold")
    for left, right in pairs:
        found = _parallel(left, right, scalar, text)
        if not found.equal:
            return found
    return yes("both sets are written with equal ends")


def _written_value(gold: Tree, prediction: Tree, scalar: Callable[[Tree, Tree], Match], text: str) -> Match:
    if _is_infinite(gold) or _is_infinite(prediction):
        return Match(gold == prediction, "text", "infinity is only itself")
    if isinstance(gold, Sequence | SetBuilder | Relation) or isinstance(prediction, Sequence | SetBuilder | Relation):
        return no(f"{text!r} is written in another shape than the gold")
    return scalar(gold, prediction)
