"""Partial credit: does the canonical gold stand in the canonical prediction?

The guarded rule must not pay for dumping candidates: the gold stands at token boundaries, no sign, fraction bar or
power touches it, and the prediction holds little else.
"""

from __future__ import annotations

import re

__all__ = ["contains_gold"]

MAX_EXTRA_TOKENS = 4
"""Tokens beside the gold: `x = 4 cm` has three, a list of six numbers ten."""
_TOKEN = re.compile(r"\d+(?:\.\d+)?|[A-Za-z]+|\S")
_BINDING = frozenset("+-*/^.!%_:")
_NUMBER = re.compile(r"\d")


def contains_gold(gold: str, prediction: str, rule: str) -> bool:
    """Whether partial credit is due.

    Args:
        gold: canonical gold.
        prediction: canonical prediction.
        rule: `guarded`, or `raw` for the plain substring test, which pays for every list that holds the gold.

    Example:
        >>> contains_gold("4", "x = 4 cm", "guarded"), contains_gold("4", "1, 2, 3, 4, 5, 6", "guarded")
        (True, False)
    """
    if not gold or not prediction:
        return False
    if rule == "raw":
        return gold in prediction
    wanted, found = _TOKEN.findall(gold), _TOKEN.findall(prediction)
    places = [at for at in range(len(found) - len(wanted) + 1) if found[at : at + len(wanted)] == wanted]
    if len(places) != 1 or len(found) - len(wanted) > MAX_EXTRA_TOKENS:
        return False
    before, after = found[: places[0]], found[places[0] + len(wanted) :]
    if (before and before[-1] in _BINDING) or (after and after[0] in _BINDING | {"("}):
        return False
    if len(before) > 1 and before[-1] == "(" and before[-2].isalpha():  # `sqrt(4)`
        return False
    rivals = [token for token in (*before, *after) if _NUMBER.match(token)]
    return not (rivals and any(_NUMBER.match(token) for token in wanted))
