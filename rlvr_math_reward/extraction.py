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
from collections.abc import Callable
from typing import TypeAlias

from rlvr_math_reward.policy import MAX_ANSWER_CHARS
from rlvr_math_reward.verdict import Extraction

__all__ = ["RULES", "extract"]

Found: TypeAlias = tuple[str, int, int]
"""The answer's text, and the start and end of where it stands. An empty text: the mark is there, an answer is not."""

_BROKEN: Found = ("", 0, 0)

_MAX_GAP = 80
"""Characters between two boxes that may still be read as one list: `$ \\quad\\text{ or }\\quad x_2 = $` has 36."""
_MAX_WINDOW = 4_000
"""Characters at the end of a completion in which the fallback looks. A number further up is no final answer."""
_MAX_LINES = 6
"""Lines that the fallback looks back over: a closing remark or two may follow the answer, a derivation may not."""
_MAX_WRAPPERS = 8
"""Layers of `**`, `$`, `\\[` ... that are taken off one answer."""


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
    at = text.rfind("think>")
    while at > 0:
        if text[at - 1] == "<":
            return -1
        if text.startswith("</", at - 2) and at > 1:
            return at + 6
        at = text.rfind("think>", 0, at)
    return 0


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
    return _clean(_plain(inner)), start, closed


# -- \boxed --------------------------------------------------------------------------------------------------------
_OPEN = re.compile(r"\\(?:boxed|fbox)\s*\{")
_BRACES = re.compile(r"\\.|[{}]", re.DOTALL)
_BOXES = re.compile(r"\\(?:boxed|fbox)\s*\{|\\.|[{}]", re.DOTALL)
_NAME = r"(?:\\?[A-Za-z]{1,10}(?:_(?:\w|\{\w{1,8}\}))?'?(?:\(\w\))?)"
_CONNECTIVE = re.compile(
    r"(?:\s+|[,;:.&$*`{}\[\]()|/~#>•✅-]|\\[,;:!\\()\[\] >]"
    r"|\\(?:quad|qquad|text|textbf|textit|mathrm|mathbf|displaystyle|hspace|vspace|hfill|newline|par|lor|vee|land|wedge)"
    r"(?![A-Za-z])"
    r"|\\(?:begin|end|color|textcolor|hspace|vspace)\*?\{\w+\*?\}|\\(?:textcolor|color)(?![A-Za-z])"
    r"|(?:and|or|also|either|else|maybe|perhaps|possibly|probably|alternatively|otherwise|versus|vs)\b"
    r"|(?:part|case|option|root|solution|answer)?\s*\(?[A-Za-z\d]{1,3}[.):]"
    rf"|{_NAME}\s*&?\s*=|=)*",
    re.IGNORECASE,
)
_NAMED = re.compile(rf"({_NAME})\s*&?\s*=\s*[$({{\[\\\s]*$")
_ECHO = re.compile(r"\byour\s+(?:final\s+)?answers?\s+(?:in|within|inside|using|as|with|into)\s*(?:an?\s|the\s)?[\\`$(\s]*$")
_BLANK = re.compile(r"(?:[\s{}$~.,]|\\(?:[,;:!\s()\[\]]|(?:text|mathrm|mathbf|textbf|quad|qquad)(?![A-Za-z])))*")


def _boxed(text: str) -> Found | None:
    mark = _mark_before(text, len(text))
    if mark < 0:
        return None
    opened = _OPEN.match(text, mark)
    if opened is None or _ECHO.search(text, max(0, mark - _MAX_GAP), mark):
        return _BROKEN
    start = opened.end()
    end = _close(text, start, len(text))
    if end < 0:
        return _BROKEN
    previous = _mark_before(text, mark)
    if previous < 0:
        content = text[start:end]
        return ("" if _BLANK.fullmatch(content) else _clean(content)), start, end
    if _close(text, end + 1, len(text)) >= 0:
        mark, start, end = _outermost(text, mark, start, end)
    return _group(text, mark, start, end)


def _mark_before(text: str, end: int) -> int:
    """The last `\\boxed` or `\\fbox` before `end`. One needle for both, so that a run of boxes is walked once."""
    at = text.rfind("box", 0, end)
    while at > 0:
        mark, after = (at - 1, at + 5) if text.startswith("\\boxed", at - 1) else (at - 2, at + 3)
        if (mark == at - 1 or (mark >= 0 and text.startswith("\\f", mark))) and not text[after : after + 1].isalpha():
            return mark
        at = text.rfind("box", 0, at)
    return -1


def _close(text: str, start: int, end: int) -> int:
    """Where the brace that is open at `start` closes, or -1. An escaped brace opens and closes nothing."""
    first = text.find("}", start, end)
    if first < 0 or (text.find("{", start, first) < 0 and text.find("\\", start, first) < 0):
        return first
    depth = 1
    for token in _BRACES.finditer(text, start, end):
        match token.group():
            case "{":
                depth += 1
            case "}":
                depth -= 1
                if not depth:
                    return token.start()
    return -1


def _outermost(text: str, mark: int, start: int, end: int) -> tuple[int, int, int]:
    """The outermost box around the one given, in one pass over the braces from the first box on."""
    stack: list[tuple[int, int]] = []
    best = mark, start, end
    for token in _BOXES.finditer(text, text.find("box") - 2 if text.find("box") > 1 else 0):
        body = token.group()
        if body == "}":
            if stack:
                opened, inside = stack.pop()
                if opened < mark and token.start() >= end and text[opened] == "\\":
                    best = opened, inside, token.start()
        elif body[-1] == "{" and len(body) != 2:
            stack.append((token.start(), token.end()))
    return best


def _group(text: str, mark: int, start: int, end: int) -> Found:
    """The box together with those before it from which nothing but connectives parts it."""
    boxes = [(mark, start, end)]
    while (previous := _mark_before(text, boxes[-1][0])) >= 0:
        right = boxes[-1][0]
        opened = _OPEN.match(text, previous)
        if opened is None:
            break
        closed = _close(text, opened.end(), right)
        if closed < 0:
            if right - previous <= _MAX_GAP and "\n" not in text[previous:right]:
                return _BROKEN  # `\boxed{3 or \boxed{4}`: two answers, and no telling where the first one ends
            break
        if right - closed > _MAX_GAP or not _CONNECTIVE.fullmatch(text, closed + 1, right):
            break
        boxes.append((previous, opened.end(), closed))
    boxes.reverse()
    parts = [_clean(_unbox(text[a:b])) for _, a, b in boxes]
    names = [found.group(1) if (found := _NAMED.search(text, max(0, m - 40), m)) else "" for m, _, _ in boxes]
    if len(boxes) > 1 and all(names) and len(set(names)) > 1:
        parts = [f"{name} = {part}" for name, part in zip(names, parts, strict=True)]
    answer = ", ".join(part for part in dict.fromkeys(parts) if not _BLANK.fullmatch(part))
    if _BLANK.fullmatch(parts[-1]):
        answer = ""
    return answer, boxes[0][1], boxes[-1][2]


def _unbox(content: str) -> str:
    """The content without the boxes inside it; boxes side by side become a list, so `\\boxed{3}\\boxed{4}` is no 34."""
    if "box" not in content:
        return content
    out: list[str] = []
    stack: list[bool] = []
    done = 0
    closed = False
    for token in _BOXES.finditer(content):
        body = token.group()
        box = len(body) > 2
        gap = content[done : token.start()]
        if box or (body == "}" and stack and stack[-1]):
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
                return _clean(_plain(content)), start, stop
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
    while (at := max(low, high)) > 0:
        found = _PHRASE.match(text, at - 1)
        if found and not text[at - 2 : at - 1].isalnum():
            if found["deny"]:
                return _BROKEN
            headed = found["heading"] and not found["state"] and _is_heading(text, at - 1)
            if found["state"] or headed:
                stated = _stated(text, found.end("heading") if headed else found.end())
                if stated is not None:
                    return stated
        low = text.rfind("nswer", 0, at) if at == low else low
        high = text.rfind("NSWER", 0, at) if at == high else high
    return None


def _is_heading(text: str, at: int) -> bool:
    return _HEADING.fullmatch(text, text.rfind("\n", 0, at) + 1, at) is not None


def _stated(text: str, at: int) -> Found | None:
    """What stands after a phrase, to the end of its sentence. None: a remark on the answer, not the answer."""
    lead = _LEAD.match(text, at)
    start = lead.end() if lead else at
    if start >= len(text) or _HEDGE.match(text, start):
        return _BROKEN
    if _COMMENT.match(text, start):
        return None
    end = _sentence_end(text, start)
    if end < 0:
        return _BROKEN
    sentence = _plain(text[start:end])
    sentence = _CLAUSE.sub("", sentence) or sentence
    return _clean(_value_of(sentence)), start, end


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
_COPULA = re.compile(r"^(?:\w*[a-z]{2}.*\b(?:is|are|equals|be)|.*,\s*which is)[\s:]+(?=\S)", re.DOTALL | re.IGNORECASE)
_CONDITION = re.compile(r"\b(?:not|if|when|unless|or|could|might|may|maybe|except|than)\b|n't", re.IGNORECASE)


def _value_of(sentence: str) -> str:
    """`42` from "the total is 42" and "she has 42 apples left"; anything that qualifies the value stays with it."""
    sentence = _OPINION.sub("", sentence)
    if not _WORD.search(sentence) or _CONDITION.search(sentence):
        return sentence
    told = _COPULA.sub("", sentence, count=1)
    if told != sentence:
        return told
    runs = _runs(sentence)
    return runs[0][0] if len(runs) == 1 and _WORD.match(sentence) else sentence


# -- fallbacks -----------------------------------------------------------------------------------------------------
_UNIT = (
    r"(?:(?:square|cubic|sq\.?|cu\.?)\s+)?(?:[cmk]?m|mi|miles?|[a-z]*met(?:er|re)s?|km|in|inch(?:es)?|feet|foot|ft|yards?|yd|"
    r"[mk]?g|grams?|kilograms?|lbs?|pounds?|oz|ounces?|tons?|[m]?l|lit(?:er|re)s?|gallons?|seconds?|minutes?|hours?|days?|weeks?|"
    r"months?|years?|dollars?|cents?|euros?|percent|degrees?|units?|mph|km/h|m/s)(?![A-Za-z])(?:\s*\^\s*\{?\d\}?|[²³])?"
)
_FUNCTION = r"(?:sqrt|pi|sin|cos|tan|sec|csc|cot|log|ln|exp|arcsin|arccos|arctan|frac|infty|infinity)(?![A-Za-z])"
_TOKEN = re.compile(
    r"(?P<math>\\\((?:[^\\]|\\[^()])*\\\)|\\\[(?:[^\\]|\\[^\[\]])*\\\]|\$\$[^$]+\$\$"
    r"|\$(?![\s$])(?:[^$\\]|\\.)*(?<![\s\\])\$(?!\d))"
    r"|(?P<number>[$€£]?\s?(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+(?:\s+\d+\s?/\s?\d+)?)(?:\.\d+)?|[$€£]?\.\d+)"
    r"|(?P<tex>\\(?:text|mathrm|mathbf|textbf|operatorname)\s*\{[^{}]*\}|\\[A-Za-z]+|\\.|" + _FUNCTION + r")"
    r"|(?P<word>[^\W\d_]{2,}(?:['’]\w+)?(?:_\w+)*)"
    r"|(?P<letter>[^\W\d_])"
    r"|(?P<join>[,;])"
    r"|(?P<end>[.?!:]+(?=\s|$))"
    r"|(?P<space>\s+)"
    r"|(?P<sign>.)",
    re.DOTALL,
)
_WORD = re.compile(rf"(?<![\\A-Za-z{{])(?!{_FUNCTION})[A-Za-z]{{2,}}(?![A-Za-z]*\()")
_SCALE = re.compile(r"\s*(?:hundred|thousand|million|billion|trillion|dozen)\b", re.IGNORECASE)
_MEASURE = re.compile(rf"\s*(?:%|°|\\%|{_UNIT})")
_CODE = re.compile(r"[A-Za-z]\w*_\w*\s*[=(+*/)-]|\bprint\(|^\s*(?:def|return|import|from|while)\s|^\s*[a-z]{3,}\s*=|[A-Za-z_]\w*\[\w")
_LABEL = re.compile(r"(?:[\s>#*_-]*(?:A|Ans|Step\s*\d+)\s*:|\s*[-*•#>]+\s)?\s*")
_FENCE = re.compile(r"\s*(?:`{3,}\w*|~{3,}|-{3,}|\*{3,}|={3,}|</?\w+>)?\s*")
_NOTE = re.compile(r"<<[^<>]*>>|<\|[^<>|]*\|>|</s>")
_BOLD = re.compile(r"(?<![\w)\]}])(?:\*\*|__)|(?:\*\*|__)(?![\w(\[{\\])")
_UNSURE = frozenset(("could", "might", "may", "maybe", "perhaps", "possibly", "either", "not", "cannot", "unknown"))
_BEFORE = frozenset(("not", "than", "or", "except", "without", "never", "least", "most"))
_LISTERS = frozenset(("and", "or"))


def _last_line(text: str) -> Found | None:
    for line, start, end in _lines(text):
        return _clean(line), start, end
    return None


def _last_number(text: str) -> Found | None:
    for number, (line, start, end) in enumerate(_lines(text)):
        if number == _MAX_LINES or _CODE.search(line):
            return _BROKEN
        if number == 0 and (whole := _whole(line)):
            return whole, start, end
        runs = _runs(line)
        if runs:
            answer, sure = runs[-1]
            return (answer if sure else ""), start, end
    return None


def _lines(text: str) -> list[tuple[str, int, int]]:
    """The last lines, last first, without fences and labels; a display that spans several lines is one of them."""
    lines: list[tuple[str, int, int]] = []
    floor = max(0, len(text) - _MAX_WINDOW)
    end = len(text)
    while end > floor and len(lines) <= _MAX_LINES:
        start = max(text.rfind("\n", floor, end) + 1, floor)
        tail = text[start:end].rstrip().rstrip(".*")
        for opener, closer in _BLOCKS[:2]:
            if tail.endswith(closer) and opener not in tail[:-2]:
                opened = text.rfind(opener, floor, start)
                start = opened if opened >= 0 else start
        if not _FENCE.fullmatch(text, start, end):
            label = _LABEL.match(text, start, end)
            first = label.end() if label else start
            line = _plain(text[first:end])
            if line:
                lines.append((line, first, end))
        end = start - 1 if start and text[start - 1] == "\n" else start
        if start == floor:
            break
    return lines


def _whole(line: str) -> str:
    """The line when it is one answer as it stands: a formula, a number, a quantity, one word; else nothing."""
    kinds = [(token.lastgroup, token.group()) for token in _TOKEN.finditer(line)]
    words = [body for kind, body in kinds if kind == "word" and body.lower() not in _LISTERS]
    if "?" in line or (len(words) == 1 and len(kinds) > 2 and not _MEASURE.search(line)):
        return ""
    if len(words) > 1 or (words and not _MEASURE.search(line) and len(kinds) > 2):
        return ""
    return _clean(line)


def _runs(line: str) -> list[tuple[str, bool]]:
    """The formulas and numbers of a line of prose, each whole, with what joins them; and whether it is asserted."""
    tokens = [(token.lastgroup or "", token.start(), token.end()) for token in _TOKEN.finditer(line)]
    runs: list[tuple[str, bool]] = []
    unsure = False
    first = 0
    while first < len(tokens):
        kind, start, end = tokens[first]
        word = line[start:end].lower()
        if kind == "end":
            unsure = False
        elif kind == "word":
            unsure = unsure or word in _UNSURE or word.endswith(("n't", "n’t"))
        last = _run_end(line, tokens, first)
        if last <= first:
            first += 1
            continue
        stop = tokens[last - 1][2]
        for more in (_SCALE, _MEASURE):
            if found := more.match(line, stop):
                stop = found.end()
        text = _clean(line[start:stop].lstrip(":=").rstrip(",;:"))
        asked = line[stop:].lstrip("*_) ").startswith("?")
        if any(c.isdigit() for c in text) or kind == "math":
            before = line[:start].rstrip(" *_(").rsplit(None, 1)
            runs.append((text, not unsure and not asked and (not before or before[-1].lower() not in _BEFORE)))
        while last < len(tokens) and tokens[last][1] < stop:
            last += 1
        first = last
    return runs


def _run_end(line: str, tokens: list[tuple[str, int, int]], first: int) -> int:
    """The index after the last token of the formula that starts at `first`; `first` itself when none starts there."""
    last = first
    at = first
    while at < len(tokens):
        kind, start, end = tokens[at]
        near = at == first or tokens[at - 1][0] not in ("space", "join")
        match kind:
            case "math" | "number" | "tex" | "sign":
                last = at + 1
            case "letter":
                after = tokens[at + 1][0] if at + 1 < len(tokens) else ""
                operator = _next_sign(line, tokens, at + 1)
                if not (operator or (near and at > first) or (after in ("number", "sign", "tex"))):
                    break
                if at == first and not operator and after != "sign":
                    break
                last = at + 1
            case "space":
                pass
            case "join" | "word":
                follows = tokens[at + 2 - (tokens[at + 1][0] != "space")][0] if at + 2 < len(tokens) else ""
                lister = kind == "join" or line[start:end].lower() in _LISTERS
                if at == first or not lister or not (follows in ("number", "math", "letter", "tex") or follows == "word"):
                    break
                if follows == "word" and kind == "word":
                    break
            case _:
                break
        at += 1
    return last


def _next_sign(line: str, tokens: list[tuple[str, int, int]], at: int) -> bool:
    """Whether an operator comes next, so that a single letter is a name and not a word ("a", "I")."""
    if at < len(tokens) and tokens[at][0] == "space":
        at += 1
    return at < len(tokens) and tokens[at][0] == "sign" and line[tokens[at][1]] in "=<>+*/^≤≥≈−-"


# -- unwrapping ----------------------------------------------------------------------------------------------------
_SIMPLE = re.compile(r"-?(?:\d+(?:[./,]\d+)?|[A-Za-z])")
_EMOJI = re.compile("^[\u2600-\u27bf\u2b50\ufe0f\U0001f300-\U0001faff\\s]+|[\u2600-\u27bf\u2b50\ufe0f\U0001f300-\U0001faff\\s]+$")
_DELIMITERS = (("$$", "$$"), ("$", "$"), ("\\(", "\\)"), ("\\[", "\\]"))
_ROWS = re.compile(r"\\begin\{(align\*?|aligned|gather\*?|gathered|split|equation\*?|eqnarray\*?)\}(.*)\\end\{\1\}", re.DOTALL)
_TAIL = re.compile(r"(?:\\[,;:! \\]|\s|~)+$")


def _plain(text: str) -> str:
    """The text without Markdown bold, calculator notes and end-of-text tokens."""
    if "<" in text:
        text = _NOTE.sub("", text)
    if "**" in text or "__" in text:
        text = _BOLD.sub("", text)
    return text.strip()


def _clean(text: str) -> str:
    """The answer without what wraps it: space, bold, `$`, `\\(`, `\\[`, a display environment, a final period."""
    if _SIMPLE.fullmatch(text) or len(text) > MAX_ANSWER_CHARS:
        return text
    for _ in range(_MAX_WRAPPERS):
        before = text
        text = text.strip(" \t\r\n*`~")
        if text.endswith((".", ",", ";")) and not text.endswith(("..", ".m.", "\\,", "\\;")):
            text = text[:-1]
        if not text.isascii():
            text = _EMOJI.sub("", text)
        if text.endswith(("\\", "\\,", "\\;", "\\!", "\\:")):
            text = _TAIL.sub("", text)
        for opener, closer in _DELIMITERS:
            text = _unwrap(text, opener, closer)
        if text.startswith("\\begin") and (rows := _ROWS.fullmatch(text)):
            text = _last_row(rows.group(2))
        if text == before:
            break
    return text.rstrip("}") if text.count("{") < text.count("}") and "\\}" not in text else text


def _unwrap(text: str, opener: str, closer: str) -> str:
    size = len(opener)
    if text.startswith(opener):
        inner = text[size:-size] if text.endswith(closer) and len(text) >= 2 * size else None
        if inner is not None and opener not in inner and not inner.endswith("\\"):
            return inner
        if closer != opener and closer not in text:
            return text[size:]
    elif text.endswith(closer) and text.find(opener) in (-1, len(text) - size) and not text.endswith("\\" + closer):
        return text[:-size]
    return text


_ALIGN = re.compile(r"(?<!\\)&")
_BARE = re.compile(rf"\s*{_NAME}\s*")


def _last_row(rows: str) -> str:
    """The end of a derivation `x &= 40+2 \\\\ &= 42`; all of a system `x &= 1 \\\\ y &= 2`."""
    chains: list[tuple[str, str]] = []
    for row in rows.split("\\\\"):
        left, sign, right = _ALIGN.sub("", row).strip().partition("=")
        if not sign:
            left, right = "", left
        if not left.strip() and chains and sign:
            chains[-1] = (chains[-1][0], right.strip())
        elif (left + right).strip():
            chains.append((left.strip(), right.strip()))
    if not chains:
        return ""
    if all(_BARE.fullmatch(left) for left, _ in chains) and len(chains) > 1:
        return ", ".join(f"{left} = {right}" for left, right in chains)
    left, right = chains[-1]
    return f"{left} = {right}" if left else right


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
