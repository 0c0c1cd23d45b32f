"""Sets of real numbers: intervals, unions, inequalities in one variable, set-builder, the named sets and the empty set.

Two sets are equal when they hold the same boundary points and the same gaps between them, so unions may come in any
order and touch. End points compare as values; a set with an end that is no constant compares as it is written.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cmp_to_key

from rlvr_math_reward.kinds.answer import Answer, Comparer, Match, is_name, no, yes
from rlvr_math_reward.kinds.sets import ORDERED, Combined, NotASet, Piece, RealSet, is_infinite, read
from rlvr_math_reward.kinds.sets import position as position_of
from rlvr_math_reward.parser.wording import symbols
from rlvr_math_reward.tree import (
    Apply,
    Constant,
    Relation,
    Sequence,
    SetBuilder,
    Tree,
    render,
)

__all__ = ["claims", "match"]

_DISCRETE = ("Z", "N", "Q", "C")


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
            return mixed or (opening == "(" and any(is_infinite(item) for item in items))
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


# -- comparing ---------------------------------------------------------------------------------------------------------
def _same(left: RealSet, right: RealSet, compare: Comparer) -> Match:
    ends = _boundary([*_ends(left), *_ends(right)], compare)
    if _hedges(right, ends):
        return no("the parts joined by `or` overlap, so they are several answers")
    for position in range(2 * len(ends) + 1):
        if _member(left, position, ends) != _member(right, position, ends):
            where = f"at {render(ends[position // 2][0])}" if position % 2 else "between its ends"
            return no(f"the sets differ {where}")
    return yes("both sets hold the same numbers")


def _hedges(reals: RealSet, ends: list[list[Tree]]) -> bool:
    """`[1,3] or (1,3)` is one answer and another, not their union."""
    match reals:
        case Combined(operation, left, right):
            both = operation == "either" and any(
                _member(left, position, ends) and _member(right, position, ends)
                for position in range(2 * len(ends) + 1)
            )
            return both or _hedges(left, ends) or _hedges(right, ends)
    return False


def _ends(reals: RealSet) -> list[Tree]:
    match reals:
        case Piece(low, high, _, _):
            return [end for end in (low, high) if not is_infinite(end)]
        case Combined(_, left, right):
            return [*_ends(left), *_ends(right)]
    return []


def _boundary(ends: list[Tree], compare: Comparer) -> list[list[Tree]]:
    """The distinct ends in ascending order, each with all its written forms."""

    def order(first: Tree, second: Tree) -> int:
        a, b = position_of(first), position_of(second)
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
        case Combined("union" | "either", left, right):
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
    if is_infinite(end):
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
    if is_infinite(gold) or is_infinite(prediction):
        return Match(gold == prediction, "text", "infinity is only itself")
    if isinstance(gold, Sequence | SetBuilder | Relation) or isinstance(prediction, Sequence | SetBuilder | Relation):
        return no(f"{text!r} is written in another shape than the gold")
    return scalar(gold, prediction)
