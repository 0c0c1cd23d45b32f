"""Functions by cases: each value with its condition, in any order."""

from __future__ import annotations

from rlvr_math_reward.kinds.answer import Answer, Comparer, Match, all_of, named_value, no
from rlvr_math_reward.tree import Apply, Tree

__all__ = ["claims", "match"]


def claims(gold: Answer) -> bool:
    return _pieces(gold.tree) is not None


def match(gold: Answer, prediction: Answer, compare: Comparer) -> Match:
    wanted, found = _pieces(gold.tree), _pieces(prediction.tree)
    if wanted is None or found is None or len(wanted) != len(found):
        return no(f"{prediction.text!r} is no function of as many cases")
    left = list(found)
    matches: list[Match] = []
    for value, condition in wanted:
        for index, (other, under) in enumerate(left):
            if compare.answer(condition, under).equal:
                matches.append(compare.answer(value, other))
                del left[index]
                break
        else:
            return no("a condition of the gold is not among the cases")
    return all_of(matches, "every case has its value")


def _pieces(tree: Tree) -> list[tuple[Tree, Tree]] | None:
    """The `(value, condition)` pairs of `cases`, with or without a name before it."""
    match named_value(tree):
        case Apply("cases", parts):
            return list(zip(parts[::2], parts[1::2], strict=True))
    return None
