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

from rlvr_math_reward.extraction.boxes import boxed, closing, connects
from rlvr_math_reward.extraction.phrases import phrase
from rlvr_math_reward.extraction.prose import last_value, whole
from rlvr_math_reward.extraction.wrapping import BROKEN, DISPLAYS, MAX_GAP, MAX_WINDOW, Found, clean, plain
from rlvr_math_reward.policy import MAX_ANSWER_CHARS, MAX_ITEMS
from rlvr_math_reward.verdict import Extraction

__all__ = ["RULES", "extract"]

_MAX_HEADINGS = 100
"""Lines with `####` that are looked at, from the end, for one that is no Markdown heading."""
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
    start = _start(completion) if "<" in completion else 0
    if start < 0:
        return None
    part = _visible(completion[start:] if start else completion)
    for name, rule in RULES:
        if (found := rule(part)) is not None:
            return _placed(found, start, name)
    return _placed(FALLBACKS[fallback](part), start, fallback)


def _placed(found: Found | None, start: int, rule: str) -> Extraction | None:
    if found is None or not found[0]:
        return None
    answer, first, last = found
    return Extraction(answer, (start + first, start + last), rule)


_THINK = re.compile(r"<(/?)think>", re.IGNORECASE)


def _start(text: str) -> int:
    """Where the part after the thinking starts; -1 when the thinking never ends."""
    if not _THINK.search(text):
        return 0
    closed, opened = 0, -1
    for tag in _THINK.finditer(text):
        if tag[1]:
            closed = tag.end()
        else:
            opened = tag.start()
    return -1 if opened >= closed else closed


_HIDDEN = re.compile(r"<!--.*?(?:-->|\Z)|^[ \t]*%[^\n]*", re.DOTALL | re.MULTILINE)
_PHANTOM = re.compile(r"\\[hv]?phantom\s*\{")


def _visible(text: str) -> str:
    """The text with blanks for what a reader does not see: comments and phantoms. Every place stays where it was."""
    if _has_comment(text):
        text = _HIDDEN.sub(lambda hidden: " " * len(hidden[0]), text)
    if "\\" not in text or text.rfind("phantom") < 0:
        return text
    parts: list[str] = []
    at = 0
    while found := _PHANTOM.search(text, at):
        end = closing(text, found.end(), len(text))
        end = len(text) if end < 0 else min(end + 1, len(text))
        parts += text[at : found.start()], " " * (end - found.start())
        at = end
    return "".join((*parts, text[at:]))


def _has_comment(text: str) -> bool:
    """Whether a comment of HTML or TeX is in it: asked first, as a pattern that looks at each line takes longer."""
    if "<" in text and "<!--" in text:
        return True
    at = text.find("%")
    while at >= 0:
        if not text[text.rfind("\n", 0, at) + 1 : at].strip(" \t"):
            return True
        line = text.find("\n", at)
        at = text.find("%", line) if line >= 0 else -1
    return False


# -- <answer> ------------------------------------------------------------------------------------------------------
_TAG = re.compile(r"<(/?)answer>", re.IGNORECASE)


def _answer_tag(text: str) -> Found | None:
    if "<" not in text or not _TAG.search(text):
        return None
    tags = [(tag.start(), tag.end(), not tag[1]) for tag in _TAG.finditer(text)]
    last = next((at for at in reversed(range(len(tags))) if tags[at][2]), -1)
    if last < 0:
        return None
    if last + 1 == len(tags):
        return BROKEN
    answer, start, end = _inner(text, tags[last][1], tags[last + 1][0])
    parts = [answer]
    for _ in range(MAX_ITEMS):  # tags that only connectives part are one list, as boxes are
        if last < 2 or tags[last - 1][2] or not tags[last - 2][2]:
            break
        gap = text[tags[last - 1][1] : tags[last][0]]
        if len(gap) > MAX_GAP or gap.strip() == "" or not connects(gap, 0, len(gap)):
            break
        last -= 2
        answer, start, _ = _inner(text, tags[last][1], tags[last + 1][0])
        parts.append(answer)
    return (", ".join(dict.fromkeys(reversed(parts))) if parts[0] else ""), start, end


def _inner(text: str, start: int, end: int) -> Found:
    """What one tag says: the box in it, or what its announcement announces, or all of it."""
    inner = text[start:end]
    for rule in (boxed, phrase):
        found = rule(inner)
        if found is not None:
            return found[0], start + found[1], start + found[2]
    return clean(plain(inner)), start, end


# -- #### ----------------------------------------------------------------------------------------------------------
_STEP = re.compile(r"[\s*_>#-]*(?:Step\s*\d+\s*[:.][\s*_#]*)?")
_VALUE_LINE = re.compile(r"\s*(?:[-+−$€£(\[{.\\]|\d+(?![.)]\s+[^\W\d])|[A-Za-z]\b)\S*(?:\s+\S+){0,3}\s*")
_ANSWER_WORD = re.compile("answer", re.IGNORECASE)


def _hash(text: str) -> Found | None:
    end = len(text)
    last = -1
    for _ in range(_MAX_HEADINGS):
        mark = text.rfind("####", 0, end)
        if mark < 0:
            return None
        last = len(text.rstrip()) if last < 0 else last
        line = text.rfind("\n", 0, mark) + 1
        stop = text.find("\n", mark)
        stop = len(text) if stop < 0 else stop
        start = mark + 4
        content = text[start : min(stop, start + MAX_ANSWER_CHARS)]
        leads = mark - line <= MAX_GAP and _STEP.fullmatch(text, line, mark) is not None
        # A Markdown heading ("#### Step 2", "#### Final Answer: 5") is no answer line.
        answers = (leads and stop >= last) or ((leads or text[mark - 1].isspace()) and _VALUE_LINE.fullmatch(content))
        if answers and not _ANSWER_WORD.search(content):
            return clean(plain(content)), start, stop
        end = line
    return None


# -- fallbacks -----------------------------------------------------------------------------------------------------
_CODE = re.compile(
    r"[A-Za-z]{2}_[A-Za-z]{2}|\bprint\(|^(?:def|return|import|from|while)\s|^[a-z]{3,12}\s?=|[A-Za-z]\[\w"
)
_LABEL = re.compile(r"(?:[\s>#*_-]*(?:A|Ans|Step\s*\d+)\s*:|\s*[-*•#>]+\s)?\s*")
_FENCE = re.compile(r"\s*(?:`{3,}\w*|~{3,}|-{3,}|\*{3,}|={3,}|</?\w+>)?\s*")
_OPEN_ENDS = frozenset("=+*/^:,;({[<>\\−–-")
_OPEN_WORDS = frozenset((
    "is", "are", "was", "be", "the", "a", "an", "of", "to", "that", "we", "in", "by", "for", "and", "or", "if", "with",
    "get", "so", "as", "at", "on", "from", "this", "which", "where", "than", "has", "must", "can", "let", "when",
))  # fmt: skip
_MAX_CODE = 200
"""Characters of a line of a program; a longer one is prose."""
_NUMBER_LINE = re.compile(r"(?:A:\s*)?(-?\$?\d+(?:,\d{3})*(?:\.\d+)?)\.?")

_SPACED_SIGN = re.compile(r"- \d+(?:,\d{3})*(?:\.\d+)?")


def _last_line(text: str) -> Found | None:
    for line, start, end in _lines(text):
        return clean(line), start, end
    return None


def _last_number(text: str) -> Found | None:
    end = len(text.rstrip(" \t\r\n*"))
    if text[end : end + 1] == "*" and text[end + 1 : end + 2] != "*":
        end += 1  # no bold that closes
    start = text.rfind("\n", 0, end) + 1
    if start == 0 and _SPACED_SIGN.fullmatch(text, 0, end):  # with nothing above it, no item of a list
        return text[:end], 0, end
    simple = _NUMBER_LINE.fullmatch(text, start, end)
    if simple:
        if _is_list_number(text, start, end):
            return BROKEN
        return simple[1], *simple.span(1)
    if text.rfind("\\[") > text.rfind("\\]") or text.rfind("\\(") > text.rfind("\\)"):
        return BROKEN  # cut inside a formula
    for number, (line, start, end) in enumerate(_lines(text)):
        if len(line) <= _MAX_CODE and _CODE.search(line):
            return BROKEN
        if number == 0:
            if _is_cut(line):
                return BROKEN
            if answer := whole(line):
                return answer, start, end
        value = last_value(line)
        if value is not None:
            return value, start, end
        if number == 0 and line[-1].isalnum():
            return BROKEN  # cut within a sentence
    return None


def _is_list_number(text: str, start: int, end: int) -> bool:
    """Whether the last line is the number of a list's next item, where the text was cut."""
    number = text[start:end].rstrip(".")
    if len(number) > 2 or not number.isdecimal():
        return False
    item = f"{int(number) - 1}. "
    return text.startswith(item) or text.rfind("\n" + item, 0, start) >= 0


def _is_cut(line: str) -> bool:
    """Whether a text that ends in this line was cut off: a word or an operator is left hanging."""
    last = line[-1]
    return last in _OPEN_ENDS or (
        len(line) > 1 and last.isalpha() and line[-8:].rsplit(None, 1)[-1].lower() in _OPEN_WORDS
    )


def _lines(text: str) -> Iterator[tuple[str, int, int]]:
    """The last lines, last first, without fences and labels; a display that spans several lines is one of them."""
    floor = max(0, len(text) - MAX_WINDOW)
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
    ("boxed", boxed),
    ("hash", _hash),
    ("phrase", phrase),
)
"""In order of strength; the first whose mark is in the text decides."""

FALLBACKS: dict[str, Callable[[str], Found | None]] = {
    "last_number": _last_number,
    "last_line": _last_line,
    "none": lambda text: None,
}
