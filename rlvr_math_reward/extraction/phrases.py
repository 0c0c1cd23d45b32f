"""The answer after "the answer is", "Answer:" and their like, to the end of its sentence.

A phrase that denies or doubts ("is not 42", "could be 41") states no answer, and no earlier one stands in for it. A
list in Markdown below a phrase is one answer of several values. Not covered: other languages.
"""

from __future__ import annotations

import re

from rlvr_math_reward.extraction.prose import only_value
from rlvr_math_reward.extraction.wrapping import BROKEN, DISPLAYS, MAX_GAP, MAX_WINDOW, Found, clean, plain
from rlvr_math_reward.policy import MAX_ANSWER_CHARS, MAX_ITEMS

__all__ = ["phrase"]

_MAX_PHRASES = 100
"""Times that the word "answer" is looked at, from the end: what stands before so many more is no final answer."""

_PHRASE = re.compile(
    r"answers?(?:\s?\(s\))?(?:\s+(?:to|for|of)\b[^\n.:=?!$\\]{1,50}?)?[*_\"'`}\])\s~]*"
    r"(?:(?P<deny>(?:is|are|was)(?:\s+not|n't|n’t)\b|(?:could|might|may|can(?:'t|’t|not)?)\s*(?:not\s+)?be\b)"
    r"|[:：=]|(?:is|are|must\s+be|should\s+be|will\s+be|would\s+be|equals)\b)",
    re.IGNORECASE,
)
_TITLE = re.compile(r"answers?[*_}:\s]*\n", re.IGNORECASE)
_LEAD = re.compile(
    r"(?:[\s:：=_~`}\"'>,]|\*{2,}|\*(?![ \t])|\\(?:text|mathrm|textbf)\{\s*[:=]?\s*\}|#+\s)*"
    r"(?:(?:simply|therefore|thus|that|equal to|given by)\b[\s:*]*)*",
    re.IGNORECASE,
)
_HEDGE = re.compile(
    r"(?:not|never|neither|no longer|none of these|probably|maybe|perhaps|possibly|likely|either|one of|between"
    r"|wrong|incorrect|more than|less than|greater than|at least|at most)\b",
    re.IGNORECASE,
)
_COMMENT = re.compile(
    r"(?:(?:indeed|also|then)\s+)?(?:correct|reasonable|consistent|verified|confirmed|as follows)\b", re.IGNORECASE
)
_HEADING = re.compile(r"[\s#*_>-]*(?:the\s+|my\s+)?(?:final\s+)?", re.IGNORECASE)
_STOP = re.compile(r"\n|\?|。|\.(?=[*_)\"'\]}]*\s+[^a-z\s]|[*_)\"'\]}]*\s*(?:\n|\Z))")
_ITEM = re.compile(r"\s*(?:[-•+*]|\(?\d{1,2}[.)])\s+(?=\S)([^\n]+)")
_BLOCKS = (*DISPLAYS, ("\\(", "\\)"))
_MORE = re.compile(r"\s*(?:,|or\b|and\b)\s*", re.IGNORECASE)
_CLAUSE = re.compile(
    r"(?<!\s)\s*(?:,\s*(?:which|because|since|as|so|and so|thus|hence)|\(?\b(?:because|since)|\((?:see|as))\b.*",
    re.DOTALL | re.IGNORECASE,
)
_OPTION = re.compile(r"[A-H]\.\s+(?=\S)")
_NEXT = re.compile(r"[ \t*.]*\n[ \t]*(?=[^\n]*\d)((?:[-+−$\\({\[]|\d|[a-z]\s*=)[^\nA-Za-z]{0,60})(?=\n|\Z)")


def phrase(text: str) -> Found | None:
    """What the last phrase states.

    Example:
        >>> phrase("**Final answer:** the total is 42. Well done!")
        ('42', 18, 33)
    """
    low, high = text.rfind("nswer"), text.rfind("NSWER")
    for _ in range(_MAX_PHRASES):
        at = max(low, high)
        if at <= 0:
            return None
        found = _PHRASE.match(text, at - 1, at + MAX_GAP) or _title(text, at - 1)
        if found and not text[at - 2 : at - 1].isalnum():
            if found.re is _PHRASE and found["deny"]:
                return BROKEN
            stated = _stated(text, found.end())
            if stated is not None:
                return stated
        if at == low:
            low = text.rfind("nswer", 0, at)
        else:
            high = text.rfind("NSWER", 0, at)
    return None


def _title(text: str, at: int) -> re.Match[str] | None:
    """A line that is nothing but "Final Answer", as a heading or in bold: the answer is below."""
    leads = _HEADING.fullmatch(text, text.rfind("\n", 0, at) + 1, at)
    return _TITLE.match(text, at, at + MAX_GAP) if leads else None


def _stated(text: str, at: int) -> Found | None:
    """What stands after a phrase, to the end of its sentence. None: a remark on the answer, not the answer."""
    lead = _LEAD.match(text, at, at + MAX_WINDOW)
    start = lead.end() if lead else at
    if start >= len(text) or _HEDGE.match(text, start):
        return BROKEN
    if _COMMENT.match(text, start):
        return None
    items = _items(text, start)
    if len(items) > 1 or (items and text.rfind("\n", at, start) >= 0):
        return ", ".join(dict.fromkeys(_read(text[a:b]) for a, b in items)), items[0][0], items[-1][1]
    end = _sentence_end(text, start)
    if end < 0:
        return BROKEN
    parts = [_read(text[start:end])]
    while len(parts) < MAX_ITEMS and (more := _NEXT.match(text, end, end + MAX_GAP)):
        parts.append(_read(more[1]))  # bare values on the next lines belong to the answer
        end = more.end(1)
    return ", ".join(dict.fromkeys(parts)), start, end


def _items(text: str, start: int) -> list[tuple[int, int]]:
    """The items of the Markdown list that starts at `start`: they are one answer together."""
    items: list[tuple[int, int]] = []
    while len(items) < MAX_ITEMS and (found := _ITEM.match(text, start, start + MAX_WINDOW)):
        items.append(found.span(1))
        start = found.end()
    return items


def _read(sentence: str) -> str:
    sentence = plain(sentence)
    return clean(_value_of(_CLAUSE.sub("", sentence) or sentence))


def _sentence_end(text: str, start: int) -> int:
    """The end of the sentence that starts at `start`; -1 when it is a question or a display that never closes."""
    at = start
    for _ in range(MAX_ITEMS):
        block = next((block for block in _BLOCKS if text.startswith(block[0], at)), None)
        if block is None:
            break
        closed = text.find(block[1], at + 2)
        if closed < 0:
            return -1
        more = _MORE.match(text, closed + 2)
        if more is None and block in DISPLAYS:
            return closed + 2
        at = more.end() if more else closed + 2
    if option := _OPTION.match(text, start):  # the point of "A. 25" ends no sentence
        at = option.end()
    limit = min(len(text), at + MAX_ANSWER_CHARS)
    stop = _STOP.search(text, at, limit)
    if stop is None:
        return limit
    if stop.group() == "?":
        return -1
    return stop.start() + (text[stop.start() - 2 : stop.end()] == ".m.")  # the last point of "5 p.m." is its own


_OPINION = re.compile(r"(?<!\s)\s+is\s+(?:the\s+)?(?:correct|right)(?:\s+(?:answer|choice|option))?\s*$", re.IGNORECASE)
_PROSE = re.compile(r"[A-Z]?[a-z]{2,}\s|(?:a|an|I)\s+[a-z]", re.IGNORECASE)
_COPULA = re.compile(r".*\b(?:is|are|equals|be)(?:\s*:\s*|\s+)(?=\S)", re.DOTALL | re.IGNORECASE)
_CONDITION = re.compile(r"\b(?:not|if|when|unless|or|could|might|may|maybe|except|than)\b|n't", re.IGNORECASE)


def _value_of(sentence: str) -> str:
    """`42` from "the total is 42" and "she has 42 apples left"; whatever qualifies the value stays with it."""
    sentence = _OPINION.sub("", sentence)
    if not _PROSE.match(sentence) or _CONDITION.search(sentence):
        return sentence
    told = _COPULA.match(sentence)
    if told:
        return sentence[told.end() :]
    return only_value(sentence) or sentence
