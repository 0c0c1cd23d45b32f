"""The kinds of answer, in the order in which they claim a gold. The gold decides; a prediction is read as its kind."""

from __future__ import annotations

from types import ModuleType

from rlvr_math_reward.kinds import choice, collection, interval, matrix, quantity, relation, scalar, words
from rlvr_math_reward.kinds.answer import Answer

__all__ = ["KINDS", "classify"]

KINDS: dict[str, ModuleType] = {
    "choice": choice,
    "words": words,
    "matrix": matrix,
    "interval": interval,
    "collection": collection,
    "quantity": quantity,
    "scalar": scalar,
    "relation": relation,
}


def classify(gold: Answer) -> str:
    """The name of the first kind that claims the gold.

    Example:
        >>> from rlvr_math_reward.parser import parse
        >>> classify(Answer("[0,1)", parse("[0,1)")))
        'interval'
    """
    return next((name for name, kind in KINDS.items() if kind.claims(gold)), "scalar")
