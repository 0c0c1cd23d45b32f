"""English inside an answer: announcements, number words, scales, units, set phrases, and answers that are words.

Everything here is tables of words. What a table does not know keeps the answer from being read as a value: a word
that qualifies, negates or hedges (`QUALIFIERS`) is never taken for a unit.
"""

from __future__ import annotations

import re
from fractions import Fraction

from rlvr_math_reward.tokenizer import Token
from rlvr_math_reward.tree import Apply, Constant, Number, Product, Quotient, Sum, Symbol, Tree, Words, children

__all__ = [
    "fixed_phrase", "is_ordinal_suffix", "is_product_run", "is_unit_letter", "number_words", "scale",
    "splits_into_letters", "unit_phrase", "without_announcement", "words",
]  # fmt: skip

MAX_UNIT_WORDS = 7
"""Words of a unit or counted noun: "dollars per month for each of them" has seven."""
MAX_ANNOUNCEMENT = 12
"""Tokens before "is" in an announcement such as "the solution to the problem is"."""

QUALIFIERS = frozenset(
    "not no non never neither nor none wrong incorrect false invalid maybe perhaps possibly probably likely "
    "either or and if when unless where otherwise but except excluding without is isn isnt are aren was were be "
    "been equals equal than least most about around approximately approx roughly nearly almost over under above "
    "below between from to through until minus plus squared cubed factorial hundred thousand million billion "
    "trillion dozen half third quarter percent negative positive point so only unsure guess any some choose mod "
    "modulo odd even prime prove proof answer gold correct right true yes think believe hope could would should "
    "might may can cannot it this that which because since then else lambda return import yield print".split()
)
UNITS = frozenset(
    "mm cm dm km m in inch inches ft foot feet yd yard yards mi mile miles mph kph kmh mg g gm kg lb lbs pound "
    "pounds oz ounce ounces ton tons ml cl dl l liter liters litre litres gal gallon gallons s sec secs second "
    "seconds min mins minute minutes h hr hrs hour hours day days week weeks month months year years deg degree "
    "degrees rad radian radians usd eur dollar dollars cent cents euro euros unit units sq cu square cubic n "
    "newton newtons j joule joules kj w watt watts kw v volt volts hz khz pa kpa atm mol k cal kcal acre acres "
    "cup cups am pm meter meters metre metres centimeter centimeters kilometer kilometers millimeter millimeters "
    "gram grams kilogram kilograms".split()
)
UNIT_LETTERS = frozenset("mgslhLNJWVKdn")
SHORT_WORDS = frozenset("of in is as at by on no so if to up we it be an or my he me us do go am ok ha oh hi".split())
ORDINALS = frozenset(("st", "nd", "rd", "th"))

_UNITS_IN_WORDS = dict(zip(
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen".split(),
    range(20), strict=True,
))  # fmt: skip
_TENS = dict(zip("twenty thirty forty fifty sixty seventy eighty ninety".split(), range(20, 100, 10), strict=True))
_SCALES = {"hundred": 100, "thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}

_REALS, _EMPTY = Constant("R"), Constant("empty")
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
    **dict.fromkeys(("positive infinity", "plus infinity"), Constant("oo")),
    **dict.fromkeys(("negative infinity", "minus infinity"), Product((Number(Fraction(-1)), Constant("oo")))),
    **dict.fromkeys(("dne", "does not exist", "undefined", "is undefined", "the limit does not exist", "not defined"),
                    Words("undefined", "undefined")),
    **dict.fromkeys(("yes", "true"), Words("yes", "yes")),
    **dict.fromkeys(("no", "false"), Words("no", "no")),
}  # fmt: skip

_STARTS = frozenset("so thus therefore hence then the our my final ordered".split())
_NOUNS = frozenset("answer answers result value values solution solutions".split())
_DENIALS = frozenset(
    "not no never wrong incorrect false maybe perhaps possibly probably likely either or unless if except least most "
    "about could would might may can cannot isnt".split()
)
_OBJECTS = frozenset("point points pair pairs triple set interval vector matrix line function polynomial".split())
_COPULAS = frozenset(("is", "are", "equals", ":", "="))
_DOMAIN_WORDS = frozenset("real numbers number reals integers integer positive negative nonnegative in and".split())
_INTEGER_BEHIND = [["is", "an", "integer"], ["is", "any", "integer"], ["an", "integer"], ["any", "integer"]]
_INTEGER_BEFORE = [["any", "integer"], ["some", "integer"], ["all", "integers"], ["integer"], ["integers"]]
_WORDLIKE = frozenset(("word", "run", "letter"))


def _lower(token: Token) -> str:
    return token.text.lower() if token.kind in _WORDLIKE else ""


def without_announcement(tokens: list[Token]) -> list[Token]:
    """`tokens` after "the final answer is", "the roots are", "the point"; all of them where there is no such start."""
    first = _lower(tokens[0])
    if len(first) < 2:
        return tokens
    if first == "all" and len(tokens) > 2 and tokens[1].kind in ("letter", "name"):  # "all n >= 3"
        return tokens[1:]
    if first not in _STARTS and first not in _NOUNS:
        return tokens
    for index, token in enumerate(tokens[: MAX_ANNOUNCEMENT + 1]):
        word = _lower(token)
        if index and (word in _COPULAS or token.text in (":", "=")):
            return _behind(tokens, index + 1)
        if len(word) < 2 or word in _DENIALS:
            return _behind(tokens, index) if index and _lower(tokens[index - 1]) in _OBJECTS and not word else tokens
    return tokens


def _behind(tokens: list[Token], at: int) -> list[Token]:
    while at < len(tokens) and tokens[at].text == ":":
        at += 1
    return tokens[at:] or tokens


def without_quantifier(tokens: list[Token]) -> list[Token]:
    """`tokens` without "for all x" at the end, which says no more than the formula before it."""
    for at in range(len(tokens) - 2, max(0, len(tokens) - 8), -1):
        if _lower(tokens[at]) == "for" and _lower(tokens[at + 1]) in ("all", "every", "any", "each"):
            rest = tokens[at + 2 :]
            names = [token for token in rest if token.kind in ("letter", "name", "operator")]
            known = all(t.kind in ("letter", "name") or _lower(t) in _DOMAIN_WORDS or t.text == "," for t in rest)
            return tokens[:at] if at and known and names else tokens
    return tokens


def is_declaration(tokens: list[Token], at: int) -> bool:
    """ "for k in Z", "where n is an integer": words that begin a declaration of a parameter."""
    if _lower(tokens[at]) not in ("for", "where", "with") or at + 2 >= len(tokens):
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
    phrase = " ".join(token.text.lower() for token in tokens if token.text not in ".,!")
    if phrase in PHRASES and all(token.kind in _WORDLIKE or token.text in ".,!" for token in tokens):
        return PHRASES[phrase]
    return None


def exception(tokens: list[Token]) -> tuple[Tree, int] | None:
    """ "all real numbers except": the set, and the tokens up to what is excepted."""
    for at, token in enumerate(tokens[:8]):
        if _lower(token) in ("except", "excluding"):
            whole = PHRASES.get(" ".join(t.text.lower() for t in tokens[:at] if t.text != ","))
            skip = 2 if _lower(tokens[min(at + 1, len(tokens) - 1)]) == "for" else 1
            return (whole, at + skip) if isinstance(whole, Constant) and at + skip < len(tokens) else None
    return None


def words(tokens: list[Token], text: str) -> Words | None:
    """The answer as words, or None where it has none: a broken formula stays a broken formula."""
    spelled_out = any(token.kind == "word" or (token.kind == "run" and len(token.text) > 2) for token in tokens)
    if not spelled_out and not (len(tokens) == 1 and tokens[0].kind == "run"):
        return None
    kept = [token.text for token in tokens if token.text not in ("{", "}", ",", ".", '"', "'", "!", "`")]
    written = " ".join(kept)
    return Words(written.lower(), written) if written else None


# -- numbers and scales ------------------------------------------------------------------------------------------------
def number_words(tokens: list[Token], at: int) -> tuple[int, int]:
    """The number written in words from `at` on, with the count of its tokens; `(0, 0)` where there is none."""
    total = current = count = 0
    at_start = at
    while at < len(tokens):
        word = _lower(tokens[at])
        if word in _UNITS_IN_WORDS:
            current += _UNITS_IN_WORDS[word]
        elif word in _TENS:
            current += _TENS[word]
        elif word in _SCALES and count:
            if word == "hundred":
                current = (current or 1) * 100
            else:
                total, current = total + (current or 1) * _SCALES[word], 0
        elif not (count and (tokens[at].text == "-" or word == "and") and _lower(tokens[at + 1]) in _UNITS_IN_WORDS):
            break
        at += 1
        count = at - at_start
    return total + current, count


def scale(tokens: list[Token], at: int, value: Tree) -> tuple[Tree, int]:
    """`1.5 million`: the value times its scale word; also `percent` as a word."""
    word = _lower(tokens[at])
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
        word = _lower(token)
        if token.kind == "letter" and parts and not parts[-1].endswith(("/", "*")) and word != "a":
            return None, 0  # "4 of x" is no unit
        if not word:
            taken = _unit_mark(tokens, at, parts)
            if not taken:
                break
            parts.append(taken[0])
            at += taken[1]
            continue
        if word in ("and", "or") and parts:
            break
        if not _may_name_unit(token, word, parts):
            return None, 0
        parts.append((" " if parts and parts[-1] != "/" else "") + word)
        count_words += 1
        at += 1
    if not parts or count_words > MAX_UNIT_WORDS or not _is_boundary(tokens[at]):
        return None, 0
    unit = "".join(parts)
    if not _has_number(value) and unit.split()[0] not in UNITS:
        return None, 0
    return unit, at - start


def _may_name_unit(token: Token, word: str, parts: list[str]) -> bool:
    if word in ("squared", "cubed"):
        return bool(parts)
    return word not in QUALIFIERS and word not in _SCALES


def _unit_mark(tokens: list[Token], at: int, parts: list[str]) -> tuple[str, int] | None:
    """`/`, `*`, `^2` or `^{-1}` inside a unit."""
    if not parts:
        return None
    text, after = tokens[at].text, tokens[at + 1] if at + 1 < len(tokens) else tokens[at]
    if text in ("/", "*") and _lower(after):
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
    return token.kind == "end" or _lower(token) in ("and", "or")


def _has_number(tree: Tree) -> bool:
    return isinstance(tree, Number) or any(_has_number(child) for child in children(tree))


def is_unit_letter(tokens: list[Token], at: int, previous: Tree) -> bool:
    """A letter of a unit that stands apart after a number: `60 m/s`; asked only where letters may be units."""
    token = tokens[at]
    if not (token.spaced and token.text in UNIT_LETTERS and _is_numeric(previous)):
        return False
    unit, _ = unit_phrase(tokens, at, previous)
    return unit is not None


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
    if _is_numeric(previous) and (word in UNITS or word in ORDINALS):
        return False
    return len(word) == 2 or (len(word) == 3 and not token.spaced)


def splits_into_letters(tokens: list[Token], at: int) -> bool:
    """Whether bare letters where a value should stand are a product: `ab`, `2+abc`; `act` alone is a word."""
    word = tokens[at].text
    alone = len(tokens) == 2  # the run and the end mark
    return word.lower() not in SHORT_WORDS and len(word) <= (2 if alone else 3)


def is_ordinal_suffix(tokens: list[Token], at: int) -> bool:
    """`th` in `12^{\\text{th}}` or `12^{th}`."""
    if tokens[at].text == "{":
        return len(tokens) > at + 2 and tokens[at + 1].text in ORDINALS and tokens[at + 2].text == "}"
    return tokens[at].text in ORDINALS


def symbols(tree: Tree) -> frozenset[str]:
    """The names of the variables in a tree."""
    if isinstance(tree, Symbol):
        return frozenset((tree.name,))
    return frozenset().union(*(symbols(child) for child in children(tree)))


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
