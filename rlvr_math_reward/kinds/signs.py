"""Plus-minus signs written out: `a +- b` is the two values `a + b` and `a - b`."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import product

from rlvr_math_reward.exact.algebra import TooLarge
from rlvr_math_reward.policy import MAX_SIGNS
from rlvr_math_reward.tree import Apply, Number, Product, Quotient, Sequence, Sum, Tree, children

__all__ = ["has_signs", "written_out"]

_SIGNS = ("plusminus", "minusplus")
_BEARING = (Sum, Product, Quotient, Apply)
"""What a sign inside makes several of."""


def has_signs(tree: Tree) -> bool:
    if isinstance(tree, Apply) and tree.name in _SIGNS:
        return True
    return isinstance(tree, _BEARING) and any(map(has_signs, children(tree)))


def written_out(tree: Tree) -> list[Tree]:
    """Every value that the signs stand for: signs are independent, and a minus-plus goes against the first of them.

    A tuple with a sign in it is several tuples.

    Raises:
        TooLarge: there are more than `MAX_SIGNS` values.
    """
    pair = isinstance(tree, Sequence) and tree.opening == "(" and any(has_signs(item) for item in tree.items)
    if not has_signs(tree) and not pair:
        return [tree]
    count = _count(tree, "plusminus") or _count(tree, "minusplus")
    if 2**count > MAX_SIGNS:
        raise TooLarge(f"plus-minus signs for more than {MAX_SIGNS} values")
    follows = _count(tree, "plusminus") > 0
    return [_signed(tree, iter(choice), choice[0] if follows else None) for choice in product((1, -1), repeat=count)]


def _count(tree: Tree, name: str) -> int:
    return (isinstance(tree, Apply) and tree.name == name) + sum(_count(child, name) for child in children(tree))


def _signed(tree: Tree, signs: Iterator[int], first: int | None) -> Tree:
    """The tree with its signs chosen; `first` is what a minus-plus goes against, None where it is a sign of its own."""

    def inside(parts: tuple[Tree, ...]) -> tuple[Tree, ...]:
        return tuple(_signed(part, signs, first) for part in parts)

    match tree:
        case Apply("plusminus" | "minusplus" as name, (inner,)):
            sign = -first if name == "minusplus" and first is not None else next(signs)
            return Product((Number(Fraction(sign)), _signed(inner, signs, first)))
        case Sum(parts):
            return Sum(inside(parts))
        case Product(parts):
            return Product(inside(parts))
        case Quotient(top, bottom):
            return Quotient(*inside((top, bottom)))
        case Apply(name, parts):
            return Apply(name, inside(parts))
        case Sequence(opening, items, closing, joiner):
            return Sequence(opening, inside(items), closing, joiner)
    return tree
