"""What SymPy is asked, what it answers, and that a child leaves nothing behind. Contexts are in `test_contexts.py`."""

from __future__ import annotations

import os
import resource
import signal
import sys
import threading
import time
from fractions import Fraction

import pytest
from contexts.questions import (
    DEADLINE,
    ENOUGH,
    ONE,
    PYTHAGORAS,
    SAME_NESTED,
    SUM_OF_ROOTS,
    X,
    children_of,
    number,
    sympy_children,
    wait_until_gone,
)

from rlvr_math_reward.parser import parse
from rlvr_math_reward.symbolic import MAX_CHILDREN, ask
from rlvr_math_reward.tree import (
    Apply,
    BigOperator,
    Constant,
    Matrix,
    Number,
    Product,
    Quotient,
    Sum,
    Symbol,
    Tree,
    Words,
)

EQUAL = r"""
    \sqrt{2}+\sqrt{3}                       | \sqrt{5+2\sqrt6}
    \frac{x^2-1}{x-1}                       | x+1
    \frac{a^3-b^3}{a-b}                     | a^2+ab+b^2
    x^{2023}(x-1)                           | x^{2024}-x^{2023}
    \sin^2x+\cos^2x                         | 1
    \sin^4 x                                | \frac{3-4\cos 2x+\cos 4x}{8}
    \frac{\tan x+\tan y}{1-\tan x\tan y}    | \tan(x+y)
    \cosh x                                 | \frac{e^x+e^{-x}}{2}
    \cos 20^\circ\cos 40^\circ\cos 80^\circ | \frac18
    \cos\frac{\pi}{7}-\cos\frac{2\pi}{7}+\cos\frac{3\pi}{7} | \frac12
    \frac{1+\sqrt5}{2}                      | 2\cos 36^\circ
    \arctan\frac12+\arctan\frac13           | \frac{\pi}{4}
    \ln 4                                   | 2\ln 2
    \log_{10} 2+\log_{10} 5                 | 1
    -\ln(\sqrt2-1)                          | \ln(1+\sqrt2)
    \ln(xy)                                 | \ln x+\ln y
    4^x                                     | 2^{2x}
    e^{i\pi}                                | -1
    \frac{5}{2-i}                           | 2+i
    (1+i)^{2010}                            | 2^{1005}i
    \sqrt{x^2}                              | |x|
    \sqrt{x}\sqrt{y}                        | \sqrt{xy}
    12x\sqrt{15x}                           | 12\sqrt{15x^3}
    \sqrt[3]{-8}                            | -2
    \sqrt[3]{x^3}                           | x
    \sqrt[3]{x}                             | x^{1/3}
    \sqrt[3]{2+\sqrt5}+\sqrt[3]{2-\sqrt5}   | 1
    \frac{n!}{(n-2)!}                       | n(n-1)
    \binom{n}{2}                            | \frac{n(n-1)}{2}
    \sum_{k=1}^{n} k                        | \frac{n(n+1)}{2}
    \sum_{k=1}^{\infty} \frac{1}{k^2}       | \frac{\pi^2}{6}
    \sum_{k=1}^{3} \sum_{j=1}^{k} jk        | 25
    \prod_{k=1}^{5} k                       | 120
    \int_0^1 x^2 dx                         | \frac13
    \lim_{x\to0} \frac{\sin x}{x}           | 1
    \lim_{n\to\infty} (1+\frac1n)^n         | e
    f(x)+f(x)                               | 2f(x)
    \lfloor \pi \rfloor                     | 3
    \infty                                  | \infty
"""
DIFFERENT = r"""
    \sqrt{x^2}                              | x
    |x|+0\sqrt{x}                           | x
    x+1                                     | x+2
    5t                                      | 5
    x                                       | X
    e^{\pi\sqrt{163}}                       | 262537412640768744
    \frac{1}{2004!}                         | \frac{1}{2006!}
    0.1                                     | 0.10000001
    \cos 20^\circ                           | \frac{94}{100}
    (2+\sqrt3)^{100}+(2-\sqrt3)^{100}       | 5
    \sum_{k=1}^{n} k                        | \frac{n(n-1)}{2}
    \infty                                  | -\infty
    \infty                                  | 10
    \frac00                                 | \frac00
    \frac10                                 | \frac10
    0^0                                     | 1
    \infty-\infty                           | 0
"""
UNKNOWN = r"""
    5+\frac{0}{\sin^2x+\cos^2x-1}           | 5
    \frac{1}{\sin^2 1+\cos^2 1-1}           | \frac{1}{\sin^2 1+\cos^2 1-1}
    \ln(x^2)                                | 2\ln x
    \ln|x|                                  | \ln x
    (-8)^{1/3}                              | -2
    2^{2^{2^{2^{2^2}}}}                     | 1
    e^{e^{e^{e^{10}}}}                      | 1
    ((99999^{999})^{999})^{999}             | 1
    (x+y+z)^{900}                           | 1
    (2(x+y+z)^{30})^{30}                    | 1
    ((x^{9999})^{9999})^{9999}              | 1
    99999!                                  | 1
    \binom{99999999}{5000}                  | 1
    x=5                                     | 5
    (1,2)                                   | (1,2)
    \begin{pmatrix}1\\2\end{pmatrix}        | \begin{pmatrix}1\\2\end{pmatrix}
    3\pm2                                   | 5
"""
"""Neither: what hides a zero under a fraction, is not the same over all reals, is too large, or is no single value."""

_ANSWERS = {True: EQUAL, False: DIFFERENT, None: UNKNOWN}
PAIRS = [
    pytest.param(*line.strip().split(" | ", 1), answer, id=line.strip())
    for answer, table in _ANSWERS.items()
    for line in table.strip().splitlines()
]


@pytest.mark.parametrize(("gold", "prediction", "answer"), PAIRS)
def test_answer_in_both_orders(gold: str, prediction: str, answer: bool | None) -> None:
    left, right = parse(gold.strip()), parse(prediction)
    assert ask(left, right, ENOUGH) is answer
    assert ask(right, left, ENOUGH) is answer


@pytest.mark.parametrize(
    "tree",
    [
        Words("a parabola", "a parabola"),
        Apply("__import__", (X,)),
        Apply("sin", (X, X)),
        Apply("root", (X, X)),
        Apply("gcd", (X, ONE)),
        Constant("R"),
        Matrix(((ONE, X),), "determinant"),
        BigOperator("sum", "", ONE, ONE, X),
        BigOperator("lim", "x", None, None, X),
        BigOperator("sum", "k", number(-5), Number(Fraction(1, 2)), X),
    ],
)
def test_what_is_not_one_value_is_undecided(tree: Tree) -> None:
    assert ask(tree, tree, ENOUGH) is None
    assert ask(tree, ONE, ENOUGH) is None


@pytest.mark.parametrize("name", ["__import__('os').system('touch ran')", "x;y", "", "lambda", "x\n", "é", "x" * 5_000])
def test_names_mean_nothing(name: str, tmp_path: object) -> None:
    assert ask(Sum((Symbol(name), Symbol(name))), Product((number(2), Symbol(name))), ENOUGH) is True
    assert ask(Symbol(name), Symbol(name + "'"), ENOUGH) is False


def test_sizes_of_the_question_are_bounded() -> None:
    wide = Sum(tuple(Symbol(f"x{index}") for index in range(60_000)))
    assert ask(wide, ONE, ENOUGH) is None
    deep: Tree = X
    for _ in range(5_000):
        deep = Quotient(deep, X)
    assert ask(deep, ONE, ENOUGH) is None
    assert ask(number(10**6_000), ONE, ENOUGH) is None


@pytest.mark.parametrize("seconds", [0.0, -1.0])
def test_no_time_is_no_answer(seconds: float) -> None:
    assert ask(SUM_OF_ROOTS, SAME_NESTED, seconds) is None


def test_the_deadline_holds_and_the_next_question_is_answered() -> None:
    started = time.monotonic()
    assert ask(SUM_OF_ROOTS, SAME_NESTED, DEADLINE) is None
    assert time.monotonic() - started < DEADLINE + 20  # 0.01 s over; loosely, for a loaded machine
    assert ask(PYTHAGORAS, ONE, ENOUGH) is True


@pytest.mark.skipif(sys.platform != "linux", reason="reads and sets the limits of another process")
def test_memory_is_bounded() -> None:
    """The limit is in force, and a child that meets it ends; a lower one makes the question meet it at once."""
    assert ask(PYTHAGORAS, ONE, ENOUGH) is True
    for pid in sympy_children():
        assert resource.prlimit(pid, resource.RLIMIT_AS) == (2 << 30, 2 << 30)
        assert resource.prlimit(pid, resource.RLIMIT_CORE) == (0, 0)
        resource.prlimit(pid, resource.RLIMIT_AS, (1 << 20, 1 << 20))
    assert ask(SUM_OF_ROOTS, SAME_NESTED, ENOUGH) is None
    assert ask(PYTHAGORAS, ONE, ENOUGH) is True


def kill_children() -> None:
    pids = sympy_children()
    assert pids
    for pid in pids:
        os.kill(pid, signal.SIGKILL)
    assert not wait_until_gone(pids, 10)


def test_a_child_killed_by_someone_else_is_replaced() -> None:
    assert ask(PYTHAGORAS, ONE, ENOUGH) is True
    kill_children()
    assert ask(PYTHAGORAS, ONE, ENOUGH) is True


def test_a_child_killed_at_work_leaves_its_question_undecided() -> None:
    assert ask(PYTHAGORAS, ONE, ENOUGH) is True
    answers: list[bool | None] = []
    asking = threading.Thread(target=lambda: answers.append(ask(SUM_OF_ROOTS, SAME_NESTED, ENOUGH)))
    asking.start()
    time.sleep(0.5)
    assert asking.is_alive()
    kill_children()
    asking.join(10)
    assert answers == [None]


def test_many_threads_share_few_children_and_never_each_others_answers() -> None:
    wrong: list[int] = []

    def grade(thread: int) -> None:
        for value in range(15):
            expected = value % 2 == 0
            same = Sum((PYTHAGORAS, number(thread), *([] if expected else [ONE])))
            if ask(same, number(thread + 1), ENOUGH) is not expected:
                wrong.append(value)

    threads = [threading.Thread(target=grade, args=(index,)) for index in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    assert len(sympy_children()) <= MAX_CHILDREN


@pytest.mark.parametrize("kills", [15, pytest.param(200, marks=[pytest.mark.slow, pytest.mark.timeout(900)])])
def test_kills_leave_no_zombie_and_no_open_file(kills: int) -> None:
    ask(PYTHAGORAS, ONE, ENOUGH)
    others = set(children_of(os.getpid())) - sympy_children()  # what other tests of this process have started
    before = os.listdir("/dev/fd")
    for _ in range(kills):
        assert ask(SUM_OF_ROOTS, SAME_NESTED, 0.01) is None
    assert ask(PYTHAGORAS, ONE, ENOUGH) is True
    assert len(os.listdir("/dev/fd")) <= len(before)
    left = set(children_of(os.getpid())) - others  # zombies among them
    assert 1 <= len(left) <= MAX_CHILDREN
    assert left == sympy_children()


def test_answers_do_not_depend_on_what_was_asked_before() -> None:
    pairs = [(parse(gold.strip()), parse(other)) for gold, other, _ in (pair.values for pair in PAIRS[::6])]
    forward = [ask(gold, other, ENOUGH) for gold, other in pairs]
    assert [ask(gold, other, ENOUGH) for gold, other in reversed(pairs)] == forward[::-1]
