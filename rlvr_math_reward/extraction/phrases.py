"""The answer after "the answer is", "Answer:" and their like, to the end of its sentence.

A phrase that denies or doubts ("is not 42", "could be 41") states no answer, and no earlier one stands in for it. A
list in Markdown below a phrase is one answer of several values. What stands before the phrase in its sentence is read
too ("I doubt that the answer is 42"), and so is what takes it back right after it. Not covered: languages other than
English and Chinese.
"""

from __future__ import annotations

import re

from rlvr_math_reward.extraction.prose import RETRACTION, TAKEN_BACK, only_value
from rlvr_math_reward.extraction.wrapping import BROKEN, DISPLAYS, MAX_GAP, MAX_WINDOW, Found, clean, plain
from rlvr_math_reward.policy import MAX_ANSWER_CHARS, MAX_ITEMS

__all__ = ["phrase"]

_WORDS = ("nswer", "NSWER", "答案")
_MAX_PHRASES = 100
"""Times that the word "answer" is looked at, from the end: what stands before so many more is no final answer."""

_PHRASE = re.compile(
    r"answers?(?:\s?\(s\))?(?:\s+(?:to|for|of)\b[^\n.:=?!$\\]{1,50}?)?[*_\"'`}\])\s~]*"
    r"(?:(?P<deny>(?:is|are|was)(?:\s+not|n't|n’t)\b|(?:could|might|may|can(?:'t|’t|not)?)\s*(?:not\s+)?be\b)"
    r"|[:：=]|(?:is|are|must\s+be|should\s+be|will\s+be|would\s+be|equals)\b)",
    re.IGNORECASE,
)
_CHINESE = re.compile(
    r"答案[*_\s]*(?:(?P<deny>[不非]|並非|并非|可能|也许|或许|大概|大约)"
    r"|应该是|应当是|应为|應為|就是|是|为|為|等于|等於|[:：=])"
)
_CONTINUES = 160
"""Characters before a phrase in which the start of its sentence is looked for."""
_SUPPOSED = re.compile(
    r"\b(?:suppos(?:e|ing)|pretend|imagine|(?<!no )(?<!any )(?<!a )doubt\w*|hypothe\w+"
    r"|for\s+(?:the\s+sake\s+of\s+)?contradiction|had\s+to\s+guess|refut\w+|rul(?:e|es|ed|ing)\s+out)\b|假设|假如|怀疑",
    re.IGNORECASE,
)
"""What makes a whole sentence a hypothesis or a doubt."""
_IMAGINED = re.compile(
    r"\bif\b[^.;]{1,60}\bwere\b|\b(?:need|needs|needed|have|has)\s+to\s+(?:show|prove|verify)\s+that\b", re.IGNORECASE
)
"""What is only imagined or still to be shown, unless a conclusion follows in the sentence."""
_CONCLUSION = re.compile(r"[;:]|\b(?:so|therefore|thus|hence|then|and|but)\b", re.IGNORECASE)
_DENYING = re.compile(
    r"\b(?:not|never|nobody|no\s+one|none|nor|neither|cannot|hardly|if|unless|whether|assum(?:e|ing)|false|impossible"
    r"|guess\w*|unlikely|untrue|improbable|den(?:y|ies|ied)|wrong\s+that|incorrect\s+that|refuse\w*|wish\w*|tempt\w*"
    r"|mistake\w*|(?:might|may|could|would|some|people|students?|many|one|he|she|they|you|who)\s+(?:\w+\s+)?"
    r"(?:think|say|believe|claim)s?)\b|n['’]t\b|\A\s*(?:is|was|are|why|does)\b"
    r"|[不非]|如果|错",
    re.IGNORECASE,
)
"""What denies or doubts the clause that it stands in."""
_OTHER = re.compile(
    r"\b(?:(?:wrong|incorrect|false|bad|naive|previous|earlier|old|former|initial|original|(?<!only )possible"
    r"|potential|candidate|tempting|another|alternat\w+|trial|sample|example|provisional|tentative|preliminary|partial|intermediate|invalid"
    r"|rejected|trap|no)\s+(?:final\s+)?"
    r"|(?:half|third|quarter|twice|double|triple|square|cube|root|reciprocal|negative|opposite|multiple|divisor|factor)"
    r"\s+(?:of\s+)?(?:the\s+|my\s+|our\s+)?(?:final\s+)?)\Z",
    re.IGNORECASE,
)
"""What makes of the word "answer" another one than the final answer, or an operand."""
_CLAUSE_START = re.compile(r"[,;:—(]|\b(?:so|therefore|thus|hence|then|and|but|because|since)\b", re.IGNORECASE)
_SENTENCE_START = re.compile(r"[.!?][*_)\"'\]}]*\s|[。！？]")
_ITALIC = re.compile(r"(?<!\*)\*(?!\*)")
_TITLE = re.compile(r"answers?[*_}:\s]*\n", re.IGNORECASE)
_LEAD = re.compile(
    r"(?:[\s:：=_~`}\"'>,]|(?<!\*)\*{2,}|(?<=:)\*(?=\s)|\\(?:text|mathrm|textbf)\{\s*[:=]?\s*\}|#+\s)*"
    r"(?:(?:simply|therefore|thus|that|equal to|given by)\b[\s:*]*)*",
    re.IGNORECASE,
)
_HEDGE = re.compile(
    r"(?:not|never|neither|no longer|none of these|probably|maybe|perhaps|possibly|likely|either|one of|between"
    r"|wrong|incorrect|more than|less than|greater than|at least|at most)\b|[不非]|可能|也许|或许|大约",
    re.IGNORECASE,
)
_COMMENT = re.compile(
    r"(?:(?:indeed|also|then)\s+)?(?:correct|reasonable|consistent|verified|confirmed|as follows)\b", re.IGNORECASE
)
_HEADING = re.compile(r"[\s#*_>-]*(?:the\s+|my\s+)?(?:final\s+)?", re.IGNORECASE)
_STOP = re.compile(r"\n|[?？]|[。！]|\.(?=[*_)\"'\]}]*\s+[^a-z\s]|[*_)\"'\]}]*\s*(?:\n|\Z))")
_ITEM = re.compile(r"\s*(?:[-•+*]|\(?\d{1,2}[.)])\s+(?=\S)([^\n]+)")
_BLOCKS = (*DISPLAYS, ("\\(", "\\)"))
_MORE = re.compile(r"\s*(?:,|or\b|and\b)\s*", re.IGNORECASE)
_CLAUSE = re.compile(
    r"(?<!\s)\s*(?:(?:,\s*(?:which|because|since|as|so|and so|thus|hence)|\(?\b(?:because|since)|\((?:see|as))\b"
    r"|,\s*(?:(?:and|but)\s+)?not\s+[-−$\\(\d]|(?<=[\d$})\]])(?:,\s*|\s*\()(?:approximately|about|roughly|approx)\b).*",
    re.DOTALL | re.IGNORECASE,
)
"""A reason, a contrast ("42, not 41") or a rounded form after the value."""
_IN_WORDS = re.compile(
    r"(?<=[\d$])\s*\((?:(?:zero|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen"
    r"|sixteen|seventeen|eighteen|nineteen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|hundred|thousand|million"
    r"|and)\b[\s-]*)+\)",
    re.IGNORECASE,
)
_EXCLAIMED = re.compile(
    r"((?:\\?\$)?[-−]?\d[\d,.]*(?:\s[A-Za-z]+){0,3}|\$[^$!\n]{1,200}\$)[*_]*!+(?=[*_]*(?:\s+[A-Z]|\s*\n|\s*\Z))"
)
"""A value with an exclamation mark that ends the sentence; a factorial stands in a formula or before a period."""
_OPTION = re.compile(r"[A-H]\.\s+(?=\S)")
_NEXT = re.compile(r"[ \t*.]*\n[ \t]*(?=[^\n]*\d)((?:[-+−$\\({\[]|\d|[a-z]\s*=)[^\nA-Za-z]{0,60})(?=\n|\Z)")


def phrase(text: str) -> Found | None:
    """What the last phrase states.

    Example:
        >>> phrase("**Final answer:** the total is 42. Well done!")
        ('42', 18, 33)
    """
    if "nswer" not in text and "NSWER" not in text and (text.isascii() or "答案" not in text):
        return None
    words = _WORDS[:2] if text.isascii() else _WORDS
    marks = [text.rfind(word) for word in words]
    for _ in range(_MAX_PHRASES):
        at = max(marks)
        if at < 0:
            return None
        stated = _phrase_at(text, at)
        if stated is not None:
            return stated
        marks = [text.rfind(word, 0, at) if mark == at else mark for word, mark in zip(words, marks, strict=True)]
    return None


def _phrase_at(text: str, at: int) -> Found | None:
    """What the phrase around the word at `at` states. None: the word is part of no phrase."""
    if text.startswith("答", at):
        first, found = at, _CHINESE.match(text, at, at + MAX_GAP)
    else:
        first = at - 1
        found = _PHRASE.match(text, first, at + MAX_GAP) if at else None
        found = found or (_title(text, first) if at else None)
        if text[at - 2 : first].isalnum():
            return None
    if found is None:
        return None
    sentence = _before(text, first)
    if (found.re is not _TITLE and found["deny"]) or _is_doubted(sentence):
        return BROKEN
    stated = _stated(text, found.end(), italic=len(_ITALIC.findall(sentence)) % 2 == 1)
    return BROKEN if stated and _is_retracted(text, stated[2]) else stated


def _before(text: str, at: int) -> str:
    """The part of a phrase's sentence that stands before it."""
    floor = max(0, at - _CONTINUES)
    sentence = text[max(text.rfind("\n", floor, at) + 1, floor) : at]
    return sentence[max((stop.end() for stop in _SENTENCE_START.finditer(sentence)), default=0) :]


def _is_doubted(sentence: str) -> bool:
    """Whether what stands before a phrase denies it or only supposes it."""
    if not sentence or sentence.isspace():
        return False
    concluded = max((end.end() for end in _CONCLUSION.finditer(sentence)), default=0)
    if _IMAGINED.search(sentence, concluded):
        return True
    clause = sentence[max((start.end() for start in _CLAUSE_START.finditer(sentence)), default=0) :]
    return any(sign.search(part) for sign, part in ((_SUPPOSED, sentence), (_DENYING, clause), (_OTHER, clause)))


def _is_retracted(text: str, end: int) -> bool:
    """Whether a last sentence takes the answer back."""
    return len(text) - end <= MAX_GAP and RETRACTION.match(text, end) is not None


def _title(text: str, at: int) -> re.Match[str] | None:
    """A line that is nothing but "Final Answer", as a heading or in bold: the answer is below."""
    leads = _HEADING.fullmatch(text, text.rfind("\n", 0, at) + 1, at)
    return _TITLE.match(text, at, at + MAX_GAP) if leads else None


def _stated(text: str, at: int, italic: bool) -> Found | None:
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
    stop = end - 1 if italic and text[end - 1] == "*" and text[end - 2] != "*" else end
    parts = [_read(text[start:stop])]
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
    sentence = _IN_WORDS.sub("", plain(sentence))
    bare = sentence if TAKEN_BACK.search(sentence) else _CLAUSE.sub("", sentence)
    return clean(_value_of(bare or sentence))


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
    if exclaimed := _EXCLAIMED.match(text, start, start + MAX_WINDOW):
        return exclaimed.end(1)
    if option := _OPTION.match(text, start):  # the point of "A. 25" ends no sentence
        at = option.end()
    limit = min(len(text), at + MAX_ANSWER_CHARS)
    stop = _STOP.search(text, at, limit)
    if stop is None:
        return limit
    if stop.group() in "?？":
        return -1
    return stop.start() + (text[stop.start() - 2 : stop.end()] == ".m.")  # the last point of "5 p.m." is its own


_OPINION = re.compile(r"(?<!\s)\s+is\s+(?:the\s+)?(?:correct|right)(?:\s+(?:answer|choice|option))?\s*$", re.IGNORECASE)
_PROSE = re.compile(r"[A-Z]?[a-z]{2,}\s|(?:a|an|I)\s+[a-z]", re.IGNORECASE)
_COPULA = re.compile(r".*\b(?:is|are|equals|be)(?:\s*:\s*|\s+)(?=\S)", re.DOTALL | re.IGNORECASE)
_CONDITION = re.compile(
    r"\b(?:not|never|nobody|hardly|doubt|if|when|whose|unless|or|could|might|may|maybe|except|than)\b|n't",
    re.IGNORECASE,
)


def _value_of(sentence: str) -> str:
    """`42` from "the total is 42" and "she has 42 apples left"; whatever qualifies the value stays with it."""
    sentence = _OPINION.sub("", sentence)
    if not _PROSE.match(sentence) or _CONDITION.search(sentence):
        return sentence
    told = _COPULA.match(sentence)
    if told:
        return sentence[told.end() :]
    return only_value(sentence) or sentence
