"""What the extraction rules share: what a rule finds, and how an answer is freed of what is no part of it.

Taken off are space, Markdown, math delimiters, a display environment and a final period. The inside of an answer is
left as it was written; reading it is for the parser.
"""

from __future__ import annotations

import re
from typing import TypeAlias

from rlvr_math_reward.policy import MAX_ANSWER_CHARS

__all__ = ["BROKEN", "DISPLAYS", "MAX_GAP", "MAX_WINDOW", "NAME", "Found", "clean", "plain"]

Found: TypeAlias = tuple[str, int, int]
"""The answer's text, and the start and end of where it stands. An empty text: the mark is there, an answer is not."""

BROKEN: Found = ("", 0, 0)

MAX_GAP = 80
"""Characters between two boxes that may still be read as one list: `$ \\quad\\text{ or }\\quad x_2 = $` has 36."""
MAX_WINDOW = 2 * MAX_ANSWER_CHARS
"""Characters in which the braces of one box, and the answer that no rule marks, are looked for."""

_MAX_WRAPPERS = 8
"""Layers of `**`, `$`, `\\[` ... that are taken off one answer."""

DISPLAYS = (("\\[", "\\]"), ("$$", "$$"))
_DELIMITERS = (("$$", "$$"), ("$", "$"), ("\\(", "\\)"), ("\\[", "\\]"))

NAME = r"(?:\\?[A-Za-z]{1,10}(?:_(?:\w|\{\w{1,8}\}))?'?(?:\(\w\))?)"
"""The name of what is sought: `x`, `x_1`, `\\theta`, `f(x)`, `area`."""

_FIRST = frozenset(("", " ", "\t", "\r", "\n", "*", "`", "~", "$"))
_LAST = _FIRST | frozenset((".", ",", ";", ")", "]", "\\"))
_NOTE = re.compile(r"<<[^<>]*>>|<\|[^<>|]*\|>|</?s>|</?answer>")
_BOLD = re.compile(r"(?<![\w)\]}])(?:\*\*|__)|(?:\*\*|__)(?![\w(\[{\\])")
_SPACING = ("\\,", "\\;", "\\!", "\\:", "\\ ", "\\\\")
_EMOJI = " \t\r\n" + "".join(
    map(chr, (*range(0x2600, 0x27C0), *range(0x1F300, 0x1FB00), 0x2B50, 0xFE0F, 0x200D))
)  # fmt: skip
_ROWS = re.compile(
    r"\\begin\{(align|aligned|gather|gathered|split|equation|eqnarray)(\*?)\}(.*)\\end\{\1\2\}", re.DOTALL
)
_ALIGN = re.compile(r"(?<!\\)&|\\(?:nonumber|notag)")
_BARE = re.compile(rf"\s*{NAME}\s*")


def plain(text: str) -> str:
    """The text without Markdown bold, calculator notes (`<<3*5=15>>`) and end-of-text tokens."""
    if "<" in text:
        text = _NOTE.sub("", text)
    if "**" in text or "__" in text:
        text = _BOLD.sub("", text)
    return text.strip()


def clean(text: str) -> str:
    """The answer without its wrapping: space, bold, math delimiters, a final period.

    Example:
        >>> clean(r" $$ x = \\frac{1}{2}. $$ ")
        'x = \\\\frac{1}{2}'
    """
    if _is_bare(text) or len(text) > MAX_ANSWER_CHARS:
        return text
    for _ in range(_MAX_WRAPPERS):
        before = text
        text = text.strip(" \t\r\n*`~")
        if text.endswith((".", ",", ";")) and not text.endswith(("..", ".m.", *_SPACING)):
            text = text[:-1]
        if not text.isascii():
            text = text.strip(_EMOJI)
        while text.endswith(_SPACING):
            text = text[:-2].rstrip(" ~")
        if text.startswith(("$", "\\")) or text.endswith(("$", "\\)", "\\]")):
            for opener, closer in _DELIMITERS:
                text = _unwrap(text, opener, closer)
            if text.startswith("\\begin") and (rows := _ROWS.fullmatch(text)):
                text = _last_row(rows.group(3))
        if text == before:
            break
    if text.endswith("}") and text.count("{") < text.count("}") and "\\}" not in text:
        text = text.rstrip("}")
    return text


def _is_bare(text: str) -> bool:
    """Whether nothing is to be taken off: most answers in boxes."""
    if text.isalnum() and text.isascii():
        return True
    if text[:1] in _FIRST or text[-1:] in _LAST or not text.isascii() or text.startswith(("\\(", "\\[", "\\begin")):
        return False
    return text[-1] != "}" or text.count("{") >= text.count("}")


def _unwrap(text: str, opener: str, closer: str) -> str:
    """Without one pair of delimiters when they enclose all of it, or without one whose partner is missing."""
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


def _last_row(rows: str) -> str:
    """The end of a derivation `x &= 40+2 \\\\ &= 42`; all of a system `x &= 1 \\\\ y &= 2`."""
    chains: list[tuple[str, str]] = []
    for row in rows.split("\\\\"):
        left, sign, right = _ALIGN.sub("", row).strip().rstrip(".,;").partition("=")
        if not sign:
            left, right = "", left
        if not left.strip() and chains and sign:
            chains[-1] = (chains[-1][0], right.strip())
        elif (left + right).strip():
            chains.append((left.strip(), right.strip()))
    if not chains:
        return ""
    if len(chains) > 1 and all(_BARE.fullmatch(left) for left, _ in chains):
        return ", ".join(f"{left} = {right}" for left, right in chains)
    left, right = chains[-1]
    return f"{left} = {right}" if left else right
