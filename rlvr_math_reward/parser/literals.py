"""Numerals: the digits of a token to a Number, bounded before any integer is built."""

from __future__ import annotations

import re
from fractions import Fraction

from rlvr_math_reward.parser.building import rational_tree
from rlvr_math_reward.policy import MAX_DIGITS
from rlvr_math_reward.tokenizer import ParseError, Token
from rlvr_math_reward.tree import Number, Quotient, render

__all__ = ["number_literal", "numeral", "plain_value", "repeating_decimal"]

_SEPARATORS = str.maketrans("", "", ",{}\\!; ")
MIN_REPEATS = 2
"""Periods written out before an ellipsis that make a decimal repeating: `0.33...`, but not `0.3...` or `3.14...`."""


def number_literal(token: Token) -> Number:
    """The number of a token such as `1,234`, `.5`, `6.02e23`.

    Raises:
        ParseError: more digits than `MAX_DIGITS`, written out or by its exponent.
    """
    written = token.text
    grouped = False
    if not written.isdigit():
        grouped = "," in written and not any(mark in written for mark in "{\\")
        written = written.translate(_SEPARATORS)
    mantissa, _, exponent = written.replace("E", "e").partition("e")
    whole, point, fraction = mantissa.partition(".")
    power = _small_int(exponent, token) if exponent else 0
    if len(whole) + len(fraction) + abs(power) > MAX_DIGITS:
        raise ParseError(f"a number of more than {MAX_DIGITS} digits", (token.start, token.end))
    value = Fraction(int((whole + fraction) or "0"))
    power -= len(fraction)
    if power:
        value = value * 10**power if power > 0 else value / 10**-power
    return Number(value, bool(point and fraction), grouped)


_INTEGER = re.compile(r"-?[0-9]{1,15}")
_DECIMAL = re.compile(r"-?[0-9]{1,15}\.[0-9]{1,30}")
_FRACTION = re.compile(r"(-?)(?:\\[dt]?frac\{([0-9]{1,15})\}\{([0-9]{1,15})\}|([0-9]{1,15})/([0-9]{1,15}))")

_MIXED = re.compile(
    r"(-?)([0-9]{1,15})(?: ?\\[dt]?frac\{([0-9]{1,15})\}\{([0-9]{1,15})\}| (?![0-9]{3}/)([0-9]{1,15})/([0-9]{1,15}))"
)
_GROUPED = re.compile(r"-?[1-9][0-9]{0,2}(?:(?:,[0-9]{3}){1,4}|(?:\{,\}[0-9]{3}){1,4})")


def plain_value(text: str) -> Number | Quotient | None:
    """The tree of a text that is nothing but a number, plain or mixed, or a quotient of two integers; None of others.

    Most answers are one of these, and need no tokens. It reads them as the whole parser does.
    """
    if _INTEGER.fullmatch(text):
        return Number(Fraction(int(text)))
    if _DECIMAL.fullmatch(text):
        before, _, behind = text.partition(".")
        return Number(Fraction(int(before + behind), 10 ** len(behind)), True)
    if found := _FRACTION.fullmatch(text):
        sign, upper, lower = found[1], found[2] or found[4], found[3] or found[5]
        return Quotient(Number(Fraction(int(sign + upper))), Number(Fraction(int(lower))))
    if found := _MIXED.fullmatch(text):
        sign, whole, upper, lower = found[1], int(found[2]), int(found[3] or found[5]), int(found[4] or found[6])
        value = Fraction(whole * lower + upper, lower) if upper < lower else None
        return rational_tree(-value if sign else value) if value is not None else None
    if _GROUPED.fullmatch(text):
        return Number(Fraction(int(text.translate(_SEPARATORS))), False, "{" not in text)
    return None


def numeral(text: str) -> tuple[int | Fraction, str, bool] | None:
    """What such a text is worth, its calculator notation, and whether it has a fraction bar; None over zero, too.

    Most pairs of a completion and its gold are two of these, and are compared without a tree.
    """
    if _INTEGER.fullmatch(text):
        value = int(text)
        return value, str(value), False
    match plain_value(text):
        case Number(number, False):
            return number, str(number.numerator), False
        case Number(number):
            whole, _, digits = text.partition(".")
            rest = digits.rstrip("0")
            sign = "-" if whole[0] == "-" and number else ""
            return number, f"{sign}{abs(int(whole))}{'.' if rest else ''}{rest}", False
        case Quotient(Number(top), Number(bottom)) as tree if bottom:
            return top / bottom, render(tree), True
    return None


def _small_int(digits: str, token: Token) -> int:
    if len(digits.lstrip("+-0")) > len(str(MAX_DIGITS)):
        raise ParseError(f"a number of more than {MAX_DIGITS} digits", (token.start, token.end))
    return int(digits)


def repeating_decimal(token: Token, tokens: list[Token], at: int) -> tuple[Fraction, int] | None:
    """`0.1\\overline{6}`, `0.(3)` or `0.333...`: its value and the tokens after `token` that belong to it."""
    head = token.text.translate(_SEPARATORS)
    if "." not in head or "e" in head.lower() or len(head) > MAX_DIGITS:
        return None
    after = tokens[at]
    if after.kind == "command" and after.text in ("overline", "bar", "dot") and at + 1 < len(tokens):
        under = tokens[at + 1]
        if under.kind == "number" and len(under.text) == 1 and under.text.isdigit():  # `0.\\bar6`
            return _repeating(head, under.text), 2
        return _with_period(head, tokens, at + 1, 1)
    if after.text == "(" and not after.spaced:
        return _with_period(head, tokens, at, 0)
    if after.text == "...":
        period = _period(head.partition(".")[2])
        if period:
            return _repeating(head[: len(head) - len(period)], period), 1
    return None


def _with_period(head: str, tokens: list[Token], at: int, skipped: int) -> tuple[Fraction, int] | None:
    opening, digits, closing = tokens[at : at + 3] if len(tokens) >= at + 3 else (None, None, None)
    if digits is None or closing is None or opening is None or not digits.text.isdigit():
        return None
    if (opening.text, closing.text) not in (("{", "}"), ("(", ")")) or len(digits.text) > MAX_DIGITS:
        return None
    return _repeating(head, digits.text), 3 + skipped


def _period(fraction: str) -> str | None:
    """The shortest digits that the end of `fraction` repeats at least `MIN_REPEATS` times."""
    for length in range(1, len(fraction) // MIN_REPEATS + 1):
        period = fraction[-length:]
        if fraction.endswith(period * MIN_REPEATS) and (length == 1 or len(set(period)) > 1):
            return period
    return None


def _repeating(head: str, period: str) -> Fraction:
    whole, _, fraction = head.partition(".")
    places = len(fraction)
    start = Fraction(int((whole + fraction) or "0"), 10**places)
    return start + Fraction(int(period), (10 ** len(period) - 1) * 10**places)
