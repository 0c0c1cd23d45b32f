"""Completion -> final answer: one ordered list of rules, each of which looks from the end of the text.

A rule returns None when its mark is not there, and an empty answer when the mark is there but states nothing (a box
that is empty or never closes, a phrase that is negated). The first rule whose mark is there decides: a broken box is
never replaced by a number that happens to stand somewhere else. What the answer means is for the parser; here only
its wrapping is removed.

Not covered: which of several values is meant (they are handed on as a list, so that a list is what gets graded), and
an answer that only the prompt states (the prompt is never searched). Every search is linear in the length of the text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import chain
from typing import TypeAlias

from rlvr_math_reward.policy import MAX_ANSWER_CHARS, MAX_ITEMS
from rlvr_math_reward.prose import last_value, only_value, whole
from rlvr_math_reward.verdict import Extraction
from rlvr_math_reward.wrapping import DISPLAYS, NAME, clean, plain

__all__ = ["RULES", "extract"]

Found: TypeAlias = tuple[str, int, int]
"""The answer's text, and the start and end of where it stands. An empty text: the mark is there, an answer is not."""

Box: TypeAlias = tuple[int, int, int]
"""A box: where its command stands, where its content starts and ends."""

_BROKEN: Found = ("", 0, 0)

_MAX_GAP = 80
"""Characters between two boxes that may still be read as one list: `$ \\quad\\text{ or }\\quad x_2 = $` has 36."""
_MAX_WINDOW = 2 * MAX_ANSWER_CHARS
"""Characters in which the braces of one box, and the answer that no rule marks, are looked for."""
_MAX_PHRASES = 100
"""Times that the word "answer" is looked at, from the end: what stands before so many more is no final answer."""
_MAX_LINES = 6
"""Lines that the fallback looks back over: a closing remark or two may follow the answer, a derivation may not."""


def extract(completion: str, fallback: str = "last_number") -> Extraction | None:
    """Find the final answer that a completion states.

    Args:
        completion: what the model wrote. Only what follows the last `</think>` is read.
        fallback: what to read where no tag, box, `####` line or phrase marks an answer: `last_number`, `last_line`
            or `none` (see `Policy.fallback`).

    Returns:
        The answer, or None when the completion states none.

    Example:
        >>> extract(r"<think>\\boxed{1}?</think> So $x = \\boxed{\\frac{1}{2}}$.").text
        '\\\\frac{1}{2}'
    """
    start = _start(completion)
    if start < 0:
        return None
    part = completion[start:] if start else completion
    for name, rule in RULES:
        found = rule(part)
        if found is not None:
            break
    else:
        name, found = fallback, FALLBACKS[fallback](part)
    if found is None or not found[0]:
        return None
    return Extraction(found[0], (start + found[1], start + found[2]), name)


def _start(text: str) -> int:
    """Where the part after the thinking starts; -1 when the thinking never ends."""
    if text.rfind("think>") < 0:
        return 0
    closed = text.rfind("</think>")
    if text.find("<think>", closed + 1) >= 0:
        return -1
    return closed + 8 if closed >= 0 else 0


# -- <answer> ------------------------------------------------------------------------------------------------------
def _answer_tag(text: str) -> Found | None:
    last = text.rfind("answer>")
    if last < 0:
        return None
    opened = text.rfind("<answer>")
    if opened < 0:
        return None
    closed = text.find("</answer>", opened)
    if closed < 0:
        return _BROKEN
    start = opened + 8
    inner = text[start:closed]
    for rule in (_boxed, _phrase):
        found = rule(inner)
        if found is not None:
            return found[0], start + found[1], start + found[2]
    return clean(plain(inner)), start, closed


# -- \boxed --------------------------------------------------------------------------------------------------------
_OPEN = re.compile(r"\\(?:boxed|fbox)\s*\{")
_BRACES = re.compile(r"\\.|[{}]", re.DOTALL)
_BOXES = re.compile(r"\\(?:boxed|fbox)\s*\{|\\.|[{}]", re.DOTALL)
_CONNECTIVE = re.compile(
    r"(?:\s+|[,;:.&$*`{}\[\]()|/~#>•✅-]|\\[,;:!\\()\[\] >]"
    r"|\\(?:quad|qquad|text|textbf|textit|mathrm|mathbf|displaystyle|hspace|vspace|hfill|newline|par|lor|vee|land|wedge)"
    r"(?![A-Za-z])"
    r"|\\(?:begin|end|color|textcolor|hspace|vspace)\*?\{\w+\*?\}|\\(?:textcolor|color)(?![A-Za-z])"
    r"|(?:and|or|also|either|else|maybe|perhaps|possibly|probably|alternatively|otherwise|versus|vs)\b"
    r"|(?:part|case|option|root|solution|answer)?\s*\(?[A-Za-z\d]{1,3}[.):]"
    rf"|{NAME}\s*&?\s*=|=)*",
    re.IGNORECASE,
)
_NAMED = re.compile(rf"({NAME})\s*&?\s*=\s*[$({{\[\\\s]*$")
_ECHO = re.compile(r"\byour\s+(?:final\s+)?answers?\s+(?:in|within|inside|using|as|with|into)\s*(?:an?\s|the\s)?[\\`$(\s]*$")
_BLANK = re.compile(r"(?:[\s{}$~.,]|\\(?:[,;:!\s()\[\]]|(?:text|mathrm|mathbf|textbf|quad|qquad)(?![A-Za-z])))*")


def _boxed(text: str) -> Found | None:
    marks = _marks(text)
    mark = next(marks, -1)
    if mark < 0:
        return None
    opened = _OPEN.match(text, mark)
    if opened is None or _is_echo(text, mark):
        return _BROKEN
    start = opened.end()
    end = _close(text, start, len(text))
    if end < 0:
        return _BROKEN
    previous = next(marks, -1)
    if previous < 0:
        content = text[start:end]
        return ("" if _is_blank(content) else clean(content)), start, end
    if _close(text, end + 1, len(text)) >= 0:
        outer = _outermost(text, mark, start, end)
        if outer[0] != mark:
            mark, start, end = outer
            previous = next((at for at in marks if at < mark), -1)
    return _group(text, (mark, start, end), chain((previous,) if previous >= 0 else (), marks))


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


def _is_echo(text: str, mark: int) -> bool:
    """Whether the box is part of the instruction ("put your final answer in \\boxed{...}") and no answer."""
    before = text[max(0, mark - _MAX_GAP) : mark]
    return "your" in before and _ECHO.search(before) is not None


def _is_blank(content: str) -> bool:
    """Whether nothing is left of a box's content without its spacing and empty groups."""
    return len(content) <= _MAX_GAP and _BLANK.fullmatch(content) is not None


def _close(text: str, start: int, end: int) -> int:
    """Where the brace that is open at `start` closes, or -1. An escaped brace opens and closes nothing."""
    depth, at = 1, start
    limit = min(end, start + _MAX_WINDOW)
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
        closed = _close(text, opened.end(), right) if opened else -1
        if opened is None or closed < 0 or right - closed > _MAX_GAP:
            if closed < 0 and right - previous <= _MAX_GAP and "\n" not in text[previous:right]:
                return _BROKEN  # `\\boxed{3 or \\boxed{4}`: there is no telling where the first one ends
            break
        if not _CONNECTIVE.fullmatch(text, closed + 1, right):
            break
        boxes.append((previous, opened.end(), closed))
        if len(boxes) > MAX_ITEMS:
            break
    boxes.reverse()
    parts = [clean(_unbox(text[start:end])) for _, start, end in boxes]
    empty = _is_blank(parts[-1])
    if len(parts) > 1:
        parts = _named(text, boxes, parts)
    answer = "" if empty else ", ".join(part for part in dict.fromkeys(parts) if not _is_blank(part))
    return answer, boxes[0][1], boxes[-1][2]


def _named(text: str, boxes: list[Box], parts: list[str]) -> list[str]:
    """The parts with the names before their boxes, where these tell them apart: `a=\\boxed{1}, b=\\boxed{2}`."""
    names = [found[1] if (found := _NAMED.search(text[max(0, mark - _MAX_GAP) : mark])) else "" for mark, _, _ in boxes]
    if not all(names) or len(set(names)) == 1:
        return parts
    return [f"{name} = {part}" for name, part in zip(names, parts, strict=True)]


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
            out.append(", " if closed and box and _CONNECTIVE.fullmatch(gap) else gap)
            done, closed = token.end(), not box
        if box or body == "{":
            stack.append(box)
        elif body == "}" and stack:
            stack.pop()
    out.append(content[done:])
    return "".join(out)


# -- #### ----------------------------------------------------------------------------------------------------------
_STEP = re.compile(r"\s*(?:[*_>-]*\s*)(?:Step\s*\d+\s*[:.])?\s*[*_]*")
_VALUE_LINE = re.compile(r"\s*(?:[-+−$€£(\[{.\\]|\d+(?![.)]\s+[^\W\d])|[A-Za-z]\b)\S*(?:\s+\S+){0,3}\s*")
_ANSWER_WORD = re.compile("answer", re.IGNORECASE)


def _hash(text: str) -> Found | None:
    end = len(text)
    while (mark := text.rfind("####", 0, end)) >= 0:
        line = text.rfind("\n", 0, mark) + 1
        stop = text.find("\n", mark)
        stop = len(text) if stop < 0 else stop
        start = mark + 4
        content = text[start : min(stop, start + MAX_ANSWER_CHARS)]
        leads = _STEP.fullmatch(text, line, mark) is not None or text[line:mark].strip("# ") == ""
        last = not text[stop:].strip() if stop - start <= MAX_ANSWER_CHARS else False
        # A Markdown heading ("#### Step 2", "#### Final Answer: 5") is no answer line.
        if (leads and last) or ((leads or text[mark - 1].isspace()) and _VALUE_LINE.fullmatch(content)):
            if not _ANSWER_WORD.search(content):
                return clean(plain(content)), start, stop
        end = line
    return None


# -- phrases -------------------------------------------------------------------------------------------------------
_PHRASE = re.compile(
    r"answers?(?:\s?\(s\))?(?:\s+(?:to|for)\b[^\n.:=?!$\\]{1,50}?)?[*_\"'`}\])]*(?P<heading>[ \t]*\n)?[\s*_}~]*"
    r"(?:(?P<deny>(?:is|are|was)(?:\s+not|n't|n’t)\b|(?:could|might|may|can(?:'t|’t|not)?)\s*(?:not\s+)?be\b)"
    r"|(?P<state>[:：=]|(?:is|are|must\s+be|should\s+be|will\s+be|would\s+be|equals)\b))?",
    re.IGNORECASE,
)
_LEAD = re.compile(r"(?:[\s:：=*_~`}\"'>]|\\(?:text|mathrm|textbf)\{\s*[:=]?\s*\}|#+\s)*(?:(?:simply|therefore|thus|that|equal to|given by)\b[\s:*]*)*", re.I)
_HEDGE = re.compile(
    r"(?:not|never|neither|no longer|none of these|probably|maybe|perhaps|possibly|likely|either|one of|between"
    r"|wrong|incorrect|more than|less than|greater than|at least|at most)\b",
    re.IGNORECASE,
)
_COMMENT = re.compile(r"(?:indeed\s+|also\s+|then\s+)?(?:correct|reasonable|consistent|verified|confirmed|as follows)\b", re.I)
_HEADING = re.compile(r"[\s#*_>-]*(?:the\s+|my\s+)?(?:final\s+)?", re.IGNORECASE)
_STOP = re.compile(r"\n|\?|。|(?<![ap]\.m)\.(?=[*_)\"'\]}]*\s+[^a-z\s]|[*_)\"'\]}]*\s*(?:\n|\Z))")
_BLOCKS = (("\\[", "\\]"), ("$$", "$$"), ("\\(", "\\)"))
_MORE = re.compile(r"\s*(?:,|or\b|and\b)", re.IGNORECASE)
_CLAUSE = re.compile(r"\s*(?:,\s*(?:which|because|since|as|so|and so|thus|hence)|\(?\b(?:because|since))\b.*", re.DOTALL | re.I)


def _phrase(text: str) -> Found | None:
    low, high = text.rfind("nswer"), text.rfind("NSWER")
    for _ in range(_MAX_PHRASES):
        at = max(low, high)
        if at <= 0:
            return None
        found = _PHRASE.match(text, at - 1, at + _MAX_WINDOW)
        if found and not text[at - 2 : at - 1].isalnum():
            if found["deny"]:
                return _BROKEN
            headed = found["heading"] and not found["state"] and _is_heading(text, at - 1)
            if found["state"] or headed:
                stated = _stated(text, found.end("heading") if headed else found.end())
                if stated is not None:
                    return stated
        if at == low:
            low = text.rfind("nswer", 0, at)
        else:
            high = text.rfind("NSWER", 0, at)
    return None


def _is_heading(text: str, at: int) -> bool:
    return _HEADING.fullmatch(text, text.rfind("\n", 0, at) + 1, at) is not None


def _stated(text: str, at: int) -> Found | None:
    """What stands after a phrase, to the end of its sentence. None: a remark on the answer, not the answer."""
    lead = _LEAD.match(text, at, at + _MAX_WINDOW)
    start = lead.end() if lead else at
    if start >= len(text) or _HEDGE.match(text, start):
        return _BROKEN
    if _COMMENT.match(text, start):
        return None
    end = _sentence_end(text, start)
    if end < 0:
        return _BROKEN
    sentence = plain(text[start:end])
    sentence = _CLAUSE.sub("", sentence) or sentence
    return clean(_value_of(sentence)), start, end


def _sentence_end(text: str, start: int) -> int:
    """The end of the sentence that starts at `start`; -1 when it is a question or a display that never closes."""
    after = start
    for opener, closer in _BLOCKS:
        if text.startswith(opener, start):
            closed = text.find(closer, start + 2)
            if closed < 0:
                return -1
            after = closed + 2
            if not _MORE.match(text, after):
                return after
            break
    stop = _STOP.search(text, after, min(len(text), after + MAX_ANSWER_CHARS))
    if stop is None:
        return min(len(text), after + MAX_ANSWER_CHARS)
    return -1 if stop.group() == "?" else stop.start()


_OPINION = re.compile(r"\s+is\s+(?:the\s+)?(?:correct|right)(?:\s+(?:answer|choice|option))?\s*$", re.IGNORECASE)
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


# -- fallbacks -----------------------------------------------------------------------------------------------------
_CODE = re.compile(r"[A-Za-z]{2}_[A-Za-z]{2}|\bprint\(|^(?:def|return|import|from|while)\s|^[a-z]{3,12}\s?=|[A-Za-z]\[\w")
_LABEL = re.compile(r"(?:[\s>#*_-]*(?:A|Ans|Step\s*\d+)\s*:|\s*[-*•#>]+\s)?\s*")
_FENCE = re.compile(r"\s*(?:`{3,}\w*|~{3,}|-{3,}|\*{3,}|={3,}|</?\w+>)?\s*")
_CUT = re.compile(
    r"(?:[=+*/^:,;({\[<>−–-]|\\[A-Za-z]+|\b(?:is|are|was|be|the|a|an|of|to|that|we|in|by|for|and|or|if|with|get|so|as|at|on|"
    r"from|this|which|where|than|have|has|must|can|let|when|then|thus|therefore|hence|equals))$",
    re.IGNORECASE,
)
_MAX_CODE = 200
"""Characters of a line of a program; a longer one is prose."""
_MAX_CUT = 30
"""Characters at the end of a text that tell whether it was cut: the longest of the words and commands looked for."""
_NUMBER_LINE = re.compile(r"(?:A:\s*)?(-?\$?\d+(?:,\d{3})*(?:\.\d+)?)\.?")


def _last_line(text: str) -> Found | None:
    for line, start, end in _lines(text):
        return clean(line), start, end
    return None


def _last_number(text: str) -> Found | None:
    end = len(text.rstrip())
    simple = _NUMBER_LINE.fullmatch(text, text.rfind("\n", 0, end) + 1, end)
    if simple:
        return simple[1], *simple.span(1)
    if any(text.rfind(opener) > text.rfind(closer) for opener, closer in (("\\[", "\\]"), ("\\(", "\\)"))):
        return _BROKEN  # cut inside a formula
    for number, (line, start, end) in enumerate(_lines(text)):
        if len(line) <= _MAX_CODE and _CODE.search(line):
            return _BROKEN
        if number == 0 and (answer := whole(line)):
            return answer, start, end
        if number == 0 and _CUT.search(line[-_MAX_CUT:]):
            return _BROKEN
        value = last_value(line)
        if value is not None:
            return value, start, end
        if number == 0 and line[-1].isalnum():
            return _BROKEN  # cut within a sentence
    return None


def _lines(text: str) -> Iterator[tuple[str, int, int]]:
    """The last lines, last first, without fences and labels; a display that spans several lines is one of them."""
    floor = max(0, len(text) - _MAX_WINDOW)
    end = len(text.rstrip())
    for _ in range(_MAX_LINES):
        if end <= floor:
            return
        start = max(text.rfind("\n", floor, end) + 1, floor)
        tail = text[start:end].rstrip(" \t.*")
        for opener, closer in DISPLAYS:
            if tail.endswith(closer) and opener not in tail[:-2]:
                start = max(text.rfind(opener, floor, start), start if opener not in text[floor:start] else 0)
        label = _LABEL.match(text, start, end)
        first = label.end() if label else start
        line = plain(text[first:end])
        if line and not _FENCE.fullmatch(line):
            yield line, first, end
        end = len(text[:start].rstrip())


RULES: tuple[tuple[str, Callable[[str], Found | None]], ...] = (
    ("answer_tag", _answer_tag),
    ("boxed", _boxed),
    ("hash", _hash),
    ("phrase", _phrase),
)
"""In order of strength; the first whose mark is in the text decides."""

FALLBACKS: dict[str, Callable[[str], Found | None]] = {
    "last_number": _last_number,
    "last_line": _last_line,
    "none": lambda text: None,
}
