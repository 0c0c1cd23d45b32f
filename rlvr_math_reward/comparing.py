"""The ladder by which two values are compared: text, exact, numeric, symbolic; the first rung that knows decides.

`Ladder` is what the kinds are handed. It holds a policy and nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from rlvr_math_reward import kinds, numeric, symbolic
from rlvr_math_reward.exact import forms as exact
from rlvr_math_reward.exact.algebra import NotExact, TooLarge, Undefined, rational
from rlvr_math_reward.kinds.answer import Answer, Match, no
from rlvr_math_reward.kinds.quantity import match_values
from rlvr_math_reward.kinds.scalar import fraction
from rlvr_math_reward.parser.wording import symbols
from rlvr_math_reward.policy import Policy
from rlvr_math_reward.tree import (
    Apply,
    Constant,
    Number,
    Power,
    Product,
    Quantity,
    Ratio,
    Relation,
    Sequence,
    SetBuilder,
    Tree,
    Words,
    children,
    render,
)

__all__ = ["ALIKE", "OTHER_NUMBER", "SAME_NUMBER", "Ladder"]

ALIKE = Match(True, "text", "both are written alike")
SAME_NUMBER = Match(True, "exact", "both are the same number")
OTHER_NUMBER = Match(False, "exact", "different numbers")

_PIECEWISE = frozenset((
    "abs", "sqrt", "root", "floor", "ceil", "sgn", "max", "min", "arg", "re", "im", "conjugate", "remainder", "mod",
    "gcd", "lcm", "arcsin", "arccos", "arctan", "arccot", "arcsec", "arccsc",
))  # fmt: skip
"""Functions that follow one formula here and another one there, or that undo another function on a part of the line."""
_NO_VALUES = (Sequence, SetBuilder, Relation, Words, Ratio)


@dataclass(frozen=True, slots=True)
class Ladder:
    """Compares under one policy; see `kinds.answer.Comparer`."""

    policy: Policy

    def answer(self, gold: Tree, prediction: Tree) -> Match:
        """Compares two parts of an answer: as the kind of the gold's part."""
        measured = isinstance(gold, Quantity | Apply) or isinstance(prediction, Quantity)
        if measured and not isinstance(gold, _NO_VALUES) and not isinstance(prediction, _NO_VALUES):
            return match_values(gold, prediction, self, render(prediction))
        left, right = Answer(render(gold), gold), Answer(render(prediction), prediction)
        return kinds.match(kinds.classify(left), left, right, self)

    def scalar(self, gold: Tree, prediction: Tree) -> Match:
        """Climbs the ladder for two values."""
        left, right = _known(gold), _known(prediction)
        if left is not None and right is not None:
            if left == right:
                return ALIKE if type(gold) is Apply and gold == prediction else SAME_NUMBER
            if not self.policy.rel_tol:
                return OTHER_NUMBER
        infinite = _infinity(gold), _infinity(prediction)
        if any(infinite):
            return Match(infinite[0] == infinite[1], "exact", "infinity is only itself")
        oversized = None
        try:
            equal = exact.compare(gold, prediction)
        except Undefined as error:
            return no(f"the prediction has no value: {error}")
        except TooLarge as error:
            equal, oversized = None, str(error)
        if equal:
            return ALIKE if _written_alike(gold, prediction) else Match(True, "exact", "equal by exact arithmetic")
        if self._is_close(gold, prediction):
            return Match(True, "numeric", f"equal within the relative tolerance {self.policy.rel_tol:g}")
        if equal is False:
            return no("different by exact arithmetic")
        if isinstance(gold, _NO_VALUES) or isinstance(prediction, _NO_VALUES):
            return no("one of the two is no value")
        return self._beyond_exact(gold, prediction, oversized)

    def _beyond_exact(self, gold: Tree, prediction: Tree, oversized: str | None) -> Match:
        if _written_alike(gold, prediction):
            return ALIKE
        if _holds(gold, _NO_VALUES) or _holds(prediction, _NO_VALUES):
            return no("a list, a relation or words inside an expression")
        if _unknown_functions(gold) != _unknown_functions(prediction):
            return no("a function that only one side names is nothing but itself")
        agreed = numeric.agree(gold, prediction)
        if agreed is False:
            return Match(False, "numeric", "different by evaluation")
        if oversized is not None:
            return Match(None, "symbolic", f"neither equality nor difference was shown: {oversized}")
        proven = symbolic.ask_patiently(gold, prediction, self.policy.timeout)
        if proven is not None:
            return Match(proven, "symbolic", f"SymPy proves them {'equal' if proven else 'different'}")
        in_pieces = _holds_pieces(gold) or _holds_pieces(prediction)
        if agreed and symbols(gold) | symbols(prediction) and not in_pieces:
            return Match(True, "numeric", "equal to 50 digits at every sample point; not proven")
        return Match(None, "symbolic", "neither equality nor difference was shown")

    def _is_close(self, gold: Tree, prediction: Tree) -> bool:
        """Within `rel_tol`, where the policy lets tolerance apply; two integers never are."""
        tolerance = self.policy.rel_tol
        if not tolerance or (self.policy.tolerance == "inexact" and not (_inexact(gold) or _inexact(prediction))):
            return False
        left, right = numeric.value(gold), numeric.value(prediction)
        if left is None or right is None or (_is_integer(gold) and _is_integer(prediction)):
            return False
        return abs(left - right) <= tolerance * abs(left)


def _known(tree: Tree) -> Fraction | None:
    """The value of a fraction or a percentage, which need no exact form."""
    if type(tree) is Apply and tree.name == "percent" and (value := fraction(tree.args[0])) is not None:
        return value / 100
    return fraction(tree)


def _written_alike(gold: Tree, prediction: Tree) -> bool:
    return gold == prediction or render(gold) == render(prediction)


def _holds_pieces(tree: Tree) -> bool:
    """Whether it is made of pieces, of which sample points may all lie on one: then agreement says little."""
    own = isinstance(tree, Apply) and tree.name in _PIECEWISE
    rooted = isinstance(tree, Power) and numeric.denominator(tree.exponent) > 1  # `(x^2)^{1/2}`
    return own or rooted or any(map(_holds_pieces, children(tree)))


def _unknown_functions(tree: Tree) -> frozenset[str]:
    """The letters that name functions: `f` in `f(17)`."""
    own = frozenset((tree.name,)) if isinstance(tree, Apply) and len(tree.name.rstrip("'^-1")) == 1 else frozenset()
    return own.union(*(_unknown_functions(child) for child in children(tree)))


def _holds(tree: Tree, kinds_of_node: tuple[type, ...]) -> bool:
    grouping = isinstance(tree, Sequence) and len(tree.items) == 1
    own = isinstance(tree, kinds_of_node) and not grouping
    return own or any(_holds(child, kinds_of_node) for child in children(tree))


def _inexact(tree: Tree) -> bool:
    return (isinstance(tree, Number) and tree.decimal) or any(_inexact(child) for child in children(tree))


def _is_integer(tree: Tree) -> bool:
    try:
        value = rational(exact.exact(tree))
    except NotExact:
        return False
    return value is not None and value.denominator == 1


def _infinity(tree: Tree) -> int:
    """1 for infinity, -1 for minus infinity, 0 for anything else."""
    match tree:
        case Constant("oo"):
            return 1
        case Product((Number(sign), Constant("oo"))) if abs(sign) == 1:
            return int(sign)
    return 0
