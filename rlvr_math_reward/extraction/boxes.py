"""The answer in `\\boxed{...}` or `\\fbox{...}`: the last box, with those that only connectives part from it.

The outermost box counts when boxes are nested. A last box that is empty or never closes is no answer, even where an
earlier one closed. Prose before or after the boxes is not read. A sign right before one is part of the answer; an
operator or a factor right next to one (`\\boxed{4}^2`, `2\\boxed{4}`) makes it a part of a formula and no answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain, pairwise
from typing import TypeAlias

from rlvr_math_reward.extraction.wrapping import BROKEN, MAX_GAP, MAX_WINDOW, NAME, Found, clean
from rlvr_math_reward.policy import MAX_ANSWER_CHARS, MAX_ITEMS

__all__ = ["boxed", "closing", "connects"]

Box: TypeAlias = tuple[int, int, int]
"""A box: where its command stands, where its content starts and ends."""

_OPEN = re.compile(r"\\(?:boxed|fbox)\s*\{")
_BRACES = re.compile(r"\\.|[{}]", re.DOTALL)
_BOXES = re.compile(r"\\(?:boxed|fbox)\s*\{|\\.|[{}]", re.DOTALL)
_CONNECTIVE = re.compile(
    r"\s+|\\[,;:!\\()\[\] >]"
    r"|\\(?:quad|qquad|text|textbf|textit|mathrm|mathbf|displaystyle|hspace|vspace|hfill|newline|par|lor|vee|land|wedge)"
    r"(?![A-Za-z])"
    r"|\\(?:begin|end|color|textcolor|hspace|vspace)\*?\{\w+\*?\}|\\(?:textcolor|color)(?![A-Za-z])"
    r"|(?:and|or|also|either|else|maybe|perhaps|possibly|probably|alternatively|otherwise|versus|vs)\b"
    r"|(?:(?:part|case|option|root|solution|answer)\s*\(?)?(?!no\b)[A-Za-z\d]{1,3}[.):]"
    rf"|{NAME}\s*&?\s*=|[,;:.&$*`{{}}\[\]()|/~#>•✅=-]",
    re.IGNORECASE,
)
_NAMED = re.compile(rf"({NAME})\s*&?\s*=\s*[$({{\[\\\s]*$")
_ECHO = re.compile(r"\byour\s+(?:final\s+)?answers?\s+(?:in|within|inside|using|as|with|into)\s*[\\`$(\s]*$")
_EQUALS = re.compile(r"(?:[\s$&]|\\[\\()\[\]])*=(?:[\s$&]|\\[()\[\]])*")
_PLACEHOLDER = re.compile(
    r"(?:\\text\{)?\s*(?:(?:your|the|final)\s+)*answers?(?:\s+here)?\s*\}?|\.{3}|…|\\[lc]?dots", re.IGNORECASE
)
_BLANK = re.compile(r"(?:[\s{}$~.,]|\\(?:[,;:!\s()\[\]]|(?:text|mathrm|mathbf|textbf|quad|qquad)(?![A-Za-z])))*")


def boxed(text: str) -> Found | None:
    """The last box, or the list that it ends.

    Example:
        >>> boxed(r"$\\boxed{3}$ or $\\boxed{4}$")
        ('3, 4', 8, 24)
    """
    last = text.rfind("box") if "\\" in text else -1
    if last < 0:
        return None
    if text.startswith("\\boxed{", last - 1) and text.rfind("box", 0, last) < 0:  # as most completions end
        return BROKEN if _is_echo(text, last - 1) else _only(text, last - 1, last + 6)
    if "\\boxed" not in text and "\\fbox" not in text:
        return None
    marks = _marks(text)
    mark = next(marks, -1)
    opened = _OPEN.match(text, mark) if mark >= 0 else None
    if opened is None or _is_echo(text, mark):
        return BROKEN
    start = opened.end()
    previous = next(marks, -1)
    if previous < 0:
        return _only(text, mark, start)
    end = closing(text, start, len(text))
    if end < 0:
        return BROKEN
    if closing(text, end + 1, len(text)) >= 0:
        outer = _outermost(text, mark, start, end)
        if outer[0] != mark:
            mark, start, end = outer
            previous = next((at for at in marks if at < mark), -1)
    return _group(text, (mark, start, end), chain((previous,) if previous >= 0 else (), marks))


def _only(text: str, mark: int, start: int) -> Found:
    """What a box says that no other one stands beside."""
    end = text.find("}", start)
    answer = text[start:end] if end >= 0 else ""
    if answer.isalnum() and answer.isascii() and text[mark - 1 : mark] in _JOINS_NOTHING and _ends(text, end + 1):
        return answer, start, end  # `$\boxed{42}$`: nothing below changes it
    end = closing(text, start, len(text))
    if end < 0 or _is_operand(text, mark, end + 1):
        return BROKEN
    return _content(text, mark, start, end), start, end


def _marks(text: str) -> Iterator[int]:
    """Where `\\boxed` and `\\fbox` stand, last first. Each needle is searched once over the text, in steps."""
    boxed, fbox = text.rfind("\\boxed"), text.rfind("\\fbox")
    while (at := max(boxed, fbox)) >= 0:
        if at == boxed:
            boxed = text.rfind("\\boxed", 0, at)
            after = text[at + 6 : at + 7]
        else:
            fbox = text.rfind("\\fbox", 0, at)
            after = text[at + 5 : at + 6]
        if not after.isalpha():  # `\\fboxsep` is another command
            yield at


_REACH = 40
"""Characters next to a box in which a sign or an operator is looked for."""
_SIGN = re.compile(
    r"(?:(?:\A|[=,($\[{&\n]|\\[(\[]|:\s|[A-Za-z]{2,}\s)\s*(?:[-−]|\\pm\s*)|(?:[=,($\[{]|\\[(\[])\s*[-−]\s+)\Z"
)
_SIGN_ENDS = frozenset("-−m")
_APART = frozenset(("", " ", "\n", "\t", "$", ".", ",", ":", ";", "=", "(", "["))
"""What may stand right before or after a box and joins it to nothing."""
_MATH_ENDS = frozenset((r"\)", r"\]"))
_JOINS_NOTHING = frozenset("$.,:;=([")
"""What may stand right before a box so that no sign stands before it either."""
_OPERAND = r"(?:[\d)\]!]|(?<![A-Za-z\\])[A-Za-z])"
_OPERATES = re.compile(
    rf"(?:{_OPERAND}\s?[-−+*/·×÷]|[\^√]|\d|(?<![\w\\'’])[b-zB-Z]|\\[dt]?frac\s*\{{[^{{}}]*\}}(?:\{{[^{{}}]*\}})?"
    r"|\\(?:cdot|times|div|sqrt|[dt]?frac|mp|ln|log|sin|cos|tan)\s*)\{?\Z",
    re.ASCII,
)
_VALUE = r"(?:[\d(]|[A-Za-z](?![A-Za-z])|\\(?!text|math|mbox|quad|[^A-Za-z]))"
_OPERATED = re.compile(
    rf"\^\s*\{{?\s*(?:[-−+(\d]|[a-np-zA-Z](?![A-Za-z])|\\(?:[dt]?frac|sqrt|pi))|!(?=\s*(?:\$|\\[)\]]|[\^*/+=]))|[/·×÷*]\s*[\d(]"
    rf"|[/+−-]\s*{_VALUE}|\d|[a-fi-knopqrt-z](?![A-Za-z])|\\(?:cdot|times|div|[dt]?frac|sqrt|pi)(?![A-Za-z])",
    re.ASCII,
)
_BASE = re.compile(r"_(?:\{\s*\d{1,2}\s*\}|\d)(?!\d)")


def _is_operand(text: str, mark: int, end: int) -> bool:
    """Whether an operator or a factor touches the box that stands from `mark` to `end`."""
    if text[mark - 1 : mark] not in _APART and _OPERATES.search(text, max(0, mark - _REACH), mark):
        return True
    if _ends(text, end):
        return False
    return _OPERATED.match(text, end, end + _REACH) is not None


def _ends(text: str, end: int) -> bool:
    """Whether what stands at `end` clearly belongs to no formula with what stands before it."""
    return text[end : end + 1] in _APART or text[end : end + 2] in _MATH_ENDS


def _content(text: str, mark: int, start: int, end: int) -> str:
    """The answer in one box, with the sign that stands before it: `x = -\\boxed{3}` says minus three."""
    answer = text[start:end]
    if not (answer.isascii() and answer.isalnum()):
        if _is_blank(answer):
            return ""
        answer = clean(_unbox(answer))
    if text[end + 1 : end + 2] == "_" and answer.isalnum() and (base := _BASE.match(text, end + 1)):
        answer += base.group()
    sign = text[max(0, mark - _REACH) : mark].rstrip()[-1:]
    if sign in _SIGN_ENDS and _SIGN.search(text, max(0, mark - _REACH), mark):
        sign = "-" if sign != "m" else "\\pm "
        return f"{sign}({answer})" if not answer.isalnum() else f"{sign}{answer}"
    return answer


def _is_echo(text: str, mark: int) -> bool:
    """Whether the box is part of the instruction ("put your final answer in \\boxed{...}") and no answer."""
    before = max(0, mark - MAX_GAP)
    return text.find("your", before, mark) >= 0 and _ECHO.search(text, before, mark) is not None


def _is_blank(content: str) -> bool:
    """Whether nothing is left of a box's content without its spacing and empty groups."""
    return len(content) <= MAX_GAP and _BLANK.fullmatch(content) is not None


def closing(text: str, start: int, end: int) -> int:
    """Where the brace that is open at `start` closes, or -1. An escaped brace opens and closes nothing."""
    found = text.find("}", start, end)
    if found < 0 or (text.find("{", start, found) < 0 and text[found - 1] != "\\"):
        return found
    depth, at = 1, start
    limit = min(end, start + MAX_WINDOW)
    while (found := text.find("}", at, end)) >= 0:
        depth += text.count("{", at, found) - 1
        if not depth or found > limit:
            break
        at = found + 1
    if found < 0 or (text.find("\\{", start, found) < 0 and text.find("\\}", start, found + 1) < 0):
        return found
    depth = 1
    for token in _BRACES.finditer(text, start, limit):
        match token.group():
            case "{":
                depth += 1
            case "}":
                depth -= 1
                if not depth:
                    return token.start()
    # Wherever it closes, the answer is over the length that the parser reads.
    return -1 if limit == end else limit


def _outermost(text: str, mark: int, start: int, end: int) -> Box:
    """The outermost box around the one given, among those that an answer of the longest allowed length can reach."""
    stack: list[tuple[int, int]] = []
    best = mark, start, end
    for token in _BOXES.finditer(text, max(0, mark - MAX_ANSWER_CHARS), end + MAX_ANSWER_CHARS):
        body = token.group()
        if body == "}":
            if stack:
                opened, inside = stack.pop()
                if opened < mark and token.start() >= end and text[opened] == "\\":
                    best = opened, inside, token.start()
        elif len(body) != 2:
            stack.append((token.start(), token.end()))
    return best


def _group(text: str, last: Box, before: Iterator[int]) -> Found:
    """The box together with those before it from which nothing but connectives parts it."""
    boxes = [last]
    for previous in before:
        right = boxes[-1][0]
        opened = _OPEN.match(text, previous)
        closed = closing(text, opened.end(), right) if opened else -1
        if opened is None or closed < 0 or right - closed > MAX_GAP:
            if closed < 0 and right - previous <= MAX_GAP and "\n" not in text[previous:right]:
                return BROKEN  # `\\boxed{3 or \\boxed{4}`: there is no telling where the first one ends
            break
        if not connects(text, closed + 1, right) or _PLACEHOLDER.fullmatch(text, opened.end(), closed):
            break
        boxes.append((previous, opened.end(), closed))
        if len(boxes) > MAX_ITEMS:
            break
    boxes.reverse()
    if _is_operand(text, boxes[0][0], boxes[-1][2] + 1):
        return BROKEN
    parts = [_content(text, *box) for box in boxes]
    if not parts[-1]:
        return BROKEN
    gaps = [text[one[2] + 1 : two[0]] for one, two in pairwise(boxes)]
    chained = bool(gaps) and all(_EQUALS.fullmatch(gap) for gap in gaps)
    if len(parts) > 1 and not chained:
        parts = _named(text, boxes, parts)
    answer = (" = " if chained else ", ").join(dict.fromkeys(filter(None, parts)))
    return answer, boxes[0][1], boxes[-1][2]


def connects(text: str, start: int, end: int) -> bool:
    """Whether nothing but connectives stands in a part of a text: space, signs, "or", a label `(a)`, a name and `=`.

    Piece by piece and never back: one pattern for all of it tries every way to cut a row of spaces into pieces.
    """
    while start < end:
        piece = _CONNECTIVE.match(text, start, end)
        if piece is None:
            return False
        start = piece.end()
    return True


def _named(text: str, boxes: list[Box], parts: list[str]) -> list[str]:
    """The parts with the names before their boxes, where these tell them apart: `a=\\boxed{1}, b=\\boxed{2}`."""
    names = [found[1] if (found := _NAMED.search(text[max(0, mark - MAX_GAP) : mark])) else "" for mark, _, _ in boxes]
    if not all(names) or len(set(names)) == 1:
        return parts
    return [part and f"{name} = {part}" for name, part in zip(names, parts, strict=True)]


def _unbox(content: str) -> str:
    """The content without the boxes inside it; boxes side by side become a list: `\\boxed{3}\\boxed{4}` is no 34."""
    if "box" not in content or len(content) > MAX_ANSWER_CHARS:
        return content
    out: list[str] = []
    stack: list[bool] = []
    done = 0
    closed = False
    for token in _BOXES.finditer(content):
        body = token.group()
        box = len(body) > 2
        if box or (body == "}" and stack and stack[-1]):
            gap = content[done : token.start()]
            out.append(", " if closed and box and connects(gap, 0, len(gap)) else gap)
            done, closed = token.end(), not box
        if box or body == "{":
            stack.append(box)
        elif body == "}" and stack:
            stack.pop()
    out.append(content[done:])
    return "".join(out)
