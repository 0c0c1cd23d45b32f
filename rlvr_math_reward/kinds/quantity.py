"""Values with a unit, a currency, a percent sign or a degree sign; numerals in a base; ratios and times of day.

A unit on one side only is ignored. Units on both sides must agree, by name or by conversion.
"""

from __future__ import annotations

from fractions import Fraction

from rlvr_math_reward.kinds import scalar
from rlvr_math_reward.kinds.answer import Answer, Comparer, Match, all_of, named_value, no
from rlvr_math_reward.parser.measures import can_be_left_out
from rlvr_math_reward.tree import Apply, Based, Number, Product, Quantity, Ratio, Relation, Tree
from rlvr_math_reward.units import conversion

__all__ = ["claims", "match"]

_DEGREES = {"degree": "degree", "celsius": "celsius", "fahrenheit": "fahrenheit"}
_TIMES_OF_DAY = ("am", "pm")


def claims(gold: Answer) -> bool:
    tree = named_value(gold.tree)
    return isinstance(tree, (Quantity, Ratio, Based)) or _has_sign(tree) or _approximate_quantity(tree)


def _has_sign(tree: Tree) -> bool:
    return isinstance(tree, Apply) and tree.name in ("percent", *_DEGREES)


def _approximate_quantity(tree: Tree) -> bool:
    return isinstance(tree, Relation) and all(isinstance(side, Quantity) or _has_sign(side) for side in tree.operands)


def match(gold: Answer, prediction: Answer, compare: Comparer) -> Match:
    wanted, found = named_value(gold.tree), named_value(prediction.tree)
    match wanted, found:
        case Based(), _:
            return _match_based(wanted, found, compare)
        case (Ratio(), _) | (_, Ratio()) | (Quantity(_, "am" | "pm"), _):
            return _match_ratio(wanted, found, compare)
    if isinstance(wanted, Relation) or isinstance(found, Relation):
        return scalar.match(gold, prediction, compare)
    return match_values(wanted, found, compare, prediction.text)


def match_values(gold: Tree, prediction: Tree, compare: Comparer, text: str) -> Match:
    """Two values with their units; used for every kind whose parts may carry one."""
    gold, prediction = _percentage(gold), _percentage(prediction)
    if _percent(gold) or _percent(prediction):
        return _match_percent(gold, prediction, compare, text)
    (left, unit), (right, other) = _split(gold), _split(prediction)
    forms = scalar.values(right, compare)
    if len(forms) != 1:
        return no(f"{text!r} is not one value")
    if other and not unit and not can_be_left_out(other, right):
        return no(f"{other!r} is no unit")
    if unit and other:
        factor = conversion(other, unit)
        if factor is None:
            return no(f"the unit {other!r} is not {unit!r}")
        right = forms[0] if factor == 1 else Product((Number(factor), forms[0]))
        return compare.scalar(left, right)
    return compare.scalar(left, forms[0])


def _percentage(tree: Tree) -> Tree:
    """`12% increase` as 12%: what a percentage is of is no unit."""
    match tree:
        case Quantity(Apply("percent") as value, _):
            return value
    return tree


def _split(tree: Tree) -> tuple[Tree, str]:
    match tree:
        case Quantity(value, unit):
            return value, unit
        case Apply(name, (value,)) if name in _DEGREES:
            return value, _DEGREES[name]
    return tree, ""


def _percent(tree: Tree) -> bool:
    return isinstance(tree, Apply) and tree.name == "percent"


def _match_percent(gold: Tree, prediction: Tree, compare: Comparer, text: str) -> Match:
    """By value; or, with the sign on one side only, as written, because a missing sign is a missing unit."""
    if _split(gold)[1] or _split(prediction)[1]:
        return no("a percentage is not a value with a unit")
    forms = scalar.values(prediction, compare)
    if len(forms) != 1:
        return no(f"{text!r} is not one value")
    by_value = compare.scalar(_split(gold)[0], _split(forms[0])[0])
    if by_value.equal or (_percent(gold) and _percent(prediction)) or compare.policy.percent == "value":
        return by_value
    sign = forms[0]
    if not _percent(gold) and isinstance(sign, Apply) and not scalar.is_written_percent(sign.args[0]):
        return by_value
    written = [tree.args[0] if isinstance(tree, Apply) and tree.name == "percent" else _split(tree)[0]
               for tree in (gold, forms[0])]  # fmt: skip
    return compare.scalar(written[0], written[1])


def _match_based(gold: Based, prediction: Tree, compare: Comparer) -> Match:
    """The same digits without the base, or the same value in a base that is written."""
    if isinstance(prediction, Based):
        if prediction.base not in (gold.base, 10):
            return no(f"base {prediction.base} is not base {gold.base}")
        return compare.scalar(gold, prediction)
    match prediction:
        case Number(value, False, _) if value.denominator == 1:
            if str(value.numerator) == gold.digits.lstrip("0"):
                return Match(True, "exact", f"the digits are those of {gold.digits} in base {gold.base}")
        case Number(value, True, _) if "." in gold.digits:
            if value == Fraction(gold.digits):
                return Match(True, "exact", f"the digits are those of {gold.digits} in base {gold.base}")
    return no(f"the digits are not those of {gold.digits} in base {gold.base}")


def _match_ratio(gold: Tree, prediction: Tree, compare: Comparer) -> Match:
    half, other = (tree.unit if isinstance(tree, Quantity) else "" for tree in (gold, prediction))
    if half and other and half != other and {half, other} & set(_TIMES_OF_DAY):
        return no(f"the time of day is {other}, not {half}")
    left, right = _parts(gold, half), _parts(prediction, other or half)
    if left is None or right is None or len(left) != len(right):
        return no("the two are not ratios of as many parts")
    same = all_of((compare.scalar(g, p) for g, p in zip(left, right, strict=True)), "every part is equal")
    zero = Number(Fraction(0))
    if same.equal or half in _TIMES_OF_DAY or zero in (*left, *right):
        return same
    crossed = (compare.scalar(Product((g, right[0])), Product((p, left[0]))) for g, p in zip(left, right, strict=True))
    return all_of(crossed, "the ratios are proportional")


def _parts(tree: Tree, half: str) -> tuple[Tree, ...] | None:
    value = tree.value if isinstance(tree, Quantity) else tree
    match value:
        case Ratio(parts):
            return (*parts, Number(Fraction(0))) if half in _TIMES_OF_DAY and len(parts) == 1 else parts
        case Number() if half in _TIMES_OF_DAY:
            return (value, Number(Fraction(0)))
    return None
