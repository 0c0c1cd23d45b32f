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
_RETRACTIONS = frozenset(
    "not maybe perhaps possibly wrong incorrect unsure rejected excluded untrue invalid discarded retracted unlikely "
    "isnt wasnt aint cant doubtful supposedly allegedly presumably probably likely tentatively idk dunno uncertain "
    "guess guessed guessing".split()
)
"""Words that take a choice back wherever they stand behind it."""
_ALONE = frozenset(
    "impossible false cannot nonsense never contradiction unknown no nope not eliminated ruled fails".split()
)
"""Words that take it back where they stand alone: "(E) impossible to tell" is what the option says."""
_ANNOUNCED = re.compile(r"^(?:the )?(?:correct |final )?(?:answer|option|choice) is:?(?! not)", re.IGNORECASE)
_WORD = re.compile(r"[A-Za-z]+")
LONE_SMALL = frozenset("abcd")
"""Small letters that choose by themselves: the four of most tests, none of them a constant."""
_DENIED = re.compile(r"(?:is |was )?(?:false|wrong|not|incorrect)\b", re.IGNORECASE)
_OTHER = re.compile(r"(?:or|and|to|unless|but|versus|vs|also)\b")
"""Words that go on with another choice."""
_SPEAKS_OF_OTHERS = re.compile(r"\s*(?:both|neither|either|all|none|only)\b", re.IGNORECASE)
_ANOTHER = re.compile(r"(?<![A-Za-z\\])[B-H](?![A-Za-z])|\b(?:or|nor|and|plus|but)\s+\(?[a-h]\)?(?![A-Za-z])")
"""The letter of another choice: a capital by itself, or a small letter behind a connective."""
_CAPITAL = re.compile(r"(?<![A-Za-z\\])[A-Z](?![A-Za-z])")
_FOLLOWED = re.compile(r"\s*!?\s*\Z|\s+(?![+^_'!*/=?,;])|[\\$\d½√π]|[-−]\s?\d|[A-Z][a-z]")
"""How the text of an option may follow its letter; `(C)+1` and `(C)'` are formulas, `(C), 25` is a list."""
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
            listed = found[0].endswith(",")
            if not gold and not _is_option_text(text[found.end() :], chosen.upper(), listed=listed):
                return None
            return chosen.upper()
    return None


def _is_option_text(rest: str, chosen: str, *, listed: bool) -> bool:
    """Whether what stands behind a choice names no other one and does not take it back.

    An option may speak of others ("C. Both A and B"); one that names itself and another is no option.
    """
    if not _FOLLOWED.match(rest) or (listed and rest.strip()):
        return False
    rest = rest.strip()
    if any((_MARKED.search(rest), _LED.search(rest), _OTHER.match(rest), _DENIED.match(rest))):
        return False
    if _ANOTHER.search(rest) and not _SPEAKS_OF_OTHERS.match(rest):
        return False
    written = _WORD.findall(rest.replace("'", ""))
    capitals = [word for word in _CAPITAL.findall(rest) if word not in "AI"]
    if (chosen in capitals and len(set(capitals)) > 1) or (capitals and len(capitals) == len(written)):
        return False
    words = [word.lower() for word in written]
    return not _RETRACTIONS.intersection(words) and not (len(words) == 1 and words[0] in _ALONE)
