"""Several values: tuples part by part, lists and sets in any order, systems by name.

`(a, b)` is ordered; `a, b`, `{a, b}`, "a and b" are not. Repeats count when the gold has them. `a +- b` is two
values. The number of values must match: a prediction that lists more than the gold is a hedge.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import product

from rlvr_math_reward.kinds import families, interval
from rlvr_math_reward.kinds.answer import Answer, Comparer, Match, all_of, is_name, name_of, no
from rlvr_math_reward.policy import MAX_SIGNS
from rlvr_math_reward.tree import (
    Apply,
    Constant,
    Matrix,
    Number,
    Product,
    Quotient,
    Relation,
    Sequence,
    Sum,
    Tree,
    children,
    render,
)  # fmt: skip

__all__ = ["claims", "expanded", "match"]

_ELLIPSIS = Constant("...")


def claims(gold: Answer) -> bool:
    return isinstance(_unnamed(gold.tree), Sequence) or _has_signs(gold.tree)


def match(gold: Answer, prediction: Answer, compare: Comparer) -> Match:
    family = families.match(gold, prediction, compare)
    if family is not None:
        return family
    wanted, found = _unnamed(gold.tree), _unnamed(prediction.tree)
    if isinstance(wanted, Sequence) and wanted.opening in ("(", "<", "["):
        return _match_tuple(wanted, found, compare, prediction.text)
    values = expanded(wanted)
    others = _listed(found, several=len(values) > 1)
    if others is None:
        return no(f"{prediction.text!r} is no list of values")
    if _ELLIPSIS in values or _ELLIPSIS in others:
        return _in_order(values, others, compare)
    return _in_any_order(values, others, compare)


def _unnamed(tree: Tree) -> Tree:
    """`(x, y) = (1, 2)`, `S = {1, 2}` and `x in {1, 2}` without what stands on the left."""
    match tree:
        case Relation(("=",), (Sequence("(", names, ")", _), right)) if all(is_name(name) for name in names):
            return right
        case Relation(("=",) | ("in",), (left, Sequence() as right)) if is_name(left):
            return right
        case Relation(("=",), (left, right)) if is_name(left) and _has_signs(right):
            return right
    return tree


# -- ordered -----------------------------------------------------------------------------------------------------------
def _match_tuple(gold: Sequence, prediction: Tree, compare: Comparer, text: str) -> Match:
    items = _ordered_items(gold, prediction)
    if items is None and interval.could_be(prediction):  # a gold (a, b) may be a point or an open interval
        return interval.match(Answer(render(gold), gold), Answer(text, prediction), compare)
    if items is None:
        return no(f"{text!r} is no tuple like {render(gold)}")
    return _in_order(list(gold.items), items, compare)


def _ordered_items(gold: Sequence, prediction: Tree) -> list[Tree] | None:
    match prediction:
        case Sequence(opening, items, closing, _) if opening:
            same = (opening, closing) == (gold.opening, gold.closing)
            vectors = {(opening, closing), (gold.opening, gold.closing)} <= {("(", ")"), ("<", ">"), ("[", "]")}
            flat = "[" not in (opening, gold.opening) or opening == gold.opening or len(items) > 2
            return list(items) if same or (vectors and flat) else None
        case Sequence("", items, _, _) if all(name_of(item) for item in items):
            return [item.operands[1] for item in items if isinstance(item, Relation) and len(item.operands) == 2]
        case Matrix(rows, "matrix") if all(len(row) == 1 for row in rows):
            return [row[0] for row in rows]
    return None


def _in_order(golds: list[Tree], predictions: list[Tree], compare: Comparer) -> Match:
    if len(golds) != len(predictions):
        return Match(False, "exact", f"{len(predictions)} values, not {len(golds)}", (0, len(golds)))
    matches = (_item(g, p, compare) for g, p in zip(golds, predictions, strict=True))
    return all_of(matches, f"all {len(golds)} parts are equal, in order")


def _item(gold: Tree, prediction: Tree, compare: Comparer) -> Match:
    if gold == _ELLIPSIS or prediction == _ELLIPSIS:
        return Match(gold == prediction, "text", "an ellipsis stands only for itself")
    return compare.answer(gold, prediction)


# -- unordered ---------------------------------------------------------------------------------------------------------
def _listed(tree: Tree, *, several: bool) -> list[Tree] | None:
    """The values of an unordered prediction; None where it is no list."""
    match tree:
        case Sequence("" | "{", _, _, _):
            return expanded(tree)
        case Sequence():
            return [tree]
        case Constant("R" | "Z" | "N" | "Q" | "C" | "empty"):
            return None
    return expanded(tree) if several else [tree]


def expanded(tree: Tree) -> list[Tree]:
    """The single values of a list or set: nested bare lists opened, plus-minus signs written out, names shared."""
    match tree:
        case Sequence("" | "{", items, _, _):
            return [value for item in _with_shared_name(items) for value in expanded(item)]
        case Relation(("=",), (left, right)) if is_name(left):
            return [Relation(("=",), (left, value)) for value in expanded(right)]
    return signs_written_out(tree)


def _with_shared_name(items: tuple[Tree, ...]) -> list[Tree]:
    """`n = 2, 3, 4` gives its name to every value that carries none."""
    first = items[0] if items else None
    if not (isinstance(first, Relation) and first.operators == ("=",) and is_name(first.operands[0])):
        return list(items)
    if any(isinstance(item, Relation) for item in items[1:]):
        return list(items)
    return [first, *(Relation(("=",), (first.operands[0], item)) for item in items[1:])]


def _in_any_order(golds: list[Tree], predictions: list[Tree], compare: Comparer) -> Match:
    wanted, found = golds, predictions
    if not _repeats(golds, compare):
        found = _distinct(predictions, compare)
    if len(found) != len(wanted):
        shared = min(len(wanted), sum(any(_item(g, p, compare).equal for g in wanted) for p in found))
        return Match(False, "exact", f"{len(found)} values, not {len(wanted)}",
                     (shared if len(found) < len(wanted) else 0, len(wanted)))  # fmt: skip
    left = list(found)
    matches: list[Match] = []
    for gold in wanted:
        best: Match | None = None
        for index, candidate in enumerate(left):
            match_ = _item(gold, candidate, compare)
            if match_.equal:
                del left[index]
                best = match_
                break
            if match_.equal is None:
                best = match_
        matches.append(best or no(f"{render(gold)} is not among the values"))
    return all_of(matches, f"all {len(wanted)} values are there, in any order")


def _repeats(items: list[Tree], compare: Comparer) -> bool:
    return len(_distinct(items, compare)) < len(items)


def _distinct(items: list[Tree], compare: Comparer) -> list[Tree]:
    kept: list[Tree] = []
    for item in dict.fromkeys(items):
        if not any(render(item) == render(other) or _item(other, item, compare).equal for other in kept):
            kept.append(item)
    return kept


# -- plus and minus ----------------------------------------------------------------------------------------------------
_SIGNS = ("plusminus", "minusplus")


def _has_signs(tree: Tree) -> bool:
    if isinstance(tree, Apply) and tree.name in _SIGNS:
        return True
    return isinstance(tree, Sum | Product | Quotient | Apply) and any(_has_signs(child) for child in children(tree))


def signs_written_out(tree: Tree) -> list[Tree]:
    """`a +- b` as `a + b` and `a - b`; several signs are independent, and a minus-plus goes against the first."""
    count = _count(tree) if _has_signs(tree) else 0
    if not count or 2**count > MAX_SIGNS:
        return [tree]
    return [_signed(tree, iter(choice), choice[0]) for choice in product((1, -1), repeat=count)]


def _count(tree: Tree) -> int:
    return (isinstance(tree, Apply) and tree.name == "plusminus") + sum(_count(child) for child in children(tree))


def _signed(tree: Tree, signs: Iterator[int], first: int) -> Tree:
    match tree:
        case Apply("plusminus", (inner,)):
            return Product((Number(Fraction(next(signs))), _signed(inner, signs, first)))
        case Apply("minusplus", (inner,)):
            return Product((Number(Fraction(-first)), _signed(inner, signs, first)))
        case Sum(parts):
            return Sum(tuple(_signed(part, signs, first) for part in parts))
        case Product(parts):
            return Product(tuple(_signed(part, signs, first) for part in parts))
        case Quotient(top, bottom):
            return Quotient(_signed(top, signs, first), _signed(bottom, signs, first))
        case Apply(name, parts):
            return Apply(name, tuple(_signed(part, signs, first) for part in parts))
    return tree
