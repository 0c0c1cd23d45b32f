"""Units of measure: whether two are the same or convert into each other, by pint and by a few names of our own.

pint is loaded only when both sides of a comparison carry a unit and the names differ. Without pint installed, units
of different names are different units, which the log says once.
"""

from __future__ import annotations

import logging
import re
from fractions import Fraction
from functools import lru_cache
from typing import Any

from rlvr_math_reward.parser.vocabulary import UNITS

__all__ = ["conversion"]

MAX_UNIT_CHARS = 40
"""Characters of a unit handed to pint; "kilograms per cubic centimeter" has 30."""
_NAMES = {
    "dollar": "dollar", "usd": "dollar", "buck": "dollar", "cent": "cent", "euro": "euro", "eur": "euro",
    "in": "inch", "ft": "foot", "feet": "foot", "yd": "yard", "mi": "mile", "hr": "hour", "h": "hour", "min": "minute",
    "sec": "second", "s": "second", "lb": "pound", "gm": "gram", "g": "gram", "kg": "kilogram", "km": "kilometer",
    "cm": "centimeter", "mm": "millimeter", "m": "meter", "metre": "meter", "litre": "liter", "l": "liter",
    "ml": "milliliter", "mph": "mile/hour", "kph": "kilometer/hour", "sq": "square", "cu": "cubic", "deg": "degree",
    "oz": "ounce", "gal": "gallon", "yr": "year", "inches": "inch", "boxes": "box", "children": "child",
    "people": "person", "men": "man", "women": "woman",
}  # fmt: skip
_SCALES = ("celsius", "fahrenheit", "kelvin")
_MONEY = {("cent", "dollar"): Fraction(1, 100), ("dollar", "cent"): Fraction(100)}
_GENERIC = frozenset(("unit", "square unit", "cubic unit", "unit^2", "unit^3"))
_MEASURING = frozenset(
    "of an a each every per pair group deck box set dozen half percentage fewer less milli kilo mega giga micro nano "
    "square cubic light nautical".split()
)
"""Words that make another unit of the noun beside them."""
_WORD = re.compile(r"[a-z]+")


def conversion(unit: str, into: str) -> Fraction | None:
    """What to multiply a value in `unit` by to have it in `into`; None where they are different things.

    Args:
        unit: lower-case text, e.g. `cm`, `square feet`, `miles per hour`.
        into: the same.

    Example:
        >>> conversion("feet", "ft"), conversion("cm", "apples")
        (Fraction(1, 1), None)
    """
    first, second = normal(unit), normal(into)
    if first == second:
        return Fraction(1)
    if (first, second) in _MONEY:
        return _MONEY[first, second]
    if first in _GENERIC or second in _GENERIC:
        return None
    if _counts(first) and _counts(second) and (_adds_words(first, second) or _adds_words(second, first)):
        return Fraction(1)
    return _by_pint(first, second)


def normal(unit: str) -> str:
    """One spelling for a unit: singular, long names, `per` as a slash, `square x` as `x^2`."""
    unit = unit.removesuffix(" in all").removesuffix(" in total")
    text = unit.replace("degrees ", "").replace("degree ", "") if unit.split()[-1] in _SCALES else unit
    text = text.replace(" per ", "/").replace("/ ", "/").replace("a/n ", "/").strip()
    text = _WORD.sub(lambda match: _singular(match.group()), text)
    text = re.sub(r"\bsquare ([a-z]+)", r"\1^2", text)
    text = re.sub(r"\bcubic ([a-z]+)", r"\1^3", text)
    return re.sub(r"([a-z]+) squared", r"\1^2", re.sub(r"([a-z]+) cubed", r"\1^3", text))


def _singular(word: str) -> str:
    if word in _NAMES:
        return _NAMES[word]
    if len(word) > 3 and word.endswith("s") and not word.endswith("ss"):
        word = word[:-1]
    return _NAMES.get(word, word)


def _adds_words(longer: str, noun: str) -> bool:
    """ "18 integers in all" and "18 positive integers" are 18 integers; 18 pairs of shoes are no 18 shoes, and nautical
    miles no miles."""
    before, after = longer.removesuffix(f" {noun}"), longer.removeprefix(f"{noun} ")
    if noun in UNITS or longer not in (f"{before} {noun}", f"{noun} {after}"):
        return False
    added = (before if before != longer else after).split()
    return not any(word in UNITS or word in _MEASURING or word.endswith("s") for word in added)


def _counts(unit: str) -> bool:
    return not any(mark in unit for mark in "/^*")


@lru_cache(maxsize=1)
def _registry() -> Any:
    try:
        from pint import UnitRegistry
    except ImportError:
        logging.getLogger(__name__).warning(
            "pint is not installed, so a unit and another that converts into it are different: "
            "pip install 'rlvr_math_reward[units]'"
        )
        return None
    return UnitRegistry(non_int_type=Fraction)


@lru_cache(maxsize=512)
def _by_pint(unit: str, into: str) -> Fraction | None:
    registry = _registry()
    if registry is None or len(unit) > MAX_UNIT_CHARS or len(into) > MAX_UNIT_CHARS:
        return None
    try:
        first, second = _product(registry, unit), _product(registry, into)
        if first is None or second is None or first.dimensionality != second.dimensionality:
            return None
        return Fraction(registry.Quantity(Fraction(1), first).to(second).magnitude)
    except Exception as error:  # pint raises a dozen types, some from its dependencies; an unknown unit is no unit
        if isinstance(error, MemoryError):
            raise
        return None


def _product(registry: Any, text: str) -> Any:
    """The unit, built name by name: the text itself never reaches pint's parser."""
    total = registry.Unit("")
    for index, side in enumerate(text.split("/")):
        for factor in side.replace("*", " ").split():
            name, _, exponent = factor.partition("^")
            if not name.isalpha() or name not in registry or not (exponent or "1").lstrip("-").isdigit():
                return None
            if abs(int(exponent or "1")) > 9:
                return None
            total *= getattr(registry, name) ** (int(exponent or "1") * (-1 if index else 1))
    return total
