"""One value: a number or a closed expression, written plainly, with a name before `=`, or as a chain that holds."""

from __future__ import annotations

from fractions import Fraction

from rlvr_math_reward.exact.forms import approximate
from rlvr_math_reward.kinds.answer import Answer, Comparer, Match, forward, is_name, name_of, no
from rlvr_math_reward.parser.measures import can_be_left_out
from rlvr_math_reward.parser.wording import symbols
from rlvr_math_reward.tree import (
    Apply,
    Based,
    Constant,
    Matrix,
    Number,
    Power,
    Product,
    Quantity,
    Quotient,
    Ratio,
    Relation,
    Sequence,
    SetBuilder,
    Sum,
    Symbol,
    Tree,
    Words,
    children,
    render,
)

__all__ = ["claims", "fraction", "match", "values"]

APPROXIMATE = 0.01
"""Relative difference within which the two sides of a written `\\approx` count as forms of one value."""
MAX_FORMS = 3
"""Sides of a chain of `\\approx` that may all be forms of one value."""
SEVERAL = (Sequence, Words, Matrix, SetBuilder, Ratio, Relation)


def claims(gold: Answer) -> bool:
    """Every value is one; this kind is asked last."""
    match gold.tree:
        case Relation(operators, operands):
            return set(operators) <= {"=", "~"} and not any(symbols(operand) for operand in operands)
    return not isinstance(gold.tree, SEVERAL)


def match(gold: Answer, prediction: Answer, compare: Comparer) -> Match:
    if fraction(gold.tree) is not None and fraction(prediction.tree) is not None:
        return compare.scalar(gold.tree, prediction.tree)
    named = name_of(gold.tree), name_of(prediction.tree)
    if all(named) and named[0] != named[1]:
        return no(f"the name is {named[1]}, not {named[0]}")
    golds, predictions = values(gold.tree, compare), values(prediction.tree, compare)
    match predictions:
        case [Apply("percent", (written,))] if compare.policy.percent == "either" and is_written_percent(written):
            predictions = [*predictions, written]  # a percent sign on one side only is a missing unit
    if not predictions or not golds:
        return no(f"{prediction.text!r} is not one value")
    best: Match | None = None
    for left in golds:
        for right in predictions:
            found = compare.scalar(left, right)
            if found.equal:
                return found
            best = found if best is None or found.equal is None else best
    return best or no("no value to compare")


def values(tree: Tree, compare: Comparer) -> list[Tree]:
    """The forms in which a tree states one value; empty where it states none or several.

    A chain `a = b = c` states its last value when every link holds; a name at its start is no link. Forms joined by
    `\\approx` are all given. An equation that is no such chain states nothing.
    """
    tree = forward(tree)
    match tree:
        case Relation(("in",), (left, Sequence("{", (inner,), "}", _))) if is_name(left):
            return values(inner, compare)
        case Relation(operators, operands):
            return _chain(operators, operands, compare)
        case Sequence("", items, "", "or"):
            return _alternatives(items, compare)
        case Sequence("{", (inner,), "}", _) if not isinstance(inner, Sequence):
            return values(inner, compare)
        case Quantity(inner, unit):
            return values(inner, compare) if can_be_left_out(unit, inner) else []
        case Based(_, base) if base != 10:
            return []  # "convert to base ten" is not answered by the numeral that was to be converted
        case Apply("mod", (residue, modulus)):
            return [residue] if _is_least_residue(residue, modulus) else []
    if isinstance(tree, SEVERAL) or _stands_for_several(tree):
        return []
    return [tree]


def _alternatives(items: tuple[Tree, ...], compare: Comparer) -> list[Tree]:
    """`1/2 or 0.5`: two ways to write one value; anything else joined by "or" is a hedge."""
    forms = [form for item in items for form in values(item, compare)]
    if len(forms) != len(items) or len({render(form) for form in forms}) < len(forms):
        return []
    return forms[:1] if all(compare.scalar(forms[0], form).equal for form in forms[1:]) else []


def _is_least_residue(residue: Tree, modulus: Tree) -> bool:
    """`7 (mod 11)` states 7; `17 (mod 5)` leaves the reduction to the reader."""
    first, second = approximate(residue), approximate(modulus)
    return first is not None and second is not None and 0 <= first.real < second.real


def is_written_percent(written: Tree) -> bool:
    """Whether a percentage may have lost its sign: below one, `0.35` rather means 35 percent."""
    value = approximate(written)
    return value is not None and abs(value) >= 1


def _stands_for_several(tree: Tree) -> bool:
    if isinstance(tree, Apply) and tree.name in ("plusminus", "minusplus", "union", "intersection", "difference"):
        return True
    if isinstance(tree, Constant):
        return tree.name in ("R", "Q", "Z", "N", "C", "empty", "...")
    return isinstance(tree, Sum | Apply) and any(_stands_for_several(child) for child in children(tree))


def _chain(operators: tuple[str, ...], operands: tuple[Tree, ...], compare: Comparer) -> list[Tree]:
    if operators == ("==",):
        right = operands[1]
        congruent = is_name(operands[0]) and isinstance(right, Apply) and right.name in ("mod", "remainder")
        return values(operands[1], compare) if congruent else []
    if not set(operators) <= {"=", "~"}:
        return []
    links = list(zip(operators, operands, operands[1:], strict=False))
    named = is_name(operands[0])
    if named:
        links = links[1:]
    match operands[0]:
        case Symbol(name) if any(name in symbols(side) for side in operands[1:]):
            return []  # "x = x" and "x = 3x - 2" define nothing
    sides = operands[1:] if named else operands
    if any(len(values(side, compare)) != 1 for side in sides):
        return []
    if not named and len(set(sides)) == 1:  # "1 = 1" is a statement about 1, not the value 1
        return []
    if not all(_holds(operator, left, right, compare) for operator, left, right in links):
        return []
    if "~" in operators:
        forms = [form for side in sides for form in values(side, compare)]
        return forms if _are_forms_of_one(forms, compare) else []
    return values(sides[-1], compare)


def _are_forms_of_one(forms: list[Tree], compare: Comparer) -> bool:
    """One exact value and what it is about: no chain of values each of which is near the next."""
    written = [form for form in forms if not _is_rounded(form)]
    exact = all(compare.scalar(written[0], form).equal for form in written[1:])
    return len(forms) <= MAX_FORMS and exact and all(_holds("~", forms[0], form, compare) for form in forms[1:])


def _is_rounded(tree: Tree) -> bool:
    return (isinstance(tree, Number) and tree.decimal) or any(map(_is_rounded, children(tree)))


def _holds(operator: str, left: Tree, right: Tree, compare: Comparer) -> bool:
    (first,), (second,) = values(left, compare), values(right, compare)
    if operator == "=":
        return bool(compare.scalar(first, second).equal)
    a, b = approximate(first), approximate(second)
    return a is not None and b is not None and abs(a - b) <= APPROXIMATE * max(abs(a), abs(b))


def fraction(tree: Tree) -> Fraction | None:
    """The value of a numeral or of two with a bar between them; None for every other tree, and over zero."""
    if type(tree) is Number:
        return tree.value
    if type(tree) is Quotient and type(tree.numerator) is Number and type(tree.denominator) is Number:
        return tree.numerator.value / tree.denominator.value if tree.denominator.value else None
    return None


def is_plain_number(tree: Tree) -> bool:
    """A number as one writes it down: nothing is left to compute but a fraction bar, a sign, a percent or a unit."""
    match tree:
        case Number() | Based(_, 10):
            return True
        case Product((Number(), Power(Number(ten, False, _), Number()))) if ten == 10:  # 1.2 x 10^3
            return True
        case Quotient(Number(), Number()):
            return True
        case Quantity(value, _) | Apply("percent" | "degree" | "mod", (value, *_)):
            return is_plain_number(value)
        case Relation(operators, operands) if set(operators) <= {"=", "~"}:
            return all(is_plain_number(side) for side in operands[is_name(operands[0]) :])
        case Sequence("{", (inner,), "}", _):
            return is_plain_number(inner)
    return False
