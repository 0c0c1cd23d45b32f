"""English around and instead of a formula: announcements, set phrases, declarations, and answers that are words."""

from __future__ import annotations

import re
from fractions import Fraction

from rlvr_math_reward.parser.measures import WORDLIKE, lower
from rlvr_math_reward.tokenizer import Token
from rlvr_math_reward.tree import (
    MINUS_ONE,
    Constant,
    Number,
    Product,
    Quotient,
    Sequence,
    Symbol,
    Tree,
    Words,
    children,
)

__all__ = [
    "exception", "fixed_phrase", "integer_declaration", "is_declaration", "spelled", "symbols", "without_announcement",
    "without_quantifier", "without_universe", "words",
]  # fmt: skip

MAX_DOMAIN = 12
"""Tokens of "for all real numbers x in R" at the end of an answer."""
MAX_ANNOUNCEMENT = 12
"""Tokens before "is" in an announcement such as "the solution to the problem is"."""


_REALS, _EMPTY, _ZERO = Constant("R"), Constant("empty"), Number(Fraction(0))
_PARTS = {
    "half": 2, "third": 3, "quarter": 4, "fourth": 4, "fifth": 5, "sixth": 6, "seventh": 7, "eighth": 8, "ninth": 9,
    "tenth": 10,
}  # fmt: skip
_COUNTS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine")


def _part(top: int, bottom: int) -> Tree:
    return Quotient(Number(Fraction(top)), Number(Fraction(bottom)))


_POSITIVE = Sequence("(", (_ZERO, Constant("oo")), ")")
_NONNEGATIVE = Sequence("[", (_ZERO, Constant("oo")), ")")
PHRASES: dict[str, Tree] = {
    **dict.fromkeys(
        ("all real numbers", "all reals", "the real numbers", "all real values", "real numbers", "all the real numbers",
         "the set of real numbers", "the set of all real numbers", "all real x", "all real values of x"), _REALS),
    **dict.fromkeys(
        ("no solution", "no solutions", "no real solution", "no real solutions", "none", "empty set", "the empty set",
         "there is no solution", "there are no solutions", "no such solution", "no real roots",
         "there are no real solutions", "there is no real solution", "no solution exists", "no solutions exist"),
        _EMPTY),
    **dict.fromkeys(("all integers", "the integers", "integers", "the set of integers", "the set of all integers"),
                    Constant("Z")),
    **dict.fromkeys(("infinitely many", "infinitely many solutions"),
                    Words("infinitely many solutions", "infinitely many solutions")),
    **dict.fromkeys(("all positive real numbers", "positive real numbers", "all positive reals", "the positive reals"),
                    _POSITIVE),
    **dict.fromkeys(("all nonnegative real numbers", "nonnegative real numbers", "all nonnegative reals"),
                    _NONNEGATIVE),
    **dict.fromkeys(("positive oo", "plus oo"), Constant("oo")),
    **{f"{count} {part}{'s' * (n > 1)}": _part(n, d)
       for n, count in enumerate(_COUNTS, 1) for part, d in _PARTS.items() if n < d},
    **dict.fromkeys(("negative oo", "minus oo"), Product((MINUS_ONE, Constant("oo")))),
    **dict.fromkeys(("dne", "does not exist", "undefined", "is undefined", "the limit does not exist", "not defined"),
                    Words("undefined", "undefined")),
    **dict.fromkeys(("yes", "true"), Words("yes", "yes")),
    **dict.fromkeys(("no", "false"), Words("no", "no")),
}  # fmt: skip

_ANNOUNCING = frozenset(
    "so thus therefore hence then the our my final ordered correct required desired answer answers result value "
    "values solution solutions to this problem question of equation system for probability area volume perimeter "
    "length width height number total sum product minimum maximum smallest largest least greatest distance "
    "average mean median radius diameter ratio angle slope cost price time speed roots root zeros zero vertex "
    "range domain set coordinates remainder degree coefficient option choice letter expected ways possible center "
    "centre midpoint focus foci intercept intercepts ans "
    "numbers integers integer point points pair pairs triple interval vector matrix line function polynomial".split()
)
_STARTS = frozenset(
    "so thus therefore hence then the our my final correct answer answers result value values solution solutions roots "
    "zeros there a exactly ordered point points domain range probability option choice center centre midpoint vertex "
    "focus ans".split()
)
_CONNECTIVES = frozenset("so thus therefore hence then".split())
_OBJECTS = frozenset("point points pair pairs triple set interval vector matrix line function polynomial".split())
_COPULAS = frozenset(("is", "are", "equals", ":", "="))
_DOMAIN_WORDS = frozenset("real numbers number reals integers integer positive negative nonnegative in and".split())
_DOMAIN_SIGNS = frozenset((",", "in", "mathbb", "{", "}"))
_INTEGER_BEHIND = [["is", "an", "integer"], ["is", "any", "integer"], ["an", "integer"], ["any", "integer"]]
_INTEGER_BEFORE = [["any", "integer"], ["some", "integer"], ["all", "integers"], ["integer"], ["integers"]]


def without_announcement(tokens: list[Token]) -> list[Token]:
    """`tokens` after "the final answer is", "the roots are", "there are"; all of them where there is no such start.

    Only listed words may stand in an announcement: "the square of the answer is 9" announces another number.
    """
    if lower(tokens[0]) in _CONNECTIVES and len(tokens) > 2:  # "Thus, x = 5"
        tokens = tokens[2 if tokens[1].text == "," else 1 :]
    first = lower(tokens[0])
    if (
        len(tokens) > 2
        and tokens[0].kind == "letter"
        and lower(tokens[1]) in ("is", "equals")
        and tokens[2].kind == "number"
    ):
        return [tokens[0], tokens[1]._replace(kind="operator", text="="), *tokens[2:]]  # "x is 5"
    if len(first) < 2 and not _such_that(tokens) and first != "a":
        return tokens
    if _such_that(tokens):  # "x such that x > 2"
        return tokens[3:]
    if [lower(token) for token in tokens[:3]] == ["a", "total", "of"] and len(tokens) > 3:
        return tokens[3:]
    if first == "all" and len(tokens) > 2 and tokens[1].kind in ("letter", "name"):  # "all n >= 3"
        return tokens[1:]
    start = 2 if first == "there" and len(tokens) > 2 and lower(tokens[1]) in ("is", "are") else 0
    start += start < len(tokens) and lower(tokens[start]) == "exactly"
    if start:
        return _behind(tokens, start) if tokens[min(start, len(tokens) - 1)].kind == "number" else tokens
    for index, token in enumerate(tokens[: MAX_ANNOUNCEMENT + 1]):
        word = lower(token)
        if index and token.text in (":", "="):
            return _behind(tokens, index + 1)
        if index and word in _COPULAS:
            if first in _STARTS and tokens[index - 1].kind == "letter":  # "the value of x is 5"
                return [tokens[index - 1], token._replace(kind="operator", text="="), *tokens[index + 1 :]]
            return _behind(tokens, index + 1) if first in _STARTS else tokens  # "width is 5" may not be what was asked
        if word not in _ANNOUNCING and not (token.kind == "letter" and index and lower(tokens[index - 1]) == "of"):
            named = index and lower(tokens[index - 1]) in _OBJECTS and not word
            several = named and lower(tokens[index - 1]) in ("pair", "triple") and token.text != "("  # "triple 5" is 15
            return _behind(tokens, index) if named and not several else tokens
    return tokens


def _such_that(tokens: list[Token]) -> bool:
    return (
        len(tokens) > 3 and tokens[0].kind == "letter" and [lower(token) for token in tokens[1:3]] == ["such", "that"]
    )


def _behind(tokens: list[Token], at: int) -> list[Token]:
    while at < len(tokens) and tokens[at].text == ":":
        at += 1
    return tokens[at:] or tokens


def without_quantifier(tokens: list[Token]) -> list[Token]:
    """`tokens` without "for all x" at the end, which says no more than the formula before it."""
    for at in range(len(tokens) - 2, max(0, len(tokens) - MAX_DOMAIN), -1):
        if lower(tokens[at]) == "for" and lower(tokens[at + 1]) in ("all", "every", "any", "each"):
            rest = tokens[at + 2 :]
            names = [token for token in rest if token.kind in ("letter", "name", "operator")]
            known = all(
                t.kind in ("letter", "name") or lower(t) in _DOMAIN_WORDS or t.text in _DOMAIN_SIGNS for t in rest
            )
            return tokens[:at] if at and known and names else tokens
    return tokens


def is_declaration(tokens: list[Token], at: int) -> bool:
    """ "for k in Z", "where n is an integer": words that begin a declaration of a parameter."""
    if lower(tokens[at]) not in ("for", "where", "with") or at + 2 >= len(tokens):
        return False
    declared = tokens[at + 1].kind in ("letter", "name") and tokens[at + 2].text == "in"
    return declared or integer_declaration(tokens, at + 1)[1] > 0


def integer_declaration(tokens: list[Token], at: int) -> tuple[str, int]:
    """The name in "n is an integer", "k an integer", "any integer k", with the count of its tokens; else `("", 0)`."""
    window = [token.text.lower() for token in tokens[at : at + 4]]
    if at + 1 >= len(tokens):
        return "", 0
    for phrase in _INTEGER_BEHIND:
        if tokens[at].kind == "letter" and window[1 : 1 + len(phrase)] == phrase:
            return tokens[at].text, 1 + len(phrase)
    for phrase in _INTEGER_BEFORE:
        last = at + len(phrase)
        if window[: len(phrase)] == phrase and last < len(tokens) and tokens[last].kind == "letter":
            return tokens[last].text, 1 + len(phrase)
    return "", 0


def fixed_phrase(tokens: list[Token]) -> Tree | None:
    """The tree of an answer that is one of the set phrases, or a number in words."""
    if tokens[0].kind not in ("word", "run"):
        return None
    kept = [token for at, token in enumerate(tokens) if token.text not in ".,!" and not _is_hyphen(tokens, at)]
    phrase = " ".join(token.text.lower() for token in kept)
    if phrase in PHRASES and all(token.kind in (*WORDLIKE, "name") for token in kept):
        return PHRASES[phrase]
    return None


def _is_hyphen(tokens: list[Token], at: int) -> bool:
    """The hyphen of "two-thirds"."""
    return tokens[at].text == "-" and not any(token.spaced for token in tokens[at : at + 2])


def without_universe(tokens: list[Token]) -> list[Token]:
    """`tokens` without "all real numbers" before a condition: "all real numbers x >= 2"."""
    for at in range(2, min(6, len(tokens) - 1)):
        phrase = " ".join(lower(token) for token in tokens[:at])
        if PHRASES.get(phrase) == _REALS and tokens[at].kind == "letter":
            rest = tokens[at:]
            return rest[3:] if _such_that(rest) else rest
    return tokens


def exception(tokens: list[Token]) -> tuple[Tree, int] | None:
    """ "all real numbers except": the set, and the tokens up to what is excepted."""
    for at, token in enumerate(tokens[:8]):
        if lower(token) in ("except", "excluding"):
            whole = PHRASES.get(" ".join(t.text.lower() for t in tokens[:at] if t.text != ","))
            skip = 2 if lower(tokens[min(at + 1, len(tokens) - 1)]) == "for" else 1
            return (whole, at + skip) if isinstance(whole, Constant) and at + skip < len(tokens) else None
    return None


def words(tokens: list[Token], text: str) -> Words | None:
    """The answer as words, or None where it has none: a broken formula stays a broken formula."""
    if any(token.kind == "command" for token in tokens):
        return None
    spelled_out = any(token.kind == "word" or (token.kind == "run" and len(token.text) > 2) for token in tokens)
    chosen = [token.text for token in tokens[:3:2]] == ["(", ")"] and tokens[1].kind == "letter"  # "(C) 25"
    if not spelled_out and not chosen and not (len(tokens) == 1 and tokens[0].kind == "run"):
        return None
    kept = [token.text for token in tokens if token.text not in ("{", "}", ",", ".", '"', "'", "!", "`")]
    written = " ".join(kept)
    return Words(written.lower(), written) if written else None


def symbols(tree: Tree) -> frozenset[str]:
    """The names of the variables in a tree."""
    if isinstance(tree, Symbol):
        return frozenset((tree.name,))
    parts = children(tree)
    return frozenset().union(*map(symbols, parts)) if parts else _NO_SYMBOLS


_NO_SYMBOLS: frozenset[str] = frozenset()


def spelled(text: str) -> str:
    """The text of an answer with fonts and TeX spacing gone, for the kinds that read letters and not values."""
    for mark in _SPACING:
        text = text.replace(mark, " ")
    text = _FONT.sub("", text).replace("{", "").replace("}", "").replace("$", "").replace("**", "")
    return " ".join(text.split())


_SPACING = ("\\,", "\\;", "\\:", "\\!", "\\ ", "~", "\\quad", "\\qquad", "\\left", "\\right", "\\\\")
_FONT = re.compile(
    r"\\(?:text|textbf|textit|textrm|textnormal|mathrm|mathbf|mathit|mathsf|mbox|boldsymbol|bf|rm)(?![A-Za-z])"
)
