"""Number words, scales, units and counted nouns, and bare letters that stand together."""

from __future__ import annotations

import re

from rlvr_math_reward.notation import UNIT_LETTERS
from rlvr_math_reward.parser.vocabulary import (
    ADJECTIVES,
    LEFT_OUT,
    LONG_NAMES,
    LY_NOUNS,
    ORDINALS,
    QUALIFIERS,
    SHORT_WORDS,
    UNITS,
)
from rlvr_math_reward.tokenizer import Token
from rlvr_math_reward.tree import Apply, Number, Product, Quotient, Sum, Tree, children

__all__ = [
    "WORDLIKE", "beside_currency", "can_be_left_out", "is_ordinal_suffix", "is_product_run", "is_unit_letter",
    "lower", "number_words", "scale", "splits_into_letters", "unit_phrase",
]  # fmt: skip

WORDLIKE = frozenset(("word", "run", "letter"))
_PART_OR_SCALE = re.compile(
    r"\w*(?:teenth|tieth|lfth|leventh|ndreth|ndredth|usandth|llionth)s?|\w*illions?|grand|googol"
)
"""Fractions and scales in words beyond those that are read: five twelfths are no five."""
_WORD = re.compile(r"[^\W\d_]+")
MAX_UNIT_WORDS = 7
"""Words of a unit or counted noun: "dollars per month for each of them" has seven."""
_UNITS_IN_WORDS = dict(zip(
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen".split(),
    range(20), strict=True,
))  # fmt: skip
_TENS = dict(zip("twenty thirty forty fifty sixty seventy eighty ninety".split(), range(20, 100, 10), strict=True))
_SCALES = {"hundred": 100, "thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}


def lower(token: Token) -> str:
    """The word of a token in lower case; empty for any other token."""
    return token.text.lower() if token.kind in WORDLIKE else ""


# -- numbers and scales ------------------------------------------------------------------------------------------------
def number_words(tokens: list[Token], at: int) -> tuple[int, int]:
    """The number written in words from `at` on, with the count of its tokens; `(0, 0)` where there is none.

    Hundreds before tens before units: "one hundred and forty-two" is a number, "seven ten" is none.
    """
    start, total, current, below = at, 0, 0, 1_000
    while at < len(tokens):
        word = lower(tokens[at])
        value = _UNITS_IN_WORDS.get(word, _TENS.get(word))
        if value is not None and (10 if value < 10 else 20 if value < 20 else 100) <= below:
            current, below = current + value, 10 if value >= 20 else 1
        elif word == "hundred" and 0 < current < 10:
            current, below = current * 100, 100
        elif word in _SCALES and word != "hundred" and current:
            total, current, below = total + current * _SCALES[word], 0, 1_000
        elif not (
            at > start and below > 1 and (tokens[at].text == "-" or word == "and") and _spells_number(tokens[at + 1])
        ):
            break
        at += 1
    if at < len(tokens) and _spells_number(tokens[at]):
        return 0, 0
    return total + current, at - start


def _spells_number(token: Token) -> bool:
    return lower(token) in _UNITS_IN_WORDS or lower(token) in _TENS


def scale(tokens: list[Token], at: int, value: Tree) -> tuple[Tree, int]:
    """`1.5 million`: the value times its scale word; also `percent` as a word."""
    word = lower(tokens[at])
    if word in ("percent", "percents"):
        return Apply("percent", (value,)), 1
    if word in _SCALES and isinstance(value, Number):
        return Number(value.value * _SCALES[word]), 1
    return value, 0


# -- units -------------------------------------------------------------------------------------------------------------
def unit_phrase(tokens: list[Token], at: int, value: Tree) -> tuple[str | None, int]:
    """The unit or counted noun from `at` on, as lower-case text, with the count of its tokens.

    `(None, 0)` where none stands there; `("", n)` for the `th` of an ordinal.
    """
    start, count_words = at, 0
    parts: list[str] = []
    if tokens[at].text in ORDINALS and not tokens[at].spaced:
        return "", 1
    while at < len(tokens):
        token = tokens[at]
        word = lower(token)
        if token.kind == "letter" and not _is_unit_letter(token, parts):
            return None, 0  # "4 of x", "5 cents x"
        if not word:
            taken = _unit_mark(tokens, at, parts)
            if not taken:
                break
            parts.append(taken[0])
            at += taken[1]
            continue
        if word in ("and", "or") and parts:
            break
        describes = word in ADJECTIVES and at + 1 < len(tokens) and lower(tokens[at + 1]) not in ("", *QUALIFIERS)
        if not describes and not _may_name_unit(token, word, parts):
            return None, 0
        word = LONG_NAMES.get(token.text, word) if token.kind == "word" or parts or len(token.text) == 1 else word
        parts.append((" " if parts and parts[-1] not in ("/", "*") else "") + word)
        count_words += 1
        at += 1
    if not parts or count_words > MAX_UNIT_WORDS or not _is_boundary(tokens[at]):
        return None, 0
    unit = "".join(parts)
    known = unit.strip("/").partition(" ")[0] in UNITS
    if (unit.startswith("/") or not _has_number(value)) and not known:
        return None, 0
    return unit, at - start


def can_be_left_out(unit: str, value: Tree) -> bool:
    """Whether a unit says no more than what the value is one of: it holds a known unit or a plural, or is a number of
    at most one thing.

    The list of words that qualify a number can never be complete; "5 thrice" and "5 supposedly" hold no noun.
    """
    words = _WORD.findall(unit)
    if words[:1] in (["of"], ["per"]):
        return True
    if any(len(word) == 1 or word in LEFT_OUT or _is_plural(word) for word in words):
        return True
    match value:
        case Number(number):
            return abs(number) <= 1
        case Quotient(Number(top), Number(bottom)):
            return abs(top) <= abs(bottom)
    return False


def beside_currency(unit: str) -> str:
    """What a unit adds to a currency: "an hour" and "/month" a rate, "each" nothing."""
    if unit.startswith("/"):
        return unit
    return f" {unit}" if any(word in UNITS and word != "in" for word in _WORD.findall(unit)) else ""


def _is_plural(word: str) -> bool:
    return len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is"))


def _is_unit_letter(token: Token, parts: list[str]) -> bool:
    if not parts:
        return token.spaced and token.text in UNIT_LETTERS
    return token.text == "a" or (parts[-1] in ("/", "*") and token.text in UNIT_LETTERS)


def _may_name_unit(token: Token, word: str, parts: list[str]) -> bool:
    if word in ("squared", "cubed"):
        return bool(parts)
    adverb = word.endswith("ly") and word not in LY_NOUNS
    return (
        not adverb
        and not _PART_OR_SCALE.fullmatch(word)
        and word not in QUALIFIERS
        and word not in _SCALES
        and not _spells_number(token)
    )


def _unit_mark(tokens: list[Token], at: int, parts: list[str]) -> tuple[str, int] | None:
    """`/`, `*`, `^2` or `^{-1}` inside a unit."""
    if not parts and tokens[at].text != "/":
        return None
    text, after = tokens[at].text, tokens[at + 1] if at + 1 < len(tokens) else tokens[at]
    if text in ("/", "*") and lower(after):
        return text, 1
    if text == "^" and after.kind == "number":
        return "^" + after.text, 2
    if text == "^" and after.text == "{":
        inner = tokens[at + 2 : at + 5]
        body = [token.text for token in inner]
        if "}" in body[1:] and all(token.kind == "number" or token.text in "-}" for token in inner[: body.index("}")]):
            return "^" + "".join(body[: body.index("}")]), 3 + body.index("}")
    if text == "." and at + 1 < len(tokens):
        return "", 1
    return None


def _is_boundary(token: Token) -> bool:
    if token.kind == "command":
        return token.text in ("end", "pmod")
    if token.kind == "operator":
        return token.text not in ("+", "-", "*", "/", "^", "_", "(", "[", "{", "!", "%", "|", "$")
    return token.kind == "end" or lower(token) in ("and", "or")


def _has_number(tree: Tree) -> bool:
    return isinstance(tree, Number) or any(_has_number(child) for child in children(tree))


def is_unit_letter(tokens: list[Token], at: int, previous: Tree, *, alone: bool) -> bool:
    """A letter of a unit that stands apart after a number, as in `60 m/s` or `5 m`.

    With a slash it is one in every answer; alone it may be a variable, so only where `alone` allows it.
    """
    token = tokens[at]
    if not (token.spaced and token.text in UNIT_LETTERS and _is_numeric(previous)):
        return False
    unit, _ = unit_phrase(tokens, at, previous)
    return unit is not None and (alone or "/" in unit)


def _is_numeric(tree: Tree) -> bool:
    match tree:
        case Number():
            return True
        case Quotient() | Product() | Sum() | Apply():
            return all(_is_numeric(child) for child in children(tree))
    return False


# -- letters that stand together ---------------------------------------------------------------------------------------
def is_product_run(tokens: list[Token], at: int, previous: Tree, differential: bool) -> bool:
    """Whether bare letters after a factor are further factors (`5ab`) and no unit, word or `dx`."""
    token = tokens[at]
    word = token.text
    if word.lower() in SHORT_WORDS or word.lower() in ("and", "mod"):
        return False
    if differential and len(word) == 2 and word[0] == "d":
        return False
    if _is_numeric(previous) and (word.lower() in UNITS or word in ORDINALS):
        return False
    return len(word) == 2 or (len(word) == 3 and not token.spaced)


def splits_into_letters(tokens: list[Token], at: int) -> bool:
    """Whether bare letters where a value should stand are a product: `ab`, `2+abc`; `act` alone is a word."""
    word = tokens[at].text
    alone = at == 0 and tokens[1].kind == "end"
    return word.lower() not in SHORT_WORDS and len(word) <= (2 if alone else 3)


def is_ordinal_suffix(tokens: list[Token], at: int) -> bool:
    """`th` in `12^{\\text{th}}` or `12^{th}`."""
    if tokens[at].text == "{":
        return len(tokens) > at + 2 and tokens[at + 1].text in ORDINALS and tokens[at + 2].text == "}"
    return tokens[at].text in ORDINALS
