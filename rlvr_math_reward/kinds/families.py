"""Families with an integer parameter: `pi/4 + k pi, k in Z`. The parameter matches under another name.

Only a gold that declares its parameter has one; `2k + 1` alone is an expression in the variable k.
"""

from __future__ import annotations

from rlvr_math_reward.kinds.answer import Answer, Comparer, Match, no
from rlvr_math_reward.parser.wording import symbols
from rlvr_math_reward.tree import Constant, Relation, Sequence, SetBuilder, Symbol, Tree, renamed, render

__all__ = ["match"]


def match(gold: Answer, prediction: Answer, compare: Comparer) -> Match | None:
    """The match of two families; None where the gold is none."""
    declared, body = _split(gold.tree)
    if declared is None:
        return None
    name, numbers = declared
    other, tree = _split(prediction.tree)
    if other is not None and other[1] != numbers:
        return no(f"the parameter runs over {other[1]}, not {numbers}")
    if other is None and not symbols(tree):
        return no(f"{prediction.text!r} has no parameter")
    candidates = {other[0]} if other is not None else symbols(tree) - symbols(body) or {name}
    if len(candidates) != 1:
        return no(f"{prediction.text!r} has no single parameter")
    (parameter,) = candidates
    if parameter != name and name in symbols(tree):
        return no(f"{prediction.text!r} uses {name} for something else")
    return compare.answer(body, renamed(tree, parameter, name))


def _split(tree: Tree) -> tuple[tuple[str, str] | None, Tree]:
    """`(parameter, its number set)` and what it parametrises."""
    match tree:
        case Sequence("", (*items, Relation(("in",), (Symbol(name), Constant("Z" | "N") as numbers))), "", _) if items:
            body = items[0] if len(items) == 1 else Sequence("", tuple(items), "")
            return (name, render(numbers)), body
        case SetBuilder(element, Relation(("in",), (Symbol(name), Constant("Z" | "N") as numbers))):
            if name in symbols(element) and not isinstance(element, Symbol):
                return (name, render(numbers)), element
    return None, tree
