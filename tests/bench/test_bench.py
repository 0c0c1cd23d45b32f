"""Speed, growth and memory, beside Math-Verify on the same completions in the same run.

    make bench                                   # with RLVR_MATH_DATA set: on real completions
    python -m pytest tests/bench --benchmark-only -k throughput

Nothing here fails on a slow machine: numbers are printed, and ratios are what to compare. The tests of
`tests/test_limits.py` hold the bounds.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hostile import BOMBS
from measuring import Pair, cold, corpora

from rlvr_math_reward import grade, grade_batch
from rlvr_math_reward.symbolic import _close, ask
from rlvr_math_reward.tree import Apply, Number, Power, Sum, Symbol

Row = Callable[..., None]
CORPORA = corpora()


def milliseconds(seconds: float) -> str:
    return f"{seconds * 1e3:.3g} ms"


def timed(grader: Callable[[str, str], object], pairs: list[Pair]) -> list[float]:
    """Seconds for each pair."""
    took = []
    for completion, gold in pairs:
        started = time.perf_counter()
        grader(completion, gold)
        took.append(time.perf_counter() - started)
    return took


def percentile(took: list[float], share: float) -> float:
    return sorted(took)[min(len(took) - 1, int(share * len(took)))]


# -- throughput --------------------------------------------------------------------------------------------------------
MATH_VERIFY = """
import json, logging, sys, time
from math_verify import parse, verify
logging.disable(logging.CRITICAL)  # it logs each text that it gives up on
verify(parse("$x+1$"), parse("$1+x$"))
took = []
for completion, gold in json.load(sys.stdin):
    started = time.perf_counter()
    verify(parse(f"${gold}$"), parse(completion))
    took.append(time.perf_counter() - started)
print(json.dumps(took))
"""
"""As Math-Verify's README has it, in a fresh process, whose caches are as cold as ours."""


def math_verify(pairs: list[Pair]) -> list[float]:
    done = subprocess.run([sys.executable, "-c", MATH_VERIFY], input=json.dumps(pairs), capture_output=True, text=True,
                          check=True)  # fmt: skip
    return list(json.loads(done.stdout))


def floor(completion: str, gold: str) -> bool:
    """The least that any grader does: find the last box, compare two strings."""
    at = completion.rfind("\\boxed{")
    return completion[at + 7 : completion.find("}", at)] == gold


THROUGHPUT = ("completions", "n", "ours", "p50", "p99", "max", "Math-Verify", "p99 there", "ratio", "floor")


@pytest.mark.parametrize("name", CORPORA)
def test_throughput(name: str, benchmark: Any, row: Row) -> None:
    """Distinct completions, one thread, cold caches."""
    pairs = CORPORA[name]
    timed(grade, pairs[:5])  # imports
    rounds: list[list[float]] = []
    benchmark.pedantic(lambda: rounds.append(timed(grade, pairs)), setup=cold, rounds=5)
    ours = [statistics.median(times) for times in zip(*rounds, strict=True)]
    theirs = math_verify(pairs)
    least = min(sum(timed(floor, pairs)) for _ in range(5))
    row("Completions graded a second, one process, cold caches", THROUGHPUT, name, str(len(pairs)),
        f"{len(pairs) / sum(ours):,.0f}/s", milliseconds(percentile(ours, 0.5)), milliseconds(percentile(ours, 0.99)),
        milliseconds(max(ours)), f"{len(pairs) / sum(theirs):,.0f}/s", milliseconds(percentile(theirs, 0.99)),
        f"{sum(theirs) / sum(ours):,.0f}x", f"1/{sum(ours) / least:,.0f} of it")  # fmt: skip


# -- growth ------------------------------------------------------------------------------------------------------------
LENGTHS = (1 << 10, 1 << 14, 1 << 17, 1 << 20)
ENDINGS = {"a box": r" The answer is $\boxed{42}$.", "no answer": "", "a number in prose": " It is 42."}
PROSE = "So we double it, add 3, and see that nothing else can be said of $x_1$ here. "


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("what", ENDINGS)
def test_length(length: int, what: str, benchmark: Any, row: Row) -> None:
    text = PROSE * (length // len(PROSE)) + ENDINGS[what]
    benchmark.pedantic(grade, args=(text, "42"), setup=cold, rounds=5, warmup_rounds=1)
    row("One completion, by its length", ("ends with", "length", "time"), what, f"{length >> 10:,} kB",
        milliseconds(benchmark.stats.stats.median))  # fmt: skip


def many(count: int) -> tuple[list[str], list[str]]:
    texts = [f"{PROSE}\n#### {number}" for number in range(count)]
    return texts, [str(number // 8 * 8) for number in range(count)]


@pytest.mark.parametrize("count", [1, 8, 64, 512, 4096])
def test_batch(count: int, benchmark: Any, row: Row) -> None:
    """Groups of eight completions that share a gold, as in GRPO."""
    texts, golds = many(count)
    benchmark.pedantic(grade_batch, args=(texts, golds), setup=cold, rounds=5)
    seconds = benchmark.stats.stats.median
    row("A batch, by its size", ("completions", "time", "each"), f"{count:,}", milliseconds(seconds),
        f"{seconds / count * 1e6:.1f} us")  # fmt: skip


# -- hostile text ------------------------------------------------------------------------------------------------------
UNENDING = tuple(
    rf"\boxed{{\int_0^1 \sin\left(\frac{{1}}{{x}}\right)\, e^{{{k}x}}\, dx"
    rf" + \sum_{{n=1}}^{{\infty}} \frac{{\sin n}}{{n^{{{k}}}}}}}"
    for k in range(2, 66)
)
"""64 different answers on which SymPy runs into its deadline."""
HOSTILE = {
    "unending": UNENDING,
    "of every kind": tuple(rf"\boxed{{{text}}}" for text in (*BOMBS.values(), *BOMBS.values()))[:64],
}


BATCH = """
import json, sys, time
from rlvr_math_reward import grade_batch
texts, golds = json.load(sys.stdin)
grade_batch(["#### 4", "4"], ["4", r"\\sqrt{16}"])
started = time.perf_counter()
grade_batch(texts, golds, workers=int(sys.argv[1]))
print(time.perf_counter() - started)
"""


def fresh_batch(texts: list[str], golds: list[str], workers: int) -> float:
    """Seconds in a process of its own: after bombs SymPy rests, and a next batch would find it resting."""
    done = subprocess.run([sys.executable, "-c", BATCH, str(workers)], input=json.dumps([texts, golds]),
                          capture_output=True, text=True, check=True)  # fmt: skip
    return float(done.stdout)


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("bombs", HOSTILE)
def test_batch_with_bombs(workers: int, bombs: str, benchmark: Any, row: Row) -> None:
    """4,096 completions of which 64 are bombs, against the 4,032 others alone; the default deadline of 1 s."""
    texts, golds = many(4096)
    mixed = [HOSTILE[bombs][at // 64] if at % 64 == 7 else text for at, text in enumerate(texts)]
    honest = [at for at in range(4096) if at % 64 != 7]
    alone = fresh_batch([texts[at] for at in honest], [golds[at] for at in honest], workers)
    together: list[float] = []
    benchmark.pedantic(lambda: together.append(fresh_batch(mixed, golds, workers)), rounds=1)
    columns = ("bombs", "threads", "the others", "with bombs", "beyond")
    row("A batch of 4,096 of which 64 are bombs", columns, bombs, str(workers),
        f"{alone:.2f} s", f"{together[0]:.2f} s", f"{together[0] - alone:+.2f} s")  # fmt: skip


@pytest.mark.parametrize("name", ["worst", "median"])
def test_bombs(name: str, benchmark: Any, row: Row) -> None:
    """Every bomb by itself against a number, a list and an expression."""
    pairs = [(rf"\boxed{{{bomb}}}", gold) for bomb in BOMBS.values() for gold in ("4", "1, 2, 3", "x + 1")]
    rounds: list[list[float]] = []
    benchmark.pedantic(lambda: rounds.append(timed(grade, pairs)), setup=cold, rounds=1)
    value = max(rounds[0]) if name == "worst" else statistics.median(rounds[0])
    row("Bombs, one by one", ("n", "which", "time"), str(len(pairs)), name, milliseconds(value))


MEMORY = """
import json, sys
from pathlib import Path
from rlvr_math_reward import grade

def most() -> int:
    # VmHWM and not ru_maxrss, which a process inherits from the one that started it.
    return next(int(line.split()[1]) for line in Path("/proc/self/status").open() if line.startswith("VmHWM"))

pairs = json.load(sys.stdin)
assert grade("#### 4", "4") and not grade(r"\\boxed{\\sqrt{2}+1}", r"\\sqrt{3}")
before = most()
for completion, gold in pairs:
    grade(completion, gold)
print(before, most())
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads the high-water mark from /proc")
def test_memory(benchmark: Any, row: Row) -> None:
    """The high-water mark of a fresh process over all bombs and a few long texts."""
    pairs = [(rf"\boxed{{{bomb}}}", gold) for bomb in BOMBS.values() for gold in ("4", "1, 2, 3", "x + 1", r"[0, 1)")]
    pairs += [(text * (1 << 20), "4") for text in ("7", r"\boxed{", "{", "$", "1,", "<think>")]
    marks: list[str] = []

    def grade_all() -> None:
        done = subprocess.run([sys.executable, "-c", MEMORY], input=json.dumps(pairs), capture_output=True, text=True,
                              check=True)  # fmt: skip
        marks.extend(done.stdout.split())

    benchmark.pedantic(grade_all, rounds=1)
    before, after = (int(mark) / (1 << 10) for mark in marks)
    row("Memory of the process that grades", ("texts", "before", "most", "growth"), f"{len(pairs)} hostile",
        f"{before:.0f} MB", f"{after:.0f} MB", f"{after - before:+.0f} MB")  # fmt: skip


# -- the SymPy child ---------------------------------------------------------------------------------------------------
COLUMNS = ("what", "time")
X = Symbol("x")
SINE = Power(Apply("sin", (X,)), Number(Fraction(2)))
OTHER = Sum((SINE, X))


def test_child_start(benchmark: Any, row: Row) -> None:
    """From nothing to the first answer."""
    benchmark.pedantic(ask, args=(SINE, OTHER, 5.0), setup=_close, rounds=3)
    row("The SymPy child", COLUMNS, "start and first answer", milliseconds(benchmark.stats.stats.median))


def test_child_answer(benchmark: Any, row: Row) -> None:
    assert ask(SINE, OTHER, 5.0) is False
    benchmark.pedantic(ask, args=(SINE, OTHER, 5.0), rounds=50)
    row("The SymPy child", COLUMNS, "one answer", milliseconds(benchmark.stats.stats.median))


def test_child_kill(benchmark: Any, row: Row) -> None:
    def started() -> None:
        assert ask(SINE, OTHER, 5.0) is False

    benchmark.pedantic(_close, setup=started, rounds=3)
    row("The SymPy child", COLUMNS, "kill and reap", milliseconds(benchmark.stats.stats.median))


# -- import ------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "statement", ["import rlvr_math_reward", "from rlvr_math_reward import grade", "import math_verify"]
)
def test_import(statement: str, benchmark: Any, row: Row) -> None:
    def seconds(code: str) -> float:
        started = time.perf_counter()
        subprocess.run([sys.executable, "-c", code], check=True)
        return time.perf_counter() - started

    bare = min(seconds("pass") for _ in range(5))
    benchmark.pedantic(seconds, args=(statement,), rounds=5)
    row("Import, beyond a bare interpreter", ("statement", "time"), f"`{statement}`",
        milliseconds(max(0.0, benchmark.stats.stats.min - bare)))  # fmt: skip
