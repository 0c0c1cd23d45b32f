"""The value that a line of prose states: its last formula or number, whole and with its unit.

A number is never taken out of a formula: what is joined to it by an operator, a comma or "and" comes with it, so that
`3 or 5` stays a list of two. Not covered: number words, and which of several sentences answers the question.
"""

from __future__ import annotations

import re
from itertools import islice
from typing import NamedTuple

from rlvr_math_reward.extraction.wrapping import clean

__all__ = ["last_value", "only_value", "whole"]

_LENGTH = r"(?:[cmk]?m|mi|miles?|met(?:er|re)s?|in|inch(?:es)?|feet|foot|ft|yards?|yd|units?)"
_UNIT = (
    r"(?:(?:square|cubic|sq\.?|cu\.?)\s+)?"
    r"(?:[cmk]?m|mi|miles?|[a-z]*met(?:er|re)s?|in|inch(?:es)?|feet|foot|ft|yards?|yd|[mk]?g|[a-z]*grams?|lbs?|pounds?|oz|ounces?"
    r"|tons?|m?l|lit(?:er|re)s?|gallons?|seconds?|minutes?|hours?|days?|weeks?|months?|years?|dollars?|cents?|euros?|percent"
    r"|degrees?|units?|mph|km/h|m/s|[ap]\.?m\.?)(?![A-Za-z])(?:\s*\^\s*\{?\d\}?|[²³])?"
)
_MEASURE = re.compile(rf"\s*(?:(?:hundred|thousand|million|billion|trillion|dozen)\b)?\s*(?:%|°|\\%|{_UNIT})?")
_FUNCTION = r"(?:sqrt|pi|sin|cos|tan|sec|csc|cot|log|ln|exp|arcsin|arccos|arctan|frac|infty|infinity)(?![A-Za-z])"
_WORD = re.compile(rf"(?<![\\A-Za-z{{])(?!{_FUNCTION}|(?:and|or|to)\b)[^\W\d_]{{2,}}")
_TOKEN = re.compile(
    rf"\s*(?:(?:(?<=\d\s)|(?<=\d))(?P<unit>{_LENGTH}\s?\^\s?\{{?[23]\}}?)"
    rf"|(?P<word>(?!{_FUNCTION}|[aA]nd\b|[oO]r\b|to\b)[A-Za-z\u00c0-\u024f]{{2,}}(?:['’_]\w+)*)"
    r"|(?P<number>(?:\\?[$€£]\s?)?(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+(?:\s+\d+\s?/\s?\d+)?)(?:\.\d+)?%?|(?:\\?[$€£])?\.\d+%?)"
    r"|(?P<end>[.?!:]+(?=[*_)\"'\s]|$)|[?\"“”&@#])"
    r"|(?P<list>[,;]|and\b|or\b|And\b|Or\b|to\b)"
    r"|(?P<math>\\\((?:[^\\]|\\[^()])*\\\)|\\\[(?:[^\\]|\\[^\[\]])*\\\]|\$\$[^$]+\$\$"
    r"|\$(?![\s$])(?:[^$\\]|\\.)*(?<![\s\\])\$(?!\d))"
    rf"|(?P<tex>\\(?:text|mathrm|mathbf|textbf|operatorname)\s*\{{[^{{}}]*\}}|\\[A-Za-z]+|\\.|{_FUNCTION})"
    r"|(?P<letter>[^\W\d_])"
    r"|(?P<sign>\S))",
    re.DOTALL,
)
_OPERATORS = frozenset("=<>+*/^≤≥≈≠−-±×·÷√(")
_DIGIT = re.compile(r"\d")
_UNSURE = frozenset(
    ("could", "might", "may", "maybe", "perhaps", "possibly", "either", "not", "cannot", "unknown", "neither", "never")
)
_BEFORE = frozenset((
    "not", "no", "never", "or", "except", "without", "than", "least", "most", "almost", "nearly", "roughly", "around",
    "over", "under", "above", "below",
))  # fmt: skip
_DENIED = re.compile(r"[*_)\s]*(?:or\b|(?:is|are|was)(?:\s+not|n't|n’t|\s+wrong|\s+incorrect)\b)")
_CHOICE = re.compile(r"\([A-H]\)\s*\S")
_NOTHING = re.compile(
    r"(?:so,?\s+|therefore,?\s+|thus,?\s+|hence,?\s+)?(?:there\s+(?:is|are)\s+)?"
    r"(no\s+(?:real\s+|integer\s+)?solutions?|infinitely\s+many(?:\s+solutions)?|all\s+real\s+numbers|does\s+not\s+exist|undefined)"
    r"(?:\s+exists?)?[.!]*",
    re.IGNORECASE,
)


class _Token(NamedTuple):
    kind: str
    start: int
    end: int


def whole(line: str) -> str:
    """The line when it is one answer as it stands: a formula, a number with its unit, one word; else nothing."""
    words = list(islice(_WORD.finditer(line), 2))
    if not words:
        return "" if line.endswith("?") else clean(line)
    if len(words) == 1 and len(line) <= words[0].end() + 2 and words[0].start() <= 2:
        return clean(line)
    if nothing := _NOTHING.fullmatch(line):
        return nothing[1]
    if _CHOICE.match(line):
        return clean(line)
    number = _TOKEN.match(line)
    if number and number.lastgroup in ("number", "math"):
        unit = _MEASURE.match(line, number.end())
        if unit and line[unit.end() :].strip(" .*") == "":
            return clean(line)
    return ""


def last_value(line: str) -> str | None:
    """The last formula or number of a line. Empty when it is denied, doubted or asked; None when there is none."""
    end = len(line)
    while end > 0:
        start = _sentence_start(line, end)
        found = _value(line[start:end])
        if found is not None:
            return found
        end = start
    return None


def _sentence_start(line: str, end: int) -> int:
    """Where the sentence that ends at `end` starts. After "p.m. " or "sq. " with a small letter none starts."""
    at = end - 1
    while (at := max(line.rfind(". ", 0, at), line.rfind("? ", 0, at), line.rfind("! ", 0, at))) >= 0:
        if not line[at + 2].islower() and not line[at + 2].isspace():
            return at + 2
    return 0


def only_value(sentence: str) -> str | None:
    """The value of a sentence that holds exactly one."""
    tokens = _tokens(sentence)
    anchors = [at for at, token in enumerate(tokens) if _is_value(sentence, token)]
    if not anchors:
        return None
    left, right = _extent(sentence, tokens, anchors[-1])
    if left > anchors[0] or (left and sentence[tokens[left - 1].start] == "="):
        return None
    if left and sentence[tokens[left - 1].start : tokens[left - 1].end].lower() in _BEFORE:
        return None
    return _text(sentence, tokens, left, right)


def _value(sentence: str) -> str | None:
    if not _DIGIT.search(sentence) and "$" not in sentence and "\\" not in sentence:
        return None
    tokens = _tokens(sentence)
    anchor = next((at for at in reversed(range(len(tokens))) if _is_value(sentence, tokens[at])), None)
    if anchor is None:
        last = next((at for at in reversed(range(len(tokens))) if tokens[at].kind != "end"), None)
        if last is None or tokens[last].kind != "math":
            return None
        anchor = last
    left, right = _extent(sentence, tokens, anchor)
    words = [sentence[t.start : t.end].lower() for t in tokens[:left] if t.kind in ("word", "list")]
    if words and (words[-1] in _BEFORE or any(w in _UNSURE or w.endswith(("n't", "n’t")) for w in words)):
        return ""
    if left > 1 and words[-1:] == ["of"] and tokens[left - 2].kind in ("number", "math"):
        return ""  # "5 of 12"
    rest = sentence[tokens[right].end :]
    if "?" in rest or _DENIED.match(rest):
        return ""
    return _text(sentence, tokens, left, right)


def _tokens(sentence: str) -> list[_Token]:
    return [_Token(kind, *found.span(kind)) for found in _TOKEN.finditer(sentence) if (kind := found.lastgroup)]


def _is_value(sentence: str, token: _Token) -> bool:
    if token.kind != "math":
        return token.kind == "number"
    return _DIGIT.search(sentence, token.start, token.end) is not None


def _extent(sentence: str, tokens: list[_Token], anchor: int) -> tuple[int, int]:
    """The first and last token of the formula around `anchor`."""
    left = right = anchor
    while left and _joined(sentence, tokens[left - 1], tokens[left]):
        left -= 1
    while right + 1 < len(tokens) and _joined(sentence, tokens[right], tokens[right + 1]):
        right += 1
    while tokens[left].kind == "list" or (left < anchor and sentence[tokens[left].start] in "=:)]}"):
        left += 1
    while tokens[right].kind == "list":
        right -= 1
    if left < anchor and sentence[tokens[left].start] in "-−–" and tokens[left].end < tokens[left + 1].start and left:
        left += 1  # a dash between words, no sign
    return left, right


def _joined(sentence: str, one: _Token, two: _Token) -> bool:
    """Whether two neighbours belong to one formula."""
    kinds = one.kind, two.kind
    if "word" in kinds or "end" in kinds or "unit" in kinds:
        return one.end == two.start and "number" in kinds and "end" not in kinds  # "12th", "10cm", "Q4"
    if "letter" not in kinds:
        return True
    if one.end == two.start:
        return "list" not in kinds
    other = two if one.kind == "letter" else one
    return other.kind in ("sign", "tex") and sentence[other.start] in _OPERATORS


def _text(sentence: str, tokens: list[_Token], left: int, right: int) -> str:
    start, end = tokens[left].start, tokens[right].end
    measure = _MEASURE.match(sentence, end)
    if measure:
        end = measure.end()
    text = sentence[start:end]
    for opener, closer in ("()", "[]"):
        if text.endswith(closer) and text.count(closer) > text.count(opener):
            text = text[:-1]
        if text.startswith(opener) and text.count(opener) > text.count(closer):
            text = text[1:]
    return clean(text)
