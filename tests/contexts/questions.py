"""Questions for SymPy that the scripts of this folder ask, each in a context of its own. No script is a mock of it."""

from __future__ import annotations

import os
import subprocess
import time
from fractions import Fraction
from itertools import combinations

from rlvr_math_reward.symbolic import ask
from rlvr_math_reward.tree import Apply, Number, Power, Product, Sum, Symbol, Tree


def number(value: int) -> Number:
    return Number(Fraction(value))


def sqrt(inside: Tree) -> Tree:
    return Apply("sqrt", (inside,))


def square(base: Tree) -> Tree:
    return Power(base, number(2))


X = Symbol("x")
ONE = number(1)
PYTHAGORAS = Sum((square(Apply("sin", (X,))), square(Apply("cos", (X,)))))

_PRIMES = (2, 3, 5, 7, 11, 13)
SUM_OF_ROOTS = Sum(tuple(sqrt(number(prime)) for prime in _PRIMES))
SAME_NESTED = sqrt(
    Sum((number(sum(_PRIMES)), *(Product((number(2), sqrt(number(p * q)))) for p, q in combinations(_PRIMES, 2))))
)
"""Equal to SUM_OF_ROOTS, so no number refutes it; SymPy looks for a polynomial of degree 64 for many minutes."""

DEADLINE = 0.4
"""Seconds for the question that never ends."""
ENOUGH = 30.0
"""Seconds for the others, which take milliseconds: a loaded machine must not fail the tests."""


def check() -> None:
    """Right answers, a hang that is cut, and right answers again from the child that replaces the killed one."""
    expect(ask(PYTHAGORAS, ONE, ENOUGH), True)
    expect(ask(PYTHAGORAS, number(2), ENOUGH), False)
    expect(ask(SUM_OF_ROOTS, SAME_NESTED, DEADLINE), None)
    expect(ask(PYTHAGORAS, ONE, ENOUGH), True)


def expect(found: object, wanted: object) -> None:
    """An assert that `python -O` keeps."""
    if found != wanted:
        raise SystemExit(f"found {found!r} where {wanted!r} was wanted")


def children_of(parent: int) -> dict[int, str]:
    """Process id -> state (`Z` for a zombie) and command line of the direct children of a process."""
    listing = subprocess.Popen(["ps", "-A", "-ww", "-o", "pid=,ppid=,stat=,args="], stdout=subprocess.PIPE, text=True)
    rows = (line.split(None, 2) for line in listing.communicate()[0].splitlines())
    return {int(pid): rest for pid, ppid, rest in rows if int(ppid) == parent and int(pid) != listing.pid}


def sympy_children() -> set[int]:
    """Process ids of the living SymPy children of this process."""
    return {pid for pid, command in children_of(os.getpid()).items() if "_sympy_child.py" in command}


def wait_until_gone(pids: set[int], seconds: float) -> set[int]:
    """The processes among `pids` that still run after at most `seconds`."""
    deadline = time.monotonic() + seconds
    while (left := {pid for pid in pids if alive(pid)}) and time.monotonic() < deadline:
        time.sleep(0.05)
    return left


def alive(pid: int) -> bool:
    listing = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False)
    return listing.stdout.strip()[:1] not in ("", "Z")
