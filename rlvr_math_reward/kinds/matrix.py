"""Matrices: shape and entries. A scalar factor in front is multiplied in; a column equals the tuple of its entries."""

from __future__ import annotations

from fractions import Fraction

from rlvr_math_reward.kinds.answer import Answer, Comparer, Match, all_of, is_name, named_value, no
from rlvr_math_reward.tree import (
    Apply,
    Matrix,
    Number,
    Power,
    Product,
    Quotient,
    Relation,
    Sequence,
    Sum,
    Symbol,
    Tree,
    children,
)

__all__ = ["claims", "match", "rows_of"]

Rows = tuple[tuple[Tree, ...], ...]


def claims(gold: Answer) -> bool:
    tree = _unnamed(gold.tree)
    if _is_vector_sum(tree):
        return False
    lone = isinstance(tree, Sequence) and len(tree.items) == 1 and isinstance(tree.items[0], Matrix)
    return ((lone or not isinstance(tree, Sequence)) and rows_of(tree) is not None) or _nested(tree) is not None


def match(gold: Answer, prediction: Answer, compare: Comparer) -> Match:
    wanted, found = rows_of(_unnamed(gold.tree)), rows_of(_unnamed(prediction.tree))
    if wanted is None or found is None:
        return no(f"{prediction.text!r} is no matrix")
    if (len(wanted), len(wanted[0])) != (len(found), len(found[0])):
        shapes = f"{len(found)} by {len(found[0])}, not {len(wanted)} by {len(wanted[0])}"
        return no(f"the matrix is {shapes}")
    pairs = [(g, p) for left, right in zip(wanted, found, strict=True) for g, p in zip(left, right, strict=True)]
    return all_of((compare.scalar(g, p) for g, p in pairs), "every entry is equal")


def _unnamed(tree: Tree) -> Tree:
    """The right side of `A = ...` and of `A^{-1} = ...`."""
    match tree:
        case Relation(("=",), (Power(left, _), right)) if is_name(left):
            return right
    return named_value(tree)


def rows_of(tree: Tree) -> Rows | None:
    """The entries of a matrix, of `[[..], [..]]`, of a tuple as a column, or of a scalar times one of these."""
    match tree:
        case Matrix(rows, "matrix"):
            return rows
        case Sequence("[" | "(", (Matrix() as inner,), "]" | ")", _):
            return rows_of(inner)
        case Power(inner, Symbol("T" | "top")):
            turned = _row_vector(inner) or rows_of(inner)
            return None if turned is None else tuple(zip(*turned, strict=True))
        case Sequence("(" | "<", items, ")" | ">", _) if len(items) > 1:
            return tuple((item,) for item in items)
        case Sequence("[", _, "]", _):
            return _nested(tree) or (tuple((item,) for item in tree.items) if len(tree.items) > 1 else None)
        case Product(factors):
            return _scaled(factors)
        case Quotient(top, bottom):
            above = rows_of(top)
            return None if above is None else tuple(tuple(Quotient(entry, bottom) for entry in row) for row in above)
    return None


def _row_vector(tree: Tree) -> Rows | None:
    """`[4, -7, 1]` before a transposition."""
    match tree:
        case Sequence("[" | "(" | "<", items, _, _) if _nested(tree) is None:
            return (items,)
    return None


def _nested(tree: Tree) -> Rows | None:
    """`[[1, 2], [3, 4]]`: brackets in brackets, of equal lengths."""
    match tree:
        case Sequence("[", items, "]", _) if items and all(_is_row(item) for item in items):
            rows: Rows = tuple(item.items for item in items if isinstance(item, Sequence))
            return rows if all(len(row) == len(rows[0]) for row in rows) else None
    return None


def _is_row(item: Tree) -> bool:
    return isinstance(item, Sequence) and item.opening == "[" and item.closing == "]"


def _scaled(factors: tuple[Tree, ...]) -> Rows | None:
    vectors = [factor for factor in factors if isinstance(factor, Matrix | Sequence)]
    if len(vectors) != 1 or (isinstance(vectors[0], Sequence) and vectors[0].opening not in ("(", "<", "[")):
        return None
    rows = rows_of(vectors[0])
    rest = tuple(factor for factor in factors if factor is not vectors[0]) or (Number(Fraction(1)),)
    return None if rows is None else tuple(tuple(Product((*rest, entry)) for entry in row) for row in rows)


def _is_vector_sum(tree: Tree) -> bool:
    """`a + b t` with column vectors: a line, not one matrix."""
    return isinstance(tree, Sum) and any(isinstance(child, Symbol | Apply) for child in children(tree))
