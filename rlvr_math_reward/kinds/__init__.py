"""The kinds of answer, in the order in which they claim a gold. The gold decides; a prediction is read as its kind."""

from __future__ import annotations

from types import ModuleType

from rlvr_math_reward.kinds import (
    choice,
    collection,
    families,
    interval,
    matrix,
    piecewise,
    quantity,
    relation,
    scalar,
    words,
)
from rlvr_math_reward.kinds.answer import Answer, Comparer, Match

__all__ = ["KINDS", "classify", "match"]

KINDS: dict[str, ModuleType] = {
    "choice": choice,
    "words": words,
    "matrix": matrix,
    "piecewise": piecewise,
    "interval": interval,
    "collection": collection,
    "quantity": quantity,
    "scalar": scalar,
    "relation": relation,
}


def match(kind: str, gold: Answer, prediction: Answer, compare: Comparer) -> Match:
    """Whether the prediction, read as this kind, is the gold."""
    family = families.match(gold, prediction, compare)
    if family is not None:
        return family
    found: Match = KINDS[kind].match(gold, prediction, compare)
    return found


def classify(gold: Answer) -> str:
    """The name of the first kind that claims the gold.

    Example:
        >>> from rlvr_math_reward.parser import parse
        >>> classify(Answer("[0,1)", parse("[0,1)")))
        'interval'
    """
    return next((name for name, kind in KINDS.items() if kind.claims(gold)), "scalar")
