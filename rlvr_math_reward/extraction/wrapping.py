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

_MAX_QED = 30
"""Characters of the mark that ends a proof, with the math delimiters around it."""
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
_DECORATION = " \t\r\n。✅✔☑🟢🎉🎊🥳🏆⭐🌟✨🚀🔥😊😀😃😄😁🙂😎🤓🤗👍👏🙌💪👌👉💡🎯❤🎓📌🏁📝🔑🧮🎈💎🥇➡" + "".join(
    map(chr, (0xFE0F, 0x200D, *range(0x1F3FB, 0x1F400)))
)
"""What adorns an answer and says nothing. A cross or a stop sign is none of it: `4❌` denies."""
_EMPHASIS = re.compile(r"(?<![\w*\\])\*(?=[^\s*])([^*\n]*[^\s*])\*(?![\w*])")
_THEREFORE = re.compile(r"(\$|\\[(\[])?\s*(?:[=-]>|[⇒⟹→∴]|\\(?:Rightarrow|implies|therefore)(?![A-Za-z]))\s*")
_QED = re.compile(
    r"[\s.]*(?:[∎■□]|(?P<math>\$|\\\(|\\\[)?\s*\\(?:square|blacksquare|Box|qed)(?![A-Za-z])(?(math)\s*(?:\$|\\\)|\\\])))"
    r"(?=\s*\$?[.\s]*\Z)"
)
_ROWS = re.compile(
    r"\\begin\{(align|aligned|gather|gathered|split|equation|eqnarray)(\*?)\}(.*)\\end\{\1\2\}", re.DOTALL
)
_ALIGN = re.compile(r"(?<!\\)&|\\(?:nonumber|notag)")
_BARE = re.compile(rf"\s*{NAME}\s*")


def plain(text: str) -> str:
    """The text without Markdown bold, calculator notes (`<<3*5=15>>`), end-of-text tokens and marks of a proof."""
    bare = text.strip()
    if bare.isascii() and bare.isalnum():
        return bare
    if "<" in text:
        text = _NOTE.sub("", text)
    if "**" in text or "__" in text:
        text = _BOLD.sub("", text)
    if "*" in text:
        text = _EMPHASIS.sub(r"\1", text)
    text = text.strip()
    if therefore := _THEREFORE.match(text):
        text = (therefore[1] or "") + text[therefore.end() :]
    if proved := _QED.search(text, max(0, len(text) - _MAX_QED)):
        text = text[: proved.start()] + text[proved.end() :].rstrip(" .")
    return text


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
        text = text.strip(" \t\r\n`~")
        if text.startswith("*") and text.endswith("*") and len(text) > 2:
            text = text[1:-1]
        if text.endswith("\\") and not text.endswith("\\\\"):
            text = text[:-1].rstrip()  # what is left of a control space
        if text.endswith((".", ",", ";")) and not text.endswith(("..", ".m.", *_SPACING)):
            text = text[:-1]
        if not text.isascii():
            text = text.strip(_DECORATION)
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
