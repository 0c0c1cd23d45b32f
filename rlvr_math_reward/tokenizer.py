"""One tokenizer for LaTeX, Unicode and calculator notation.

It turns an answer into a flat list of tokens: fonts, spacing and sizing commands disappear, commands and characters
that mean the same become one token, and `\\text{...}` only switches the letters inside it to words. It does not know
precedence or kinds. Work is linear in the length of the text.
"""

from __future__ import annotations

import re
import unicodedata
from typing import NamedTuple

from rlvr_math_reward.notation import (
    CHARACTERS,
    COMMANDS,
    FOLD,
    FUNCTIONS,
    MATH_FONTS,
    NAMES,
    OPERATORS,
    PLAIN_NAMES,
    SET_WORDS,
    SPACES,
    SUBSCRIPTS,
    SUPERSCRIPTS,
    TEXT_FONTS,
    TEXT_FUNCTIONS,
    UNIT_LETTERS,
    UNITS_LIKE_FUNCTIONS,
    VULGAR,
)
from rlvr_math_reward.policy import MAX_ANSWER_CHARS, MAX_TOKENS

__all__ = ["ParseError", "Token", "tokenize"]


class ParseError(ValueError):
    """The text is not an answer in any notation read here. `span` is the offending part, in characters of the text."""

    def __init__(self, reason: str, span: tuple[int, int]) -> None:
        super().__init__(reason, span)  # both, so that it pickles
        self.reason = reason
        self.span = span

    def __str__(self) -> str:
        return self.reason


class Token(NamedTuple):
    """`kind` is `number`, `letter` (one letter), `run` (bare letters), `word` (letters in text mode), `name` (a Greek
    letter or constant), `function`, `operator` or `command` (takes arguments). `spaced`: space stands before it.
    `text`: for numbers the digits as written, without separators."""

    kind: str
    text: str
    start: int
    end: int
    spaced: bool


_GROUP_SEPARATOR = r"(?:,[ ]?\\![ ]?|,|\{,\}(?:\\!)?|\\!,|\\[,;][ ]?|\{\\,\}|[ ])"
_EXPONENT = r"[eE][+-]?[0-9]+(?![A-Za-z0-9])"
_TOKEN = re.compile(
    rf"""(?P<space>\s+)
    | (?P<based>(?=[A-Z]*[0-9])(?=[0-9]*[A-Z])[0-9A-Z]+(?=\}}?_\{{?[0-9]))
    | (?P<number>(?:[1-9][0-9]{{0,2}}(?:{_GROUP_SEPARATOR}[0-9]{{3}})+(?![0-9])|[0-9]+)
          (?:\.(?!\.)[0-9]*)?(?:{_EXPONENT})?
        | \.[0-9]+(?:{_EXPONENT})? | \.(?=\\overline))
    | (?P<command>\\operatorname\*|\\(?:[A-Za-z]+|.|\n))
    | (?P<dotted>[A-Za-z](?:\.[A-Za-z])+\.?(?![A-Za-z]))
    | (?P<letters>[A-Za-zÀ-ÖØ-öø-ÿ]+)
    | (?P<super>[⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁽⁾ⁿⁱ]+)
    | (?P<sub>[₀₁₂₃₄₅₆₇₈₉₊₋]+)
    | (?P<operator>\*\*|:=|<=|>=|!=|==|->|\+/-|\+-(?=\s*[0-9\\A-Za-z(])|\.\.\.|.)""",
    re.VERBOSE | re.DOTALL,
)


def tokenize(text: str) -> list[Token]:
    """The tokens of one answer.

    Raises:
        ParseError: over a size limit, or a character that no answer contains.
    """
    if len(text) > MAX_ANSWER_CHARS:
        raise ParseError(f"longer than {MAX_ANSWER_CHARS} characters", (MAX_ANSWER_CHARS, len(text)))
    if not text.isascii() or "~" in text:
        text = _STYLED.sub(lambda match: unicodedata.normalize("NFKC", match.group()), text).translate(FOLD)
    if "\\phantom" in text:
        text = _PHANTOM.sub(lambda match: " " * len(match.group()), text)
    if text.startswith("**") and text.endswith("**") and text.count("**") == 2:
        text = f"  {text[2:-2]}  "
    if "color" in text:
        text = _COLOR.sub(lambda match: " " * len(match.group()), text)
    if "space" in text:
        text = _HSPACE.sub(lambda match: " " * len(match.group()), text)
    if "\\\\" in text:
        text = _ROW_SPACE.sub(lambda match: "\\\\" + " " * (len(match.group()) - 2), text)
    if "{:}" in text:
        text = text.replace("{:}", " : ")
    if "$" in text:
        text = _drop_math_delimiters(text)
    return _Scanner(text, plain="\\" not in text).scan()


_STYLED = re.compile("[\uff21-\uff3a\uff41-\uff5a\U0001d400-\U0001d7ff\u00b5\u2011\u212f]")
"""Letters and digits that Unicode holds again in another style: full-width, bold, italic, script."""
_PHANTOM = re.compile(r"\\phantom\s*(?:\{[^{}]*\}|[^\\{\s])")
_COLOR = re.compile(r"\\(?:text)?color\s*\{[^{}]*\}")
_HSPACE = re.compile(r"\\[hv]space\*?\s*\{[^{}]*\}")
_ROW_SPACE = re.compile(r"\\\\\s*\[[0-9.]+\s*(?:ex|em|pt|mm|cm)\]")
_DOLLAR = re.compile(r"(?<!\\)\$")


def _drop_math_delimiters(text: str) -> str:
    """`$` around mathematics becomes space. An odd one before a digit is a currency sign and stays, as `\\$` does."""
    odd = len(_DOLLAR.findall(text)) % 2 == 1
    return _DOLLAR.sub(lambda m: "$" if odd and text[m.end() : m.end() + 1].isdigit() else " ", text)


class _Scanner:
    """The state of one pass: tokens so far, whether space came before, and the braces of open `\\text{` groups.

    In plain text, without a backslash, braces that belong to no power, index or function are a set.
    """

    def __init__(self, text: str, *, plain: bool) -> None:
        self.text = text
        self.plain = plain
        self.set_depths: list[int] = []
        self.tokens: list[Token] = []
        self.spaced = False
        self.depth = 0
        self.text_depths: list[int] = []
        self.pending_text = False
        self.open: list[str] = []

    def scan(self) -> list[Token]:
        for match in _TOKEN.finditer(self.text):
            kind = match.lastgroup
            if kind == "space":
                self.spaced = True
                continue
            value, (start, end) = match.group(), match.span()
            if value in _SIGNS:
                self._append("operator", value, start, end)
            elif kind == "operator":
                self._character(value, start, end)
            elif kind == "number":
                self._number(value, start, end)
            elif kind == "letters":
                self._letters(value, start, end)
            elif kind == "command":
                self._command(value, start, end)
            else:
                self._other(kind or "", value, start, end)
            if len(self.tokens) > MAX_TOKENS:
                raise ParseError(f"more than {MAX_TOKENS} tokens", (start, len(self.text)))
        return self.tokens

    def emit(self, kind: str, text: str, start: int, end: int) -> None:
        if kind == "operator":
            if text in _OPENING:
                self.open.append(text)
            elif text in _CLOSING and self.open:
                self.open.pop()
        self._append(kind, text, start, end)

    def _append(self, kind: str, text: str, start: int, end: int) -> None:
        # Built as the tuple it is: the constructor of a NamedTuple takes twice as long.
        self.tokens.append(tuple.__new__(Token, (kind, text, start, end, self.spaced)))
        self.spaced = False

    def _other(self, kind: str, value: str, start: int, end: int) -> None:
        if kind == "based":
            self.emit("number", value, start, end)
        elif kind == "super":
            self._script("^", value.translate(SUPERSCRIPTS), start, end)
        elif kind == "sub":
            self._script("_", value.translate(SUBSCRIPTS), start, end)
        else:
            self.emit("word", value.replace(".", ""), start, end)

    def _number(self, value: str, start: int, end: int) -> None:
        """Inside brackets a bare comma separates: `(12,102)` is a pair, though `12,102` alone is one number, and so it
        is in the braces of `\\frac{12,102}{5}`."""
        if "," not in value or not self.open or self.open[-1] == "{" or "{" in value or "\\" in value:
            return self._append("number", value, start, end)
        for piece in _PIECES.finditer(value):
            kind = "operator" if piece.group() == "," else "number"
            self.emit(kind, piece.group(), start + piece.start(), start + piece.end())

    def _letters(self, value: str, start: int, end: int) -> None:
        if self.pending_text or self.text_depths:
            self.pending_text = False
            self._text(value, start, end)
        elif value in SET_WORDS and self._after_operand(value):
            self.emit("operator", SET_WORDS[value], start, end)
        elif value == "x" and self._times_sign(end):
            self.emit("operator", "*", start, end)
        elif len(value) == 1:
            self._append("letter", value, start, end)
        elif value in UNITS_LIKE_FUNCTIONS and self.tokens and self.tokens[-1].kind == "number":
            self.emit("run", value, start, end)
        elif value in PLAIN_NAMES:
            self.emit("name", PLAIN_NAMES[value], start, end)
        elif value in FUNCTIONS:
            self.emit("function", value, start, end)
        elif value[:-1] in FUNCTIONS and len(value) <= 4:  # "sinx", "lnx"
            self.emit("function", value[:-1], start, end - 1)
            self.emit("letter", value[-1], end - 1, end)
        else:
            self.emit("run", value, start, end)

    def _text(self, value: str, start: int, end: int) -> None:
        """Letters in text mode: words, but for `\\mathrm{e}`, `\\text{pi}` and letters that stand for no unit."""
        if value in ("pi", "infinity", "Infinity"):
            self.emit("name", PLAIN_NAMES[value], start, end)
        elif value in TEXT_FUNCTIONS and self.text[end:].lstrip("} ")[:1] not in ("", ".", ","):
            self.emit("function", value, start, end)
        elif len(value) == 1 and value not in UNIT_LETTERS:
            self.emit("letter", value, start, end)
        else:
            self.emit("word", value, start, end)

    def _times_sign(self, end: int) -> bool:
        """`4.7 x 10^6`."""
        return (
            bool(self.tokens) and self.tokens[-1].kind == "number" and _POWER_OF_TEN.match(self.text, end) is not None
        )

    def _after_operand(self, word: str) -> bool:
        """`A U B` and `x in S` in plain text; but `5 in` is inches, and a U by itself is a letter."""
        if not self.tokens:
            return False
        last = self.tokens[-1]
        if word == "in":
            return last.kind in ("letter", "name")
        return last.text in _CLOSING or last.text == "}" or last.kind == "name"

    def _command(self, value: str, start: int, end: int) -> None:
        if value in TEXT_FONTS:
            self.pending_text = True
        elif value in OPERATORS:
            self.emit("operator", OPERATORS[value], start, end)
        elif value in NAMES:
            self.emit("name", NAMES[value], start, end)
        elif value in COMMANDS:
            self.emit("command", value[1:], start, end)
        elif value[1:] in FUNCTIONS:
            self.emit("function", value[1:], start, end)
        elif value == r"\forall":
            self.emit("word", "for", start, end)
            self.emit("word", "all", start, end)
        elif value in MATH_FONTS:
            self.spaced = self.spaced or value in SPACES
        elif len(value) > 3 and (value[:-1] in OPERATORS or value[:-1] in NAMES or value[1:-1] in FUNCTIONS):
            self._command(value[:-1], start, end - 1)  # "\\cotx", "\\pir": a letter that lacks its space
            self.emit("letter", value[-1], end - 1, end)
        else:
            raise ParseError(f"unknown command {value}", (start, end))

    def _script(self, operator: str, digits: str, start: int, end: int) -> None:
        if operator == "^" and not self.tokens:
            raise ParseError("a superscript with nothing under it", (start, end))
        self.emit("operator", operator, start, start)
        self.emit("operator", "{", start, start)
        for piece in re.finditer(r"\d+|.", digits):
            kind = "number" if piece.group().isdigit() else "letter" if piece.group().isalpha() else "operator"
            self.emit(kind, piece.group(), start, end)
        self.emit("operator", "}", end, end)

    def _character(self, value: str, start: int, end: int) -> None:
        if value == "{":
            self.depth += 1
            if self.pending_text:
                self.pending_text = False
                self.text_depths.append(self.depth)
                return
            if self.plain and self._opens_set(end - 1):
                self.set_depths.append(self.depth)
                value = "{{"
        elif value == "}":
            self.depth -= 1
            if self.text_depths and self.text_depths[-1] == self.depth + 1:
                self.text_depths.pop()
                return
            if self.set_depths and self.set_depths[-1] == self.depth + 1:
                self.set_depths.pop()
                value = "}}"
        elif value == "." and self._drop_period(end):
            return
        elif value in VULGAR:
            return self._vulgar(value, start, end)
        elif value in _ROOT_SIGNS:
            return self.emit("command", value, start, end)
        if value in CHARACTERS:
            self.emit("operator", CHARACTERS[value], start, end)
        elif value in NAMES:
            self.emit("name", NAMES[value], start, end)
        elif value in OPERATORS:
            self.emit("operator", OPERATORS[value], start, end)
        elif value in _PLAIN_OPERATORS or value in ("{{", "}}"):
            self.emit("operator", value, start, end)
        elif value.isalpha() and not value.isascii():
            self.emit("word", value, start, end)
        else:
            raise ParseError(f"character {value!r} is in no notation of an answer", (start, end))

    def _opens_set(self, start: int) -> bool:
        """Plain braces stand by themselves: after nothing or a sign of lists and sets, and before one."""
        before = not self.tokens or self.tokens[-1].text in _BEFORE_SET
        return before and _PLAIN_SET.match(self.text, start) is not None

    def _drop_period(self, end: int) -> bool:
        """A period that ends the text, an abbreviation in text mode, or the empty delimiter of `\\left.`"""
        rest = self.text[end:].lstrip(" \n$}")
        before = self.text[: end - 1].rstrip()
        return not rest or bool(self.text_depths) or before.endswith(("\\left", "\\right")) or rest[0] in ",;)"

    def _vulgar(self, value: str, start: int, end: int) -> None:
        top, bottom = VULGAR[value]
        self.emit("command", "frac", start, end)
        for number in (top, bottom):
            self.emit("operator", "{", start, start)
            self.emit("number", str(number), start, end)
            self.emit("operator", "}", end, end)


_POWER_OF_TEN = re.compile(r"\s*10\s*(?:\^|\*\*|[⁰¹²³⁴⁵⁶⁷⁸⁹⁻])")
_PIECES = re.compile(r",|[^,]+")
_OPENING = frozenset(("(", "[", "{{", "<<", "{"))
_CLOSING = frozenset((")", "]", "}}", ">>", "}"))
_BEFORE_SET = frozenset(("=", ",", ";", "(", "[", "{{", "in", "cup", "cap", "setminus", ":", "and", "or"))
_PLAIN_SET = re.compile(r"\{(?:[^{}]|\{[^{}]*\})*\}\s*(?:$|[,;)\]}∪∩.]|U\b|union|intersection|setminus|and\b|or\b)")
_ROOT_SIGNS = frozenset("√∛∜")
_SIGNS = frozenset("+-*/^_,;:=|")
"""Signs that stand for themselves wherever they are."""
_PLAIN_OPERATORS = frozenset("+-*/^_(){}[],;:=<>|!%$&'°#€£¥¢₹?\"`@.")
