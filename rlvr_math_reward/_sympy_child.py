"""The SymPy child: reads two trees as JSON, builds SymPy objects from tables, and answers whether they are equal.

Run by path as its own process (see `symbolic.py`), and the only module that imports SymPy. No text reaches SymPy, not
even a name: numbers arrive as digits for `int`, symbols and unknown functions are numbered, functions come from a
table. Answers: `equal` (SymPy reduced the difference to exactly zero), `different` (the difference has certain digits
at a point where both sides are real, or one side is undefined) and `unknown` (neither, or out of scope or too large).

The reading is over the reals: a symbol is any real number, and a point where a root or logarithm is not real belongs
to no side. Equations, lists, units and words are not for this module.
"""

from __future__ import annotations

import os
import sys

if __name__ == "__main__":
    # Neither the folder of this file nor the caller's is searched: a `sympy.py` there would be run in SymPy's place.
    sys.path[:] = [path for path in sys.path if path and path != os.path.dirname(__file__)] + sys.argv[2:]

import fcntl
import json
import math
import random
import resource
import select
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any, TypeAlias

import sympy as sp
from sympy.core.cache import clear_cache
from sympy.core.random import seed

Node: TypeAlias = Any  # nested lists, as `tree.to_json` writes them
Expr: TypeAlias = Any  # a SymPy object; SymPy has no usable types

# -- limits: what, unit, why -----------------------------------------------------------------------------------------
MAX_ADDRESS_BYTES = 2 << 30
"""Address space of this process. SymPy needs 60 MB; what needs 2 GiB will not finish within the deadline."""
MAX_INTEGER_BITS = 32_768
"""Bits of an exact number, about 9,900 digits: 3000! has 9,131, and arithmetic on such numbers takes microseconds."""
MAX_FACTORIAL = 3_000
"""Argument of a factorial, for the same reason."""
MAX_EXPONENT = 10_000
"""Exponent of anything but a rational number. x^2023 is an answer; degrees beyond are not."""
MAX_EXPANDED_TERMS = 2_500
"""Terms of a power of a sum once multiplied out: (x+y+z)^60 has 1,891, (1+i)^2024 has 2,025."""
MAX_EXPONENT_SIZE = 1e300
"""Size of a transcendental exponent: evaluating e^y takes log2(y) extra bits, so a tower of powers would never end."""
MAX_DETERMINANT_ROWS = 8
"""Rows of a symbolic determinant: each further row multiplies its terms."""
CERTAIN_BITS = 30
"""Accurate bits a nonzero value must keep to refute equality: a margin of a billion over its own error."""
IDLE_SECONDS = 5.0
"""Seconds between two looks at whether the parent still lives, for a parent whose socket leaked into a longer life."""
GRACE_SECONDS = 1.0
"""Seconds beyond the deadline at which the kernel ends this process, should the parent not have done so."""


class UnsupportedError(Exception):
    """Not an expression of one value, or over a size limit."""


class UndefinedError(Exception):
    """`0/0`, `1/0`, `0^0`, `oo - oo`: equal to nothing, not even to itself."""


# -- from the tree to SymPy ------------------------------------------------------------------------------------------
_TWO = sp.Integer(2)
_VARIABLE = sp.Symbol("variable")  # of a minimal polynomial
_CONSTANTS = {"pi": sp.pi, "e": sp.E, "i": sp.I, "oo": sp.oo}


def _root(value: Expr, degree: Expr = _TWO) -> Expr:
    """The real root where there is one: `root(-8, 3)` is -2, not `1 + sqrt(3)*i`."""
    if not (degree.is_Integer and 0 < degree <= MAX_EXPONENT):
        raise UnsupportedError("degree of a root")
    if degree % 2 == 0 or value.is_nonnegative or value.is_real is False:
        return sp.Pow(value, 1 / degree)
    outside, inside = sp.Integer(1), sp.Integer(1)
    for base, exponent in (factor.as_base_exp() for factor in sp.Mul.make_args(value)):
        if base.is_real and exponent.is_Integer and exponent % degree == 0:
            outside *= base ** (exponent / degree)
        else:
            inside *= base**exponent
    return outside * sp.sign(inside) * sp.Pow(sp.Abs(inside), 1 / degree)


def _log(value: Expr, base: Expr = sp.E) -> Expr:
    return sp.log(value) if base == sp.E else sp.log(value) / sp.log(base)


def _factorial(value: Expr) -> Expr:
    if value.is_number and not (value.is_Rational and abs(value) <= MAX_FACTORIAL):
        raise UnsupportedError("factorial")
    return sp.factorial(value)


def _binomial(upper: Expr, lower: Expr) -> Expr:
    if upper.is_number and not (upper.is_Rational and abs(upper) <= MAX_INTEGER_BITS):
        raise UnsupportedError("binomial")
    if lower.is_number and not (lower.is_Integer and abs(lower) <= MAX_INTEGER_BITS):
        raise UnsupportedError("binomial")
    if not upper.is_number and lower.is_number and abs(lower) > 20:
        raise UnsupportedError("binomial")
    return sp.binomial(upper, lower)


def _of_integers(function: Callable[..., Expr]) -> Callable[..., Expr]:
    def apply(*args: Expr) -> Expr:
        if not all(arg.is_Integer for arg in args):
            raise UnsupportedError(f"{function.__name__} of something else than integers")
        return function(*args)

    return apply


def _modulo(value: Expr, divisor: Expr) -> Expr:
    if not (value.is_number and divisor.is_number):
        raise UnsupportedError("remainder of symbols")
    if divisor == 0:
        raise UndefinedError
    return sp.Mod(value, divisor)


_MANY = 64  # arguments of max, min, gcd and lcm
_FUNCTIONS: dict[str, tuple[int, int, Callable[..., Expr]]] = {
    # name: fewest arguments, most arguments, constructor
    "sin": (1, 1, sp.sin), "cos": (1, 1, sp.cos), "tan": (1, 1, sp.tan),
    "cot": (1, 1, sp.cot), "sec": (1, 1, sp.sec), "csc": (1, 1, sp.csc),
    "sinh": (1, 1, sp.sinh), "cosh": (1, 1, sp.cosh), "tanh": (1, 1, sp.tanh),
    "coth": (1, 1, sp.coth), "sech": (1, 1, sp.sech), "csch": (1, 1, sp.csch),
    "arcsin": (1, 1, sp.asin), "arccos": (1, 1, sp.acos), "arctan": (1, 1, sp.atan),
    "arccot": (1, 1, sp.acot), "arcsec": (1, 1, sp.asec), "arccsc": (1, 1, sp.acsc),
    "arcsinh": (1, 1, sp.asinh), "arccosh": (1, 1, sp.acosh), "arctanh": (1, 1, sp.atanh),
    "log": (1, 2, _log), "ln": (1, 1, sp.log), "exp": (1, 1, lambda x: _power(sp.E, x)),
    "sqrt": (1, 1, _root), "root": (2, 2, _root), "abs": (1, 1, sp.Abs), "sgn": (1, 1, sp.sign),
    "floor": (1, 1, sp.floor), "ceil": (1, 1, sp.ceiling), "erf": (1, 1, sp.erf),
    "re": (1, 1, sp.re), "im": (1, 1, sp.im), "arg": (1, 1, sp.arg), "conjugate": (1, 1, sp.conjugate),
    "cis": (1, 1, lambda x: sp.cos(x) + sp.I * sp.sin(x)),
    "degree": (1, 1, lambda x: x * sp.pi / 180), "percent": (1, 1, lambda x: x / 100),
    "factorial": (1, 1, _factorial), "gamma": (1, 1, lambda x: _factorial(x - 1)), "binomial": (2, 2, _binomial),
    "max": (1, _MANY, sp.Max), "min": (1, _MANY, sp.Min),
    "gcd": (1, _MANY, _of_integers(math.gcd)), "lcm": (1, _MANY, _of_integers(math.lcm)), "mod": (2, 2, _modulo),
}  # fmt: skip


def _power(base: Expr, exponent: Expr) -> Expr:
    """`base ** exponent`, after bounding what SymPy would work out on the spot."""
    if base.is_zero and exponent.is_zero:
        raise UndefinedError
    if exponent.is_Rational:
        _bound_power(base, math.ceil(abs(exponent)))
        if base.is_negative and exponent.q % 2 == 1 and exponent.q > 1:
            raise UnsupportedError("(-8)^(1/3) is -2 to some and complex to others")
        if exponent.q % 2 == 1 and exponent.q > 1 and base.is_real and not base.is_nonnegative:
            return sp.Pow(_root(base, sp.Integer(exponent.q)), exponent.p)
    elif exponent.is_number and not abs(exponent.evalf(3)) < MAX_EXPONENT_SIZE:
        raise UnsupportedError("exponent")
    return sp.Pow(base, exponent)


def _bound_power(base: Expr, size: int) -> None:
    """Bounds `base ** size` with the powers that stand in `base` already: SymPy merges (x^9999)^9999."""
    for factor in sp.Mul.make_args(base):
        inner, exponent = factor.as_base_exp()
        total = math.ceil(size * abs(exponent)) if exponent.is_Rational else size
        if inner.is_Rational:
            if abs(inner) not in (0, 1) and total * max(inner.p.bit_length(), inner.q.bit_length()) > MAX_INTEGER_BITS:
                raise UnsupportedError("power of a number")
        elif total > MAX_EXPONENT:
            raise UnsupportedError("exponent")
        elif inner.is_Add and math.comb(total + len(inner.args) - 1, total) > MAX_EXPANDED_TERMS:
            raise UnsupportedError("power of a sum")


class _Builder:
    """Builds SymPy objects bottom-up. One builder serves both sides, so that `x` is the same symbol on both."""

    def __init__(self, positive: frozenset[str]) -> None:
        self.positive = positive
        self.symbols: dict[str, Expr] = {}
        self.functions: dict[str, Expr] = {}
        self.bound: dict[str, Expr] = {}  # the variables of the sums, integrals and limits around what is built
        self.divisors: list[Expr] = []  # what must not vanish: denominators and arguments of logarithms

    def build(self, node: Node) -> Expr:
        value = self._build(node)
        if value.has(sp.nan, sp.zoo):
            raise UndefinedError
        if value.has(sp.AccumBounds, sp.Piecewise):
            raise UnsupportedError("a limit that oscillates, or a value by cases")
        return value

    def _build(self, node: Node) -> Expr:
        match node:
            case ["Number", [numerator, denominator], *_]:
                return sp.Rational(int(numerator), int(denominator))
            case ["Symbol", name]:
                return self._symbol(name)
            case ["Constant", name] if name in _CONSTANTS:
                return _CONSTANTS[name]
            case ["Based", digits, base] if 2 <= base <= 36:
                return sp.Integer(int(digits, base))
            case ["Sum", terms]:
                return sp.Add(*map(self.build, terms))
            case ["Product", factors]:
                return sp.Mul(*map(self.build, factors))
            case ["Quotient", numerator, denominator]:
                return self.build(numerator) / self._divisor(self.build(denominator))
            case ["Power", base, exponent]:
                base, exponent = self.build(base), self.build(exponent)
                return _power(base if exponent.is_nonnegative else self._divisor(base), exponent)
            case ["Apply", "det", [["Matrix", rows, *_]]] | ["Matrix", rows, "determinant"]:
                return self._determinant(rows)
            case ["Apply", name, args]:
                return self._apply(name, [self.build(arg) for arg in args])
            case ["BigOperator", name, variable, lower, upper, body] if variable and lower is not None:
                return self._big_operator(name, variable, lower, upper, body)
        raise UnsupportedError(str(node[0]))

    def _symbol(self, name: str) -> Expr:
        if name in self.bound:
            return self.bound[name]
        if name not in self.symbols:
            assumptions = {"positive": True} if name in self.positive else {"real": True}
            self.symbols[name] = sp.Symbol(f"x{len(self.symbols)}", **assumptions)
        return self.symbols[name]

    def _divisor(self, value: Expr) -> Expr:
        self.divisors.append(value)
        return value

    def _apply(self, name: str, args: list[Expr]) -> Expr:
        if name in _FUNCTIONS:
            fewest, most, function = _FUNCTIONS[name]
            if not fewest <= len(args) <= most:
                raise UnsupportedError(f"{len(args)} arguments")
            if name in ("log", "ln"):
                self._divisor(args[0])
            return function(*args)
        if not name.rstrip("'").isalpha() or len(name.rstrip("'")) > 1:
            raise UnsupportedError("a function that is not known")
        return self.functions.setdefault(name, sp.Function(f"f{len(self.functions)}"))(*args)

    def _determinant(self, rows: list[list[Node]]) -> Expr:
        if not 0 < len(rows) == len(rows[0]) <= MAX_DETERMINANT_ROWS:
            raise UnsupportedError("determinant")
        return sp.Matrix([[self.build(entry) for entry in row] for row in rows]).det(method="berkowitz")

    def _big_operator(self, name: str, variable: str, lower: Node, upper: Node | None, body: Node) -> Expr:
        """A sum, product, integral or limit worked out; what SymPy leaves standing stays as it is."""
        start, end = self.build(lower), None if upper is None else self.build(upper)
        assumptions = {"integer": True} if name in ("sum", "prod") else {"real": True}
        bound = sp.Symbol(f"k{len(self.bound)}", **assumptions)
        outside, self.bound = self.bound, {**self.bound, variable: bound}
        inner = self.build(body)
        self.bound = outside
        if name == "lim" and end is None:
            return sp.limit(inner, bound, start, "+-" if start.is_finite else "-")
        if end is None or name not in ("sum", "prod", "int"):
            raise UnsupportedError(name)
        if name == "int":
            return sp.Integral(inner, (bound, start, end)).doit()
        if not all(limit.is_Integer or not limit.is_number or limit.is_infinite for limit in (start, end)):
            raise UnsupportedError("bounds between integers")
        if (end - start).is_negative:
            return sp.Integer(0 if name == "sum" else 1)
        return (sp.Sum if name == "sum" else sp.Product)(inner, (bound, start, end)).doit()


# -- deciding --------------------------------------------------------------------------------------------------------
_STEPS: tuple[Callable[[Expr], Expr], ...] = (
    sp.expand,
    lambda d: sp.cancel(sp.together(d)),
    sp.radsimp,
    sp.sqrtdenest,
    lambda d: sp.expand_log(sp.logcombine(d)),
    lambda d: sp.powsimp(sp.powdenest(d)),
    sp.trigsimp,
    lambda d: sp.expand(d.rewrite(sp.exp), complex=False),
    sp.simplify,
    lambda d: sp.simplify(sp.expand_func(d)),
)
"""Ways to show that a difference is zero, cheap ones first. Each starts from the difference itself."""


def decide(gold: Node, prediction: Node, positive: list[str]) -> str:
    """`equal`, `different` or `unknown`, for two trees as `tree.to_json` writes them."""
    builder = _Builder(frozenset(positive))
    try:
        left, right = builder.build(gold), builder.build(prediction)
    except UndefinedError:
        return "different"
    if left.has(sp.oo, -sp.oo) or right.has(sp.oo, -sp.oo):
        return _decide_infinite(left, right)
    symbols = set().union(*(value.free_symbols for value in (left, right, *builder.divisors)))
    points = _points(sorted(symbols, key=str))
    if not all(any(_attempt(_certainly_nonzero, divisor, point) for point in points) for divisor in builder.divisors):
        return "unknown"
    if left == right:
        return "equal"
    if _differ(left, right, points, real=not (left.has(sp.I) or right.has(sp.I))):
        return "different"
    return "equal" if _reduces_to_zero(left - right) else "unknown"


def _decide_infinite(left: Expr, right: Expr) -> str:
    if left.is_infinite and right.is_infinite and left.is_extended_real and right.is_extended_real:
        return "equal" if left == right else "different"
    return "different" if left.is_finite or right.is_finite else "unknown"


def _points(symbols: list[Expr]) -> list[dict[Expr, Expr]]:
    """Fixed points to compare at, small and large, of all signs; the one empty point where there are no symbols."""
    if not symbols:
        return [{}]
    source = random.Random(len(symbols))
    points = []
    for scale in (1, 1, 3, 3, 1, 10):
        values = [sp.Rational(source.randint(2_000, 10_000) * scale, 10_007) for _ in symbols]
        signs = [1 if symbol.is_positive else source.choice((1, -1)) for symbol in symbols]
        points.append({symbol: value * sign for symbol, value, sign in zip(symbols, values, signs, strict=True)})
    return points


def _certainly_nonzero(value: Expr, point: dict[Expr, Expr]) -> bool:
    """Nonzero with digits to spare, and the same to nine digits at two precisions."""
    rough, fine = value.evalf(15, subs=point, maxn=120), value.evalf(40, subs=point, maxn=240)
    if not (_has_digits(rough) and _has_digits(fine)):
        return False
    return bool(abs(rough - fine) <= abs(fine) * sp.Float("1e-9"))


def _has_digits(value: Expr) -> bool:
    return any(part.is_Float and part != 0 and part._prec >= CERTAIN_BITS for part in value.as_real_imag())


def _outside(side: Expr, point: dict[Expr, Expr]) -> bool:
    """Whether `side` has no real value at `point`: of itself, or because of a root or logarithm within."""
    inner = [log.args[0] for log in side.atoms(sp.log)]
    inner += [power.base for power in side.atoms(sp.Pow) if power.exp.is_integer is not True]
    if any(value.evalf(15, subs=point).is_negative for value in inner):
        return True
    return _has_digits(side.evalf(15, subs=point).as_real_imag()[1])


def _differ(left: Expr, right: Expr, points: list[dict[Expr, Expr]], real: bool) -> bool:
    for point in points:
        if real and point and any(_attempt(_outside, side, point) is not False for side in (left, right)):
            continue
        if _attempt(_certainly_nonzero, left - right, point):
            return True
    return False


def _reduces_to_zero(difference: Expr) -> bool:
    steps = _STEPS if difference.free_symbols else _STEPS + _STEPS_FOR_CONSTANTS
    return any(_attempt(step, difference) == 0 for step in steps)


def _by_sine(constant: Expr) -> Expr:
    """Angles like arctan(1/2) + arctan(1/3) - pi/4: a number below 1 whose sine is zero is zero."""
    small = constant.is_real and abs(constant.evalf(15)) < 1
    return sp.simplify(sp.expand_trig(sp.sin(constant))) if small else constant


_STEPS_FOR_CONSTANTS: tuple[Callable[[Expr], Expr], ...] = (
    lambda d: sp.expand(d, complex=True),
    _by_sine,
    lambda d: sp.minimal_polynomial(d, _VARIABLE) - _VARIABLE,
)


def _attempt(function: Callable[..., Any], *args: Any) -> Any:
    """What `function` returns, or None where SymPy gives up, which it does with exceptions of every kind."""
    try:
        return function(*args)
    except MemoryError:
        os._exit(1)  # what the heap holds by now is of no use to a next question
    except Exception:
        return None


# -- the process -----------------------------------------------------------------------------------------------------
def _limit_process() -> None:
    """Bounds that hold even in a long call into C, where no Python code of this process runs."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, which then closes the socket
    for number in (signal.SIGALRM, signal.SIGIO):
        signal.signal(number, signal.SIG_DFL)  # that is: the kernel ends the process
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGALRM, signal.SIGIO})
    for limit, wanted in ((resource.RLIMIT_CORE, 0), (resource.RLIMIT_AS, MAX_ADDRESS_BYTES)):
        hard = resource.getrlimit(limit)[1]
        bound = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        with suppress(OSError, ValueError):  # macOS refuses RLIMIT_AS
            resource.setrlimit(limit, (bound, bound))


def _questions(channel: socket.socket, parent: int) -> Iterator[dict[str, Node]]:
    """Requests until the parent is gone."""
    received = b""
    channel.settimeout(IDLE_SECONDS)
    while True:
        try:
            part = channel.recv(1 << 16)
        except TimeoutError:
            if os.getppid() != parent:
                return
            continue
        if not part:
            return
        received += part
        if received.endswith(b"\n"):
            yield json.loads(received)
            received = b""


def _watch(channel: socket.socket, seconds: float) -> None:
    """From now on the kernel ends this process when the parent goes (SIGIO) or `seconds` are over (SIGALRM)."""
    fcntl.fcntl(channel, fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(channel, fcntl.F_SETFL, fcntl.fcntl(channel, fcntl.F_GETFL) | os.O_ASYNC)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    if select.select([channel], [], [], 0)[0]:  # the parent sends nothing before the reply, so it went before SIGIO
        os._exit(0)


def _unwatch(channel: socket.socket) -> None:
    fcntl.fcntl(channel, fcntl.F_SETFL, fcntl.fcntl(channel, fcntl.F_GETFL) & ~os.O_ASYNC)
    signal.setitimer(signal.ITIMER_REAL, 0)


def main(parent: int) -> None:
    """Answer requests on file descriptor 0, a socket, until the process `parent` closes it."""
    _limit_process()
    channel = socket.socket(fileno=0)
    channel.sendall(b"ready\n")
    for question in _questions(channel, parent):
        _watch(channel, question["seconds"] + GRACE_SECONDS)
        clear_cache()  # no verdict depends on what was asked before
        seed(0)
        answer = _attempt(decide, question["gold"], question["prediction"], question["positive"]) or "unknown"
        _unwatch(channel)
        channel.sendall(answer.encode() + b"\n")


if __name__ == "__main__":
    main(int(sys.argv[1]))
