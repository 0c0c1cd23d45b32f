"""The value that a line of prose states: its last formula or number, whole and with its unit.

A number is never taken out of a formula: what is joined to it by an operator, a comma or "and" comes with it, so that
`3 or 5` stays a list of two. Not covered: number words, and which of several sentences answers the question.
"""

from __future__ import annotations

import re
from itertools import islice
from typing import NamedTuple

from rlvr_math_reward.extraction.wrapping import clean

__all__ = ["RETRACTION", "TAKEN_BACK", "last_value", "only_value", "whole"]

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
    r"|(?P<end>[.?!:]+(?=[*_)\"'\s]|$)|[。！？?\"“”&@#])"
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
_UNSURE = frozenset((
    "could", "might", "may", "maybe", "perhaps", "possibly", "either", "not", "cannot", "unknown", "neither", "never",
    "doubt", "suppose", "assume", "impossible", "nobody", "hardly", "unlikely", "contradicts", "contradiction",
))  # fmt: skip
_BOUNDS = frozenset((
    "not", "no", "never", "or", "except", "without", "than", "least", "most", "almost", "nearly", "roughly", "around",
    "over", "under", "above", "below",
))  # fmt: skip
_REFERS = re.compile(
    # a number that bounds or excludes
    r"beyond|within|hardly|barely|near|until|besides|but|unlike|versus|out"
    r"|(?:exceed|exclud|contradict|reject|eliminat|discard|refut|violat|ignor|avoid|deny|denie|rul)(?:e|es|s|ed|d|ing)?"
    # a number that names a thing
    r"|step|theorem|lemma|corollary|proposition|claim|page|case|problem|question|exercise|example|equation|eqn?"
    r"|figure|fig|table|section|chapter|line|row|column|method|approach|property|rule|base|mod|modulo"
    # a number that is only the operand of an operation, or assumed
    r"|by|of|from|plus|times|twice|thrice|double|half|triple|squared?|cubed?|root|adding|subtracting|multiplying|dividing"
    r"|if|unless|when|suppose|assume|try|check"
)
_COMPUTED = re.compile(r"[\d)}%]\s*=|=\s*\\?[$€£]?\s*\Z")
_AMOUNTS = frozenset((
    "total", "sum", "profit", "change", "length", "distance", "weight", "age", "salary", "loss", "balance", "capacity",
    "average", "mean", "median", "height", "width", "depth", "speed", "rate", "elevation", "cost", "price", "count",
    "amount", "number", "commission", "area", "volume", "perimeter", "circumference", "radius", "diameter", "score",
    "lifespan", "savings", "loan", "difference", "product", "remainder", "quotient", "population", "value", "pay",
    "pressure", "excess", "payment", "payments", "income", "probability", "chance", "ratio", "percentage", "answer",
    "result", "maximum", "minimum", "discount", "bill", "fee", "tip", "tax", "temperature", "angle", "slope", "bonus",
))  # fmt: skip
"""What a value may be "of": "a total of 17", but not "the square of 17"."""
_UNEQUAL_TO = frozenset((
    "close", "closer", "closest", "near", "next", "compared", "similar", "related", "prior", "due", "according", "add",
    "added", "unequal", "refers", "up",
))  # fmt: skip
_SIGNS = frozenset(("negative", "minus"))
_DENIED = re.compile(
    r"[*_)\s]*(?:or\b|[❌❎✖✗✘🚫⛔👎]|squared\b|cubed\b|factorial\b|times\s+(?:as|the|that|\d|(?!per\b)[a-z]+er\b|more)"
    r"|at\s+(?:most|least)\b|too\s+(?:many|much|few|high|low|big|large|small)\b|(?:plus|minus|divided|multiplied|choose)\b"
    r"|(?:is|are|was)(?:\s+not|n't|n’t|\s+(?:wrong|incorrect|false|impossible|excluded|too|ruled))\b"
    r"|(?:(?:ca|does|do|could|would|wo)n['’]t|(?:does|can|could|would|will)\s+not|cannot)\b(?!\s+be\s+(?:further\s+)?[a-z]{3,}ed\b)"
    r"|fails?\b|contradicts\b)"
)
"""What denies the value before it. That it "cannot be simplified further" does not."""
_FOREIGN = re.compile(
    r"\b(?:ne|pas|nicht|kein\w*|n[ãa]o|niet|geen|nie|nunca|jamais|не|нет|no\s+(?:es|son|era|puede|está)|non\s+(?:è|sono))\b"
    r"|\bn['’](?:est|a)\b|不(?!同)|並非|并非|没有|ではない|じゃない|아니|नहीं|ليس",
    re.IGNORECASE,
)
"""Negations in the languages that models answer in, before or after the value."""
RETRACTION = re.compile(
    r"[\W_]*(?:(?:but|no|hm+|oops|oh|actually|sorry|and|then|so)\b[\W_]*)*"
    r"(?:wait\b|hold\s+on\b|scratch\s+that|(?:a\s+)?contradiction\b|(?:that|this|which)\s+contradicts"
    r"|(?:that|this|it)(?:\s+(?:is|was|must\s+be|looks|seems)|['’]s)\s+(?:wrong|incorrect|false|impossible|absurd|a\s+mistake)"
    r"|(?:that|this)\s*(?:(?:is|was|can)\s+not|(?:is|was|ca)n['’]t|cannot)\s+(?:be\s+)?(?:right|correct|true|so|possible|it)\b"
    r"|i\s+(?:made|have)\s+(?:a\s+mistake|an\s+error)|(?<=no,\s)it(?:\s+is|['’]s|\s+(?:should|must))\b"
    r"|(?<=actually,\s)[$\\\d])",
    re.IGNORECASE,
)
"""A sentence that takes back the one before it."""
TAKEN_BACK = re.compile(
    r"\b(?:but|which|though|although)\s+(?:(?:it|that|this)\s*)?(?:(?:is|was|seems)\s+|['’]s\s+)?"
    r"(?:(?:clearly|obviously|just)\s+)?(?:(?:wrong|incorrect|false|untrue|impossible|absurd|nonsense|invalid)\b"
    r"|not\s+(?:right|correct|true|possible|it)\b|(?:can|could)(?:not|\s+not|n['’]t|['’]t)\s+be\s+(?:right|correct|true|so)\b)",
    re.IGNORECASE,
)
"""The end of a sentence that takes back its own value: ", but it's wrong", ", which can't be right"."""
_VERBS = (
    r"is|are|was|were|be|becomes?|equals?|has|have|had|gives?|yields?|remains?|leaves?|leaving|totals?|gets?|got|needs?|takes?"
    r"|took|makes?|made|costs?|pays?|paid|spends?|spent|earns?|earned|saves?|saved|receives?|sold|bought|contains?|weighs?"
)
_FILLERS = (
    r"a|an|the|exactly|simply|just|only|precisely|definitely|clearly|indeed|actually|therefore|thus|hence|so|then|now|also"
    r"|still|always|equal\s+to|equals|in\s+total|grand|(?:total|sum)(?:\s+of)?|another|all|number"
)
_ANNOUNCED = re.compile(
    rf"(?:.*\b(?:(?:{_VERBS})\b|(?:'s|’s)\s)[\s:]*|.*[A-Za-z]:\s*)?(?:(?:{_FILLERS})\b[\s,*]*)*",
    re.DOTALL | re.IGNORECASE,
)
"""What may stand before the one number of a sentence: a subject with its verb, articles, "exactly" and their like."""
_CHOICE = re.compile(r"\([A-H]\)\s*\S")
_CHOSEN = re.compile(
    r"(?:(?:so|thus|therefore|hence),?\s+)?the\s+(?:(?:correct|right|best)\s+)?(?:option|choice)\s+is:?\s+(\([A-H]\)|[A-H])[.!]?",
    re.IGNORECASE,
)
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
    if chosen := _CHOSEN.fullmatch(line):
        return chosen[1]
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
        sentence = line[start:end]
        found = _value(sentence)
        if found is not None:
            return found
        if RETRACTION.match(sentence):
            return ""
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
    if _DENIED.match(sentence, tokens[right].end):
        return None
    announced = _ANNOUNCED.fullmatch(sentence[: tokens[left].start].rstrip(" \t\n(*"))
    if not announced and not _says(sentence, tokens[:left], tokens[anchors[-1]]):
        return None
    return _text(sentence, tokens, left, right)


def _says(sentence: str, before: list[_Token], value: _Token) -> bool:
    """Whether the tokens before the value are the subject and verb of a sentence of its own: "Lea climbed 17 steps"."""
    words = _words(sentence, before)
    last = words[-1] if words else ""
    if _is_unsure(words) or last in _BOUNDS:
        return False
    refers = last in _SIGNS or _refers(words)
    if _is_computed(sentence, before, value):
        return sentence[0].isupper() or not refers
    return sentence[0].isupper() and len(words) > 1 and not refers


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
    words = _words(sentence, tokens[:left])
    if _is_unsure(words) or _FOREIGN.search(sentence):
        return ""
    computed = _is_computed(sentence, tokens[:left], tokens[anchor])
    if (words and words[-1] in _BOUNDS) or (not computed and _refers(words)):
        return ""
    joint = left > 1 and tokens[left - 2].kind in ("number", "math")
    if joint and words[-1:] == ["of"]:
        return ""  # "5 of 12"
    if words and words[-1] in _SIGNS:
        if joint:
            return ""  # "12 minus 5"
        left -= 1
    rest = sentence[tokens[right].end :]
    if "?" in rest or "？" in rest or _DENIED.match(rest) or TAKEN_BACK.search(rest):
        return ""
    return _text(sentence, tokens, left, right)


def _words(sentence: str, tokens: list[_Token]) -> list[str]:
    return [sentence[token.start : token.end].lower() for token in tokens if token.kind in ("word", "list")]


def _is_unsure(words: list[str]) -> bool:
    return any(word in _UNSURE or word.endswith(("n't", "n’t")) for word in words)


def _is_computed(sentence: str, before: list[_Token], value: _Token) -> bool:
    """Whether the value is the result of a computation ("by 12 - 7 = 5"): it is, whatever word stands before."""
    return _COMPUTED.search(sentence, before[-1].start if before else 0, value.start) is not None


def _refers(words: list[str]) -> bool:
    """Whether the words before a number say that it names, bounds or feeds something and is not what is sought."""
    last, earlier = words[-1] if words else "", words[-2] if len(words) > 1 else ""
    if words[-3:-2] == ["whose"]:
        return True  # "the number whose square is 17"
    if last == "of":
        return earlier not in _AMOUNTS
    if last == "to":
        reaches = earlier == "up" and " ".join(words[-3:-2]).startswith(("add", "sum", "round"))
        return earlier in _UNEQUAL_TO and not reaches
    return _REFERS.fullmatch(last) is not None


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
