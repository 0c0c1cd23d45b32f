"""Equations, inequalities in several variables, definitions `y = ...`, and congruences.

Two equations are equal when one is the other times a non-zero constant, moved across. A definition is also answered
by its right side, an equation in one unknown by all of its solutions. No equation is answered by another that merely
shares solutions.
"""

from __future__ import annotations

from fractions import Fraction

from rlvr_math_reward.exact.algebra import (
    Atom,
    Monomial,
    NotExact,
    Poly,
    Rational,
    constant,
    divide,
    rational,
    subtract,
)
from rlvr_math_reward.exact.equality import compare_forms
from rlvr_math_reward.exact.forms import exact, substituted
from rlvr_math_reward.kinds import scalar
from rlvr_math_reward.kinds.answer import Answer, Comparer, Match, all_of, forward, is_name, no, yes
from rlvr_math_reward.kinds.collection import expanded
from rlvr_math_reward.parser.wording import symbols
from rlvr_math_reward.tree import Apply, Relation, Sequence, Symbol, Tree, renamed, render

__all__ = ["claims", "match"]

_REVERSED = {">": "<", ">=": "<="}
MAX_DEGREE = 12
"""Degree of an equation whose solutions are checked one by one."""


def claims(gold: Answer) -> bool:
    match gold.tree:
        case Relation(operators, operands):
            plain = not any(isinstance(side, Sequence) for side in operands)
            return plain and (any(symbols(side) for side in operands) or not set(operators) <= {"=", "~"})
    return False


def match(gold: Answer, prediction: Answer, compare: Comparer) -> Match:
    gold, prediction = gold._replace(tree=forward(gold.tree)), prediction._replace(tree=forward(prediction.tree))
    tree = gold.tree
    assert isinstance(tree, Relation)
    if tree.operators == ("==",):
        return _match_congruence(tree, prediction, compare)
    if tree.operators == ("=",) and is_name(tree.operands[0]):
        return _match_definition(tree, prediction, compare)
    if not isinstance(prediction.tree, Relation) or _is_solution(prediction.tree, symbols(tree)):
        return _match_solutions(tree, prediction, compare)
    return _match_relations(tree, prediction.tree, compare)


# -- definitions -------------------------------------------------------------------------------------------------------
def _match_definition(gold: Relation, prediction: Answer, compare: Comparer) -> Match:
    name, value = gold.operands
    tree = prediction.tree
    if not isinstance(tree, Relation):
        return compare.answer(value, tree)
    if is_name(tree.operands[0]) and set(tree.operators) <= {"=", "~"}:
        tree = _renamed_argument(name, tree)
        if not _same_name(name, tree.operands[0]):
            found = _match_relations(gold, tree, compare) if symbols(value) else None
            return found if found and found.equal else no(f"the name is {render(tree.operands[0])}, not {render(name)}")
        forms = scalar.values(tree, compare)
        return compare.scalar(value, forms[-1]) if forms else no(f"{prediction.text!r} states no single value")
    if not symbols(value):
        return no(f"{prediction.text!r} is not solved for {render(name)}")
    return _match_relations(gold, tree, compare)


def _renamed_argument(name: Tree, tree: Relation) -> Relation:
    """`f(t) = 2 - t` with the argument that the gold gives to f."""
    match name, tree.operands[0]:
        case Apply(f, (Symbol(wanted),)), Apply(g, (Symbol(found),)) if (
            f == g and wanted.islower() and found.islower() and wanted not in symbols(tree)
        ):  # a capital names a set, an event or a matrix, and no argument
            changed = renamed(tree, found, wanted)
            return changed if isinstance(changed, Relation) else tree
    return tree


def _same_name(gold: Tree, prediction: Tree) -> bool:
    """The same letter, or the graph of a function: `y` and `f(x)`."""
    match gold, prediction:
        case (Symbol("y"), Apply("f", (Symbol("x"),))) | (Apply("f", (Symbol("x"),)), Symbol("y")):
            return True
    return render(gold) == render(prediction)


# -- equations and inequalities ----------------------------------------------------------------------------------------
def _match_relations(gold: Relation, prediction: Relation, compare: Comparer) -> Match:
    if render(gold) == render(prediction):
        return yes("both relations are written alike", "text")
    if len(gold.operators) != len(prediction.operators):
        return no("the relations have different numbers of sides")
    if len(gold.operators) == 1:
        return _match_pair(_oriented(gold), _oriented(prediction))
    return _match_chain(gold, prediction, compare)


def _oriented(relation: Relation) -> tuple[str, Tree, Tree]:
    (operator,), (left, right) = relation.operators, relation.operands
    return (_REVERSED[operator], right, left) if operator in _REVERSED else (operator, left, right)


def _match_pair(gold: tuple[str, Tree, Tree], prediction: tuple[str, Tree, Tree]) -> Match:
    if gold == prediction:
        return yes("both relations say the same")
    if gold[0] != prediction[0]:
        return no(f"the relation is {prediction[0]}, not {gold[0]}")
    try:
        wanted, found = (_difference(left, right) for _, left, right in (gold, prediction))
    except NotExact as error:
        return Match(None, "exact", f"the sides have no exact form: {error}")
    if not any(_has_variable(mono) for mono in wanted) or not found:
        return no("a relation without solutions is only itself")
    factor = _factor(wanted, found)
    if factor is None or (factor < 0 and gold[0] in ("<", "<=")):
        return no("neither relation is the other times a constant")
    return yes("one relation is the other times a constant")


def _match_chain(gold: Relation, prediction: Relation, compare: Comparer) -> Match:
    if gold.operators[0] in _REVERSED and set(gold.operators) <= set(_REVERSED):
        gold = _turned(gold)
    if prediction.operators[0] in _REVERSED and set(prediction.operators) <= set(_REVERSED):
        prediction = _turned(prediction)
    if gold.operators != prediction.operators:
        return no("the chains have different signs")
    pairs = zip(gold.operands, prediction.operands, strict=True)
    return all_of((compare.scalar(g, p) for g, p in pairs), "every side is equal")


def _turned(chain: Relation) -> Relation:
    return Relation(tuple(_REVERSED[op] for op in reversed(chain.operators)), tuple(reversed(chain.operands)))


def _difference(left: Tree, right: Tree) -> Poly:
    """left - right over one denominator, multiplied up until no exponent of a variable is negative."""
    poly = subtract(exact(left), exact(right)).top
    lowest: dict[Atom, Rational] = {}
    for monomial in poly:
        for entry, exponent in monomial:
            if exponent < 0:
                lowest[entry] = min(lowest.get(entry, 0), exponent)
    if not lowest:
        return poly
    return {_lifted(monomial, lowest): value for monomial, value in poly.items()}


def _lifted(monomial: Monomial, lowest: dict[Atom, Rational]) -> Monomial:
    exponents = dict(monomial)
    for entry, exponent in lowest.items():
        exponents[entry] = exponents.get(entry, 0) - exponent
    return frozenset((entry, exponent) for entry, exponent in exponents.items() if exponent)


def _has_variable(monomial: Monomial) -> bool:
    return any(entry[0] not in ("prime", "pi", "i") for entry, _ in monomial)


def _factor(first: Poly, second: Poly) -> Fraction | None:
    """The constant c with `second == c * first`, else None."""
    if first.keys() != second.keys():
        return None
    factors = {Fraction(second[monomial]) / value for monomial, value in first.items()}
    return factors.pop() if len(factors) == 1 else None


def _is_solution(tree: Relation, unknowns: frozenset[str]) -> bool:
    """`x = value` for an equation in x alone."""
    left = tree.operands[0]
    solved = tree.operators == ("=",) and isinstance(left, Symbol) and not symbols(tree.operands[1])
    return solved and unknowns == {left.name}  # type: ignore[union-attr]


# -- solutions ---------------------------------------------------------------------------------------------------------
def _match_solutions(gold: Relation, prediction: Answer, compare: Comparer) -> Match:
    """An equation in one unknown, answered by the list of all its roots."""
    unknowns = symbols(gold)
    if gold.operators != ("=",) or len(unknowns) != 1:
        return no(f"{prediction.text!r} is no {'equation' if '=' in gold.operators else 'inequality'}")
    (unknown,) = unknowns
    roots = [root.operands[1] if isinstance(root, Relation) else root for root in expanded(prediction.tree)]
    try:
        poly = _difference(*gold.operands)
        degree = _distinct_roots(poly)
        values = [exact(root) for root in roots]
        zeros = [compare_forms(substituted(gold.operands, unknown, value), constant(0)) for value in values]
    except NotExact as error:
        return no(f"the solutions were not checked: {error}")
    different = all(not compare_forms(a, b) for i, a in enumerate(values) for b in values[:i])
    if all(zeros) and different and len(values) == degree:
        return yes(f"these are all {degree} solutions of the equation")
    return no(f"{prediction.text!r} is not the list of all solutions")


def _distinct_roots(poly: Poly) -> int:
    """The number of distinct complex roots of a polynomial in one variable with rational coefficients."""
    coefficients: dict[int, Fraction] = {}
    for monomial, value in poly.items():
        pairs = list(monomial)
        if len(pairs) > 1 or (pairs and (pairs[0][0][0] != "sym" or pairs[0][1].denominator != 1)):
            raise NotExact("no polynomial in one unknown")
        coefficients[int(pairs[0][1]) if pairs else 0] = Fraction(value)
    degree = max(coefficients, default=0)
    if not 1 <= degree <= MAX_DEGREE:
        raise NotExact("the degree is out of range")
    dense = [coefficients.get(power, Fraction(0)) for power in range(degree + 1)]
    derivative = [value * power for power, value in enumerate(dense)][1:]
    return degree - (len(_greatest_common_divisor(dense, derivative)) - 1)


def _greatest_common_divisor(first: list[Fraction], second: list[Fraction]) -> list[Fraction]:
    while second:
        remainder = list(first)
        while len(remainder) >= len(second):
            factor = remainder[-1] / second[-1]
            shift = len(remainder) - len(second)
            remainder = [r - factor * (second[i - shift] if i >= shift else 0) for i, r in enumerate(remainder)][:-1]
        while remainder and not remainder[-1]:
            remainder.pop()
        first, second = second, remainder
    return first


# -- congruences -------------------------------------------------------------------------------------------------------
def _match_congruence(gold: Relation, prediction: Answer, compare: Comparer) -> Match:
    residue, modulus = _residue(gold.operands[1])
    tree = prediction.tree
    if isinstance(tree, Relation):
        if tree.operators not in (("==",), ("=",)) or render(tree.operands[0]) != render(gold.operands[0]):
            return no(f"{prediction.text!r} is no congruence for {render(gold.operands[0])}")
        tree = tree.operands[1]
    found, other = _residue(tree)
    if modulus is None or other is None:
        return compare.scalar(residue, found)
    if not compare.scalar(modulus, other).equal:
        return no("the moduli differ")
    same = compare.scalar(residue, found)
    return same if same.equal or not _congruent(residue, found, modulus) else yes("the residues are congruent")


def _congruent(first: Tree, second: Tree, modulus: Tree) -> bool:
    try:
        step = rational(divide(subtract(exact(first), exact(second)), exact(modulus)))
    except NotExact:
        return False
    return step is not None and step.denominator == 1


def _residue(tree: Tree) -> tuple[Tree, Tree | None]:
    match tree:
        case Apply("mod" | "remainder", (residue, modulus)):
            return residue, modulus
    return tree, None
