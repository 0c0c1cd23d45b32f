"""Several values: tuples part by part, lists and sets in any order, systems by name.

`(a, b)` is ordered; `a, b`, `{a, b}`, "a and b" are not. Repeats count when the gold has them. `a +- b` is two
values. The number of values must match: a prediction that lists more than the gold is a hedge.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from rlvr_math_reward.kinds.answer import Answer, Comparer, Match, all_of, is_name, name_of, named_value, no
from rlvr_math_reward.kinds.interval import could_be
from rlvr_math_reward.kinds.interval import match as match_sets
from rlvr_math_reward.kinds.signs import has_signs, written_out
from rlvr_math_reward.tree import Apply, Constant, Matrix, Number, Product, Relation, Sequence, Symbol, Tree, render

__all__ = ["claims", "expanded", "match"]

_ELLIPSIS = Constant("...")


@dataclass(frozen=True, slots=True)
class Parts:
    """The parts of an answer: in brackets they have an order, and each may have a name."""

    tree: Tree
    names: tuple[str, ...] = ()
    ordered: bool = False

    @property
    def values(self) -> tuple[Tree, ...]:
        return self.tree.items if isinstance(self.tree, Sequence) else (self.tree,)


def claims(gold: Answer) -> bool:
    parts = _parts(gold.tree)
    return isinstance(parts.tree, Sequence) or has_signs(named_value(parts.tree))


def match(gold: Answer, prediction: Answer, compare: Comparer) -> Match:
    wanted, found = _parts(gold.tree), _parts(prediction.tree)
    if wanted.names and found.names:
        return _by_name(wanted, found, compare)
    if wanted.ordered:
        assert isinstance(wanted.tree, Sequence)
        named = found.names and not found.ordered
        items = _in_usual_order(found) if named else _ordered_items(wanted.tree, found.tree)
        return _match_tuple(wanted.tree, items, prediction, compare)
    if wanted.names and found.ordered:
        return _in_order(_in_usual_order(wanted), list(found.values), compare)
    values = expanded(_unnamed(gold.tree))
    others = _listed(_unnamed(prediction.tree), several=len(values) > 1)
    if others is None:
        return no(f"{prediction.text!r} is no list of values")
    if (
        _is_offered_again(_unnamed(prediction.tree), others, compare)
        and len(values) > 1
        and not _repeats(values, compare)
    ):
        return no(f"{prediction.text!r} offers values twice")
    if _ELLIPSIS in values or _ELLIPSIS in others:
        return _in_order(values, others, compare)
    return _in_any_order(values, others, compare)


def _parts(tree: Tree) -> Parts:
    """`(x, y) = (1, 2)` and `x = 1, y = 2` have names; `(1, 2)` has an order; `S = {1, 2}` and `1, 2` have neither."""
    match tree:
        case Sequence("", items, "", _) if len(items) > 1 and all(name_of(item) for item in items):
            names = tuple(str(name_of(item)) for item in items)
            single = all(len(item.operands) == 2 for item in items if isinstance(item, Relation))
            if single and len(set(names)) == len(names):
                return Parts(Sequence("", tuple(named_value(item) for item in items), ""), names)
        case Relation(("=",), (Sequence("(", names_, ")", _) as left, Sequence() as right)) if _is_tuple_of_names(left):
            return Parts(right, tuple(render(name) for name in names_), ordered=True)
    bare = _unnamed(tree)
    single_tuple = isinstance(bare, Sequence) and bare.opening in ("(", "<", "[") and len(written_out(bare)) == 1
    return Parts(bare, ordered=single_tuple)


_USUAL_ORDERS = (("m", "b"), ("rho", "theta", "phi"))
"""Names that stand together in an order which is not that of the alphabet."""


def _in_usual_order(parts: Parts) -> list[Tree]:
    """The values of `y = 1, x = 2` in the order of a point: x first."""
    usual = next((order for order in _USUAL_ORDERS if set(parts.names) == set(order)), tuple(sorted(parts.names)))
    values = dict(zip(parts.names, parts.values, strict=True))
    return [values[name] for name in usual]


def _by_name(wanted: Parts, found: Parts, compare: Comparer) -> Match:
    if set(wanted.names) != set(found.names) or len(found.names) != len(found.values):
        return no(f"the names are {', '.join(found.names)}, not {', '.join(wanted.names)}")
    values = dict(zip(found.names, found.values, strict=True))
    return _in_order(list(wanted.values), [values[name] for name in wanted.names], compare)


def _unnamed(tree: Tree) -> Tree:
    """`S = {1, 2}`, `x in {1, 2}` and `P(1, 2)` without what stands on the left."""
    match tree:
        case Relation(("=",) | ("in",), (left, Sequence() as right)) if is_name(left) or _is_tuple_of_names(left):
            return right
        case Relation(("=",), (left, right)) if is_name(left) and _is_labelled(right):
            return _unnamed(right)
        case Product((Symbol(), point)) if _is_labelled(tree):
            return point
    return tree


def _is_tuple_of_names(tree: Tree) -> bool:
    if not isinstance(tree, Sequence) or tree.opening != "(":
        return False
    return all(map(is_name, tree.items)) and len(set(tree.items)) == len(tree.items)


def _is_labelled(tree: Tree) -> bool:
    """`P(3, 5)`: a point with its letter."""
    match tree:
        case Product((Symbol(name), Sequence("(", _, ")", _))):
            return len(name) == 1 and name.isupper()
    return False


# -- ordered -----------------------------------------------------------------------------------------------------------
def _match_tuple(gold: Sequence, items: list[Tree] | None, prediction: Answer, compare: Comparer) -> Match:
    if items is not None:
        return _in_order(list(gold.items), items, compare)
    if could_be(prediction.tree):  # a gold (a, b) may be a point or an open interval
        return match_sets(Answer(render(gold), gold), prediction, compare)
    return no(f"{prediction.text!r} is no tuple like {render(gold)}")


def _ordered_items(gold: Sequence, prediction: Tree) -> list[Tree] | None:
    match prediction:
        case Sequence("{", (Sequence() as single,), "}", _):
            return _ordered_items(gold, single)
        case Sequence(opening, items, closing, _) if opening:
            same = (opening, closing) == (gold.opening, gold.closing)
            vectors = {(opening, closing), (gold.opening, gold.closing)} <= {("(", ")"), ("<", ">"), ("[", "]")}
            flat = "[" not in (opening, gold.opening) or opening == gold.opening or len(items) > 2
            return list(items) if same or (vectors and flat) else None
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
    braces = [isinstance(tree, Sequence) and tree.opening == "{" for tree in (gold, prediction)]
    if braces[0] != braces[1]:
        return no("a set is not its element")
    return compare.answer(gold, prediction)


# -- unordered ---------------------------------------------------------------------------------------------------------
def _listed(tree: Tree, *, several: bool) -> list[Tree] | None:
    """The values of an unordered prediction; None where it is no list."""
    match tree:
        case Sequence("" | "{", _, _, _) | Apply("union", (Sequence("{"), _)):
            return expanded(tree)
        case Sequence():
            return written_out(tree)
        case Constant("R" | "Z" | "N" | "Q" | "C" | "empty"):
            return None
        case Number(value, False, True) if several:
            return _groups(value.numerator)
    return expanded(tree) if several else [tree]


def _groups(number: int) -> list[Tree]:
    """`81,256` for a gold that is a list: 81 and 256. `1,005` is one number all the same."""
    groups = f"{number:,}".split(",")
    listed = all(group[0] != "0" for group in groups)
    return [Number(Fraction(int(group))) for group in groups] if listed else [Number(Fraction(number))]


def _is_offered_again(tree: Tree, values: list[Tree], compare: Comparer) -> bool:
    """`1, 2, 5 or 1, 2`: alternatives that share values, and no list that repeats one."""
    return isinstance(tree, Sequence) and tree.joiner == "or" and _repeats(values, compare)


def expanded(tree: Tree) -> list[Tree]:
    """The single values of a list or set: nested bare lists opened, plus-minus signs written out, names shared."""
    match tree:
        case Sequence("" | "{", items, _, _):
            return [value for item in _with_shared_name(items) for value in _opened(item)]
        case Apply("union", (Sequence("{") as left, Sequence("{") as right)):
            return [*expanded(left), *expanded(right)]
        case Relation(("=",), (left, right)) if is_name(left):
            return [Relation(("=",), (left, value)) for value in expanded(right)]
    return written_out(tree)


def _opened(item: Tree) -> list[Tree]:
    """A bare list in a list is part of it; a set in a set, or one solution of a system, is one of its values."""
    if isinstance(item, Sequence) and (item.opening == "{" or _parts(item).names):
        return [item]
    return expanded(item)


def _with_shared_name(items: tuple[Tree, ...]) -> list[Tree]:
    """`n = 2, 3, 4` gives its name to every value that carries none."""
    first = items[0] if items else None
    match items:
        case (Relation(("==",), (name, _)), *_, Apply("mod", (_, modulus))):  # `n = 1, 3 (mod 8)`
            return [Relation(("==",), (name, Apply("mod", (_without_modulus(item), modulus)))) for item in items]
    if not (isinstance(first, Relation) and first.operators == ("=",) and is_name(first.operands[0])):
        return list(items)
    if any(isinstance(item, Relation) for item in items[1:]):
        return list(items)
    return [first, *(Relation(("=",), (first.operands[0], item)) for item in items[1:])]


def _without_modulus(item: Tree) -> Tree:
    match item:
        case Relation(("==",), (_, residue)) | Apply("mod", (residue, _)):
            return residue
    return item


def _in_any_order(golds: list[Tree], predictions: list[Tree], compare: Comparer) -> Match:
    wanted, found = golds, predictions
    if not _repeats(golds, compare):
        found = _distinct(predictions, compare)
    if len(found) != len(wanted):
        shared = _shared(wanted, found, compare) if len(found) < len(wanted) else 0
        return Match(False, "exact", f"{len(found)} values, not {len(wanted)}", (shared, len(wanted)))
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


def _shared(golds: list[Tree], predictions: list[Tree], compare: Comparer) -> int:
    """How many of the predictions are among the golds."""
    return sum(any(_item(gold, prediction, compare).equal for gold in golds) for prediction in predictions)


def _repeats(items: list[Tree], compare: Comparer) -> bool:
    return len(_distinct(items, compare)) < len(items)


def _distinct(items: list[Tree], compare: Comparer) -> list[Tree]:
    kept: list[Tree] = []
    for item in dict.fromkeys(items):
        if not any(render(item) == render(other) or _item(other, item, compare).equal for other in kept):
            kept.append(item)
    return kept
