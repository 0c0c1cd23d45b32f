"""Numbers instead of forms: values of a tree at sample points, at two precisions, to show that two trees differ.

Evaluation refutes. Agreement is only reported as such, and the caller may take it for equality where exact
arithmetic and SymPy could not decide. Sizes are bounded before any function is called: an exponential of a large
argument is no value here. Limits and infinite sums have no value here.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from math import isfinite
from typing import Any

from mpmath.ctx_mp import MPContext

from rlvr_math_reward.exact.algebra import charge
from rlvr_math_reward.exact.closed_forms import based_value
from rlvr_math_reward.parser.wording import symbols
from rlvr_math_reward.tree import (
    Apply,
    Based,
    BigOperator,
    Constant,
    Number,
    Power,
    Product,
    Quotient,
    Sequence,
    Sum,
    Symbol,
    Tree,
    children,
)

__all__ = ["Unevaluated", "agree", "denominator", "value"]

LOW_DIGITS, MIDDLE_DIGITS, HIGH_DIGITS = 30, 40, 80
"""Decimal digits of the evaluations; where two of them differ in the first 20, cancellation ate the value."""
FAR = 1e-6
"""Relative difference at the lowest precision beyond which ten more digits confirm it, and eighty need not."""
MAX_STEPS = 1_500
"""Nodes that one evaluation may visit, counting those of a sum or an integral each time: some 30 ms."""
DIFFERENT, STABLE = 10.0**-15, 10.0**-20
"""Relative differences: above the first two values are different, within the second two precisions agree."""
EQUAL = 10.0**-50
"""Relative difference within which two values agree at the higher precision."""
MAX_EXPONENT = 10_000
"""Largest |exponent * log(base)| evaluated: the value has some 4,000 digits before or after its point."""
MAX_ARGUMENT = 10**6
"""Largest argument of gamma and factorial."""
MAX_SUMMANDS = 300
"""Terms of a sum evaluated one by one."""
QUADRATURE_DEGREE = 4
"""Doublings of the nodes of a quadrature: at most some 100 evaluations."""
_CIRCULAR = ("sin", "cos", "tan", "cot", "sec", "csc")
_HYPERBOLIC = ("sinh", "cosh", "tanh", "coth", "sech", "csch")
_SAMPLES = ((0.7321, 1.3919, 2.1813, 0.4178), (-1.2371, 2.8373, 0.6193, 1.7719), (2.2391, -0.5417, 1.1173, -1.9181))
"""Values for the variables of an expression, in three points of mixed signs and no special relation."""
_FAR_SAMPLES = (
    (6, 9, 4, 15), (-9, 12, 5, 2), (11, -15, 8, 3), (37.2311, 88.4177, 51.0713, 23.9171),
    (-41.5719, 67.3117, 29.1037, 93.7121), (613.9171, -871.3133, 437.1071, 259.3177),
    (-3121.7117, 5417.2191, 811.9, 77.1), (52013.3719, 31847.1173, 91513.7, 1219.3),
)  # fmt: skip
"""Further points, with the signs that the first ones have: `|x + 5|` is `x + 5` near zero, and floors differ from what
they resemble at whole numbers. They only refute: a power tower has no value out there."""


class Unevaluated(Exception):
    """The tree has no value that is computed here."""


def value(tree: Tree) -> complex | None:
    """A constant's value as a complex number, or None where it has none here."""
    evaluator = _evaluator(LOW_DIGITS)
    evaluator.steps = MAX_STEPS
    try:
        result = complex(evaluator.at(tree, {}))
        charge(MAX_STEPS - evaluator.steps)
    except (Unevaluated, ArithmeticError, ValueError):
        return None
    return result if isfinite(result.real) and isfinite(result.imag) else None


def agree(left: Tree, right: Tree) -> bool | None:
    """False where two trees differ at some point; True where they agree to 50 digits at every point; else None."""
    if _is_endless(left) or _is_endless(right):
        return None
    names = sorted(symbols(left) | symbols(right))
    near = _SAMPLES if names else _SAMPLES[:1]
    seen = 0
    for samples in near:
        verdict = _agree_at(left, right, names, samples)
        if verdict is False:
            return False
        seen += verdict is True
    if seen < len(near):
        return None
    far = _FAR_SAMPLES if names and not (_has_integral(left) or _has_integral(right)) else ()
    return not any(_agree_at(left, right, names, samples) is False for samples in far)


def _is_endless(tree: Tree) -> bool:
    """A limit or an infinite sum anywhere: then nothing else need be evaluated."""
    own = tree == Constant("oo") or (isinstance(tree, BigOperator) and tree.name == "lim")
    return own or any(_is_endless(child) for child in children(tree))


def _has_integral(tree: Tree) -> bool:
    own = isinstance(tree, BigOperator) and tree.name == "int"
    return own or any(_has_integral(child) for child in children(tree))


def _agree_at(left: Tree, right: Tree, names: list[str], samples: tuple[float, ...]) -> bool | None:
    try:
        low = [_at_point(tree, names, samples, LOW_DIGITS) for tree in (left, right)]
        clearly = abs(low[0] - low[1]) > FAR * max(abs(low[0]), abs(low[1]))
        if clearly and (_has_integral(left) or _has_integral(right)):
            return False  # the quadrature has bounded its own error
        high = [_at_point(tree, names, samples, MIDDLE_DIGITS if clearly else HIGH_DIGITS) for tree in (left, right)]
    except (Unevaluated, ArithmeticError, ValueError):
        return None
    size = max(abs(high[0]), abs(high[1]))
    if not size:
        return True
    if any(abs(a - b) > STABLE * size for a, b in zip(low, high, strict=True)):
        return None
    distance = abs(high[0] - high[1]) / size
    return False if distance > DIFFERENT else True if distance < EQUAL and not clearly else None


def _at_point(tree: Tree, names: list[str], samples: tuple[float, ...], digits: int) -> Any:
    evaluator = _evaluator(digits)
    evaluator.steps = MAX_STEPS
    point = {name: evaluator.mp.mpf(samples[i % 4]) + i for i, name in enumerate(names)}
    try:
        return evaluator.at(tree, point)
    finally:
        charge(min(MAX_STEPS, MAX_STEPS - evaluator.steps))


def denominator(exponent: Tree) -> int:
    """The denominator of a rational exponent, 1 for any other."""
    match exponent:
        case Number(value, _, _):
            return value.denominator
        case Quotient(Number(top, _, _), Number(bottom, _, _)) if bottom:
            return (top / bottom).denominator
    return 1


def _evaluator(digits: int) -> _Evaluator:
    # A context of its own for each evaluation would cost more than the evaluation; threads may not share one.
    import threading

    return _evaluator_of_thread(digits, threading.get_ident())


@lru_cache(maxsize=64)
def _evaluator_of_thread(digits: int, _thread: int) -> _Evaluator:
    return _Evaluator(digits)


class _Evaluator:
    def __init__(self, digits: int) -> None:
        self.mp = MPContext()
        self.mp.dps = digits
        self.steps = MAX_STEPS
        mp = self.mp
        self.functions: dict[tuple[str, int], Callable[..., Any]] = {
            ("sqrt", 1): mp.sqrt, ("abs", 1): abs, ("conjugate", 1): mp.conj, ("re", 1): mp.re, ("im", 1): mp.im,
            ("percent", 1): lambda x: x / 100, ("log", 1): mp.log, ("log", 2): lambda x, b: mp.log(x) / mp.log(b),
            ("degree", 1): lambda x: x, ("root", 2): self._root, ("factorial", 1): self._factorial,
            ("binomial", 2): self._binomial, ("floor", 1): self._floor, ("ceil", 1): lambda x: -self._floor(-x),
            ("max", 2): self._largest, ("min", 2): self._smallest, ("arg", 1): mp.arg,
            ("erf", 1): mp.erf, ("sgn", 1): mp.sign,
            ("cis", 1): lambda x: self._exp(x * mp.mpc(0, 1)),
            **{(name, 1): getattr(mp, name) for name in _CIRCULAR},
            **{(name, 1): self._bounded(getattr(mp, name)) for name in _HYPERBOLIC},
            **{("arc" + name, 1): getattr(mp, "a" + name) for name in (*_CIRCULAR, *_HYPERBOLIC[:3])},
        }  # fmt: skip

    def at(self, tree: Tree, point: dict[str, Any]) -> Any:
        mp = self.mp
        self.steps -= 1
        if self.steps < 0:
            raise Unevaluated("too many steps")
        match tree:
            case Number(number, _, _):
                return self._fraction(number)
            case Symbol(name):
                if name not in point:
                    raise Unevaluated(name)
                return point[name]
            case Constant(name) if name in ("pi", "e", "i"):
                return mp.mpc(0, 1) if name == "i" else +getattr(mp, name)
            case Sum(terms):
                return sum((self.at(term, point) for term in terms), mp.mpf(0))
            case Product(factors):
                total = mp.mpf(1)
                for factor in factors:
                    total *= self.at(factor, point)
                return total
            case Quotient(top, bottom):
                return self.at(top, point) / self.at(bottom, point)
            case Power(base, exponent):
                return self._power(self.at(base, point), self.at(exponent, point), denominator(exponent))
            case Based(digits, base):
                return self._fraction(based_value(digits, base))
            case Sequence("[" | "(", (inner,), "]" | ")", _):
                return self.at(inner, point)
            case Apply(name, args):
                return self._apply(name, args, point)
            case BigOperator("sum" | "prod", _, lower, upper, _) if lower is not None and upper is not None:
                return self._folded(tree, lower, upper, point)
            case BigOperator("int", variable, lower, upper, body) if lower is not None and upper is not None:
                return self._integral(variable, self.at(lower, point), self.at(upper, point), body, point)
        raise Unevaluated(type(tree).__name__)

    def _fraction(self, number: Fraction) -> Any:
        return self.mp.mpf(number.numerator) / number.denominator

    def _apply(self, name: str, args: tuple[Tree, ...], point: dict[str, Any]) -> Any:
        function = self.functions.get((name, len(args)))
        if function is None:
            raise Unevaluated(name)
        turn = self.mp.pi / 180 if name in (*_CIRCULAR, "cis") else None
        values = [self._in_radians(arg, point, turn) if turn is not None else self.at(arg, point) for arg in args]
        result = function(*values)
        if not self.mp.isfinite(result):
            raise Unevaluated(name)
        return result

    def _in_radians(self, tree: Tree, point: dict[str, Any], turn: Any) -> Any:
        match tree:
            case Apply("degree", (inner,)):
                return self.at(inner, point) * turn
            case Sum(terms):
                return sum((self._in_radians(term, point, turn) for term in terms), self.mp.mpf(0))
            case Product(factors):
                total = self.mp.mpf(1)
                for factor in factors:
                    total *= self._in_radians(factor, point, turn)
                return total
            case Quotient(top, bottom):
                return self._in_radians(top, point, turn) / self.at(bottom, point)
        return self.at(tree, point)

    def _largest(self, *values: Any) -> Any:
        return max(self._ordered(values))

    def _smallest(self, *values: Any) -> Any:
        return min(self._ordered(values))

    def _ordered(self, values: tuple[Any, ...]) -> list[Any]:
        if any(self.mp.im(value) for value in values):
            raise Unevaluated("complex numbers have no order")
        return [self.mp.re(value) for value in values]

    def _power(self, base: Any, exponent: Any, denominator: int) -> Any:
        mp = self.mp
        if denominator % 2 and denominator > 1 and mp.im(base) == 0 and mp.re(base) < 0:  # the real root, as elsewhere
            size = self._power(-mp.re(base), exponent, 1)
            return -size if int(mp.nint(exponent * denominator)) % 2 else size
        if base == 0:
            if mp.re(exponent) <= 0:
                raise Unevaluated("a power of zero")
            return mp.mpf(0)
        if abs(exponent * mp.log(abs(base))) > MAX_EXPONENT or abs(exponent) > MAX_ARGUMENT:
            raise Unevaluated("a power too large")
        return base**exponent

    def _exp(self, exponent: Any) -> Any:
        if abs(exponent) > MAX_EXPONENT:
            raise Unevaluated("an exponential too large")
        return self.mp.exp(exponent)

    def _bounded(self, function: Callable[[Any], Any]) -> Callable[[Any], Any]:
        def apply(argument: Any) -> Any:
            if abs(argument) > MAX_EXPONENT:
                raise Unevaluated("an argument too large")
            return function(argument)

        return apply

    def _root(self, radicand: Any, index: Any) -> Any:
        n = int(self.mp.re(index))
        if n != index or not 1 <= n <= MAX_EXPONENT:
            raise Unevaluated("the index of a root")
        if n % 2 and self.mp.im(radicand) == 0 and self.mp.re(radicand) < 0:
            return -self.mp.root(-self.mp.re(radicand), n)
        return self.mp.root(radicand, n)

    def _factorial(self, argument: Any) -> Any:
        if abs(argument) > MAX_ARGUMENT or (self.mp.im(argument) == 0 and self.mp.re(argument) < 0):
            raise Unevaluated("a factorial too large")
        return self.mp.factorial(argument)

    def _binomial(self, n: Any, k: Any) -> Any:
        if max(abs(n), abs(k)) > MAX_ARGUMENT:
            raise Unevaluated("a binomial too large")
        return self.mp.binomial(n, k)

    def _floor(self, argument: Any) -> Any:
        """Only where the value is clear of a whole number by more than its error."""
        if self.mp.im(argument) != 0 or abs(argument) > 10 ** (LOW_DIGITS // 2):
            raise Unevaluated("rounding of a large value")
        nearest = self.mp.nint(argument)
        if abs(argument - nearest) < STABLE:
            raise Unevaluated("rounding next to a whole number")
        return self.mp.floor(argument)

    def _folded(self, tree: BigOperator, lower: Tree, upper: Tree, point: dict[str, Any]) -> Any:
        first, last = self.at(lower, point), self.at(upper, point)
        if first != int(self.mp.re(first)) or last != int(self.mp.re(last)) or last - first >= MAX_SUMMANDS:
            raise Unevaluated("a sum of many terms")
        total = self.mp.mpf(0 if tree.name == "sum" else 1)
        for index in range(int(first), int(last) + 1):
            term = self.at(tree.body, {**point, tree.variable: self.mp.mpf(index)})
            total = total + term if tree.name == "sum" else total * term
        return total

    def _integral(self, variable: str, lower: Any, upper: Any, body: Tree, point: dict[str, Any]) -> Any:
        """A definite integral over finite real bounds, where the quadrature reports a small error."""
        result, error = self.mp.quad(
            lambda x: self.at(body, {**point, variable: x}), [lower, upper], maxdegree=QUADRATURE_DEGREE, error=True
        )
        if not error <= STABLE * abs(result):
            raise Unevaluated("an integral that does not converge fast")
        return result
