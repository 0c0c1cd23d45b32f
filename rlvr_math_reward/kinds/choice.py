"""Multiple choice: the gold is one capital letter, bare or `(C)`, with or without the text of its option."""

from __future__ import annotations

import re

from rlvr_math_reward.kinds.answer import Answer, Comparer, Match, no, yes
from rlvr_math_reward.parser.wording import spelled
from rlvr_math_reward.tree import Constant, Symbol, Words

__all__ = ["claims", "match"]

_MARKED = re.compile(r"\(\s*([A-Za-z])\s*\)[.:,]?|([A-Za-z])\s*[).:]")
"""A letter with the mark of a choice: `(C)`, `C)`, `c.`, `C:`."""
_LED = re.compile(r"(?:option|choice|answer)\s+\(?([A-Za-z])(?![A-Za-z])\)?", re.IGNORECASE)
_RETRACTIONS = frozenset("not maybe perhaps possibly wrong incorrect unsure".split())
_ANNOUNCED = re.compile(r"^(?:the )?(?:correct |final )?(?:answer|option|choice) is:?(?! not)", re.IGNORECASE)
LONE_SMALL = frozenset("abcd")
"""Small letters that choose by themselves: the four of most tests, none of them a constant."""
_DENIED = re.compile(r"(?:is |was )?(?:false|wrong|not|incorrect)\b", re.IGNORECASE)
_OTHER = re.compile(r"(?:or|and)\s+\(?[B-HJ-Z]\)?(?![A-Za-z])")
_GOLD_WITH_TEXT = re.compile(r"\(([A-Z])\)\s*\S")


def claims(gold: Answer) -> bool:
    match gold.tree:
        case Symbol(name) if len(name) == 1 and name.isascii() and name.isupper():
            return True
        case Constant("i" | "e"):
            return False
    if isinstance(gold.tree, Words):
        text = spelled(gold.text)
        return bool(_LED.fullmatch(text) or _MARKED.fullmatch(text) or _GOLD_WITH_TEXT.match(text))
    return "(" in gold.text and bool(_GOLD_WITH_TEXT.match(spelled(gold.text)))


def match(gold: Answer, prediction: Answer, compare: Comparer) -> Match:
    wanted = letter(spelled(gold.text), gold=True)
    found = letter(spelled(prediction.text), gold=False)
    if found is None:
        return no(f"{prediction.text!r} names no single choice")
    if found == wanted:
        return yes(f"both choose {wanted}", "text" if gold.text == prediction.text else "exact")
    return no(f"the choice is {found}, not {wanted}")


def letter(text: str, *, gold: bool) -> str | None:
    """The letter that a text chooses. A small letter beyond `d` may be a name, and counts only with a mark."""
    text = _ANNOUNCED.sub("", text.strip()).strip()
    if len(text) == 1 and text.isalpha():
        return text.upper() if text.isupper() or (text in LONE_SMALL and not gold) else None
    for pattern in (_MARKED, _LED):
        found = pattern.match(text)
        if found:
            chosen = next(group for group in found.groups() if group)
            rest = text[found.end() :].strip()
            rivals = (_MARKED.search(rest), _LED.search(rest), _OTHER.match(rest), _DENIED.match(rest))
            if not gold and (any(rivals) or _rival(rest)):
                return None
            return chosen.upper()
    return None


def _rival(rest: str) -> bool:
    """Another choice, or a word that takes the choice back, in the text behind a choice."""
    words = re.findall(r"[A-Za-z]+", rest)
    lone = [word for word in words if len(word) == 1 and word.isupper() and word not in "AI"]
    hedged = _RETRACTIONS & {word.lower() for word in words}
    return bool(hedged) or (len(lone) > 0 and len(words) == len(lone))
