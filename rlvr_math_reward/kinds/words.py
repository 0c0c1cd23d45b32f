"""Answers in words: `parabola`, `Evelyn`, `odd`, `LQSX`. Compared letter by letter after case, articles and plurals."""

from __future__ import annotations

import re

from rlvr_math_reward.kinds.answer import Answer, Comparer, Match, no, yes
from rlvr_math_reward.parser.vocabulary import UNITS
from rlvr_math_reward.parser.wording import spelled
from rlvr_math_reward.tree import Constant, Quantity, Words, render

__all__ = ["claims", "match"]

_ORDINAL = re.compile(r"(?<=\d)\s?(?:st|nd|rd|th)\b|\.(?=\s|\Z)")
"""`20th of June` is the 20 of June; a period ends a sentence."""
_DROPPED = frozenset(
    "a an the in on at by of it he she they is are was will be facing due heading graph answer color colour "
    "single".split()
)
"""Words before what is said: "facing east", "it is a parabola", "on Friday"."""
_GENERIC = frozenset("function direction triangle graph".split())
"""Nouns behind an adjective that say no more than the question does: "an odd function", "isosceles triangle"."""
_REPEATED = {
    "yes": ("it is", "it does", "they are", "they do"), "no": ("it is not", "it does not", "they are not"),
    "neither": ("even nor odd", "odd nor even"),
}  # fmt: skip


def claims(gold: Answer) -> bool:
    """Words; also a number in words with what it counts: `two lines` describes a curve and is not the value 2."""
    if isinstance(gold.tree, Quantity) and spelled(gold.text)[:1].isalpha():
        return gold.tree.unit.split()[0] not in UNITS
    return isinstance(gold.tree, Words)


def match(gold: Answer, prediction: Answer, compare: Comparer) -> Match:
    wanted, found = _bare(_text(gold)), _bare(_text(prediction))
    if "and" in wanted and "," not in gold.text:  # "Alice and Bob" are two, in any order
        wanted, found = sorted(wanted), sorted(found if "and" in found else [*found, "and"])
    if wanted and (wanted == found or _says_no_more(wanted, found) or _says_no_more(found, wanted)):
        return yes(f"both say {' '.join(wanted)!r}", "text" if gold.text == prediction.text else "exact")
    return no(f"the words {prediction.text!r} are not {gold.text!r}")


def _says_no_more(longer: list[str], words: list[str]) -> bool:
    return longer[:-1] == words and longer[-1:] != [] and longer[-1] in _GENERIC


def _text(answer: Answer) -> str:
    """The words of an answer; a formula gives the letters it was written in."""
    if isinstance(answer.tree, Words):
        return answer.tree.text
    if isinstance(answer.tree, Constant):
        return render(answer.tree)
    return spelled(answer.text).lower()


def _bare(text: str) -> list[str]:
    """The words that carry meaning, each without a plural s."""
    words = _ORDINAL.sub("", text).split()
    while len(words) > 1 and words[0] in _DROPPED:
        words = words[1:]
    if words and " ".join(words[1:]) in _REPEATED.get(words[0], ()):
        words = words[:1]
    kept = [word for word in words if word not in ("a", "an", "the", "is", "are")] or words
    return [word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word for word in kept]
