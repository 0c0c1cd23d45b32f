"""The same verdicts whatever the hash seed, the thread, the order and the state of the caches.

Pairs come from the case tables and, where `RLVR_MATH_DATA` is set, from real completions. What SymPy's deadline cut
off is undecided, and the one thing that the clock may change; such pairs are left out, and few.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import threading
import time
from functools import cache
from pathlib import Path

import pytest

from rlvr_math_reward import Policy, comparing, golds, grade, grade_batch, grading, numeric, symbolic, units
from rlvr_math_reward.exact import forms as exact

CASES = Path(__file__).parent / "cases"
SIGNS = (" === ", " =/= ", " =?= ", " =~= ")
REAL = 1_000
"""Real completions beside the tables: together some 6,000 pairs."""
POLICY = Policy(rel_tol=1e-4, substring="guarded", timeout=5.0)
Pair = tuple[str, str]
Line = str


@cache
def pairs() -> tuple[Pair, ...]:
    """`(completion, gold)`, each once, without those that stay undecided.

    Where one of these met its deadline SymPy rests, and what would be asked meanwhile is undecided too: that is the
    one thing that a verdict depends on besides its texts, and here it is waited for.
    """
    kept = []
    for pair in dict.fromkeys([*_from_tables(), *_from_data()]):
        asked = time.monotonic()
        if not line(*pair).startswith("undecided"):
            kept.append(pair)
        elif time.monotonic() - asked > POLICY.timeout * symbolic.SLOW:
            time.sleep(symbolic.REST_SECONDS)
    return tuple(kept)


def _from_tables() -> list[Pair]:
    found = []
    for path in sorted(CASES.glob("*.cases")):
        for text in path.read_text(encoding="utf-8").splitlines():
            sign = next((sign for sign in SIGNS if sign in text), None)
            if sign and not text.startswith(("#", "%", "@")):
                gold, _, prediction = text.partition(sign)
                found.append((rf"so it is \boxed{{{prediction}}}", gold))
    return found


def _from_data() -> list[Pair]:
    folder = os.environ.get("RLVR_MATH_DATA")
    if not folder:
        return []
    rows = []
    for path in sorted((Path(folder) / "rollouts").glob("*.jsonl")):
        rows += [json.loads(text) for text in path.read_text(encoding="utf-8").splitlines()]
    return [(row["completion"], str(row["gold"])) for row in rows[:: max(1, len(rows) // REAL)]]


def line(completion: str, gold: str) -> Line:
    """All of a verdict that anything may depend on.

    Which of the two upper steps proved an equality is left out: the symbolic one has a time limit by the clock, and
    where it runs out on a busy machine the numeric step proves the same.
    """
    verdict = grade(completion, gold, policy=POLICY)
    decided_by = "symbolic or numeric" if verdict.decided_by in ("symbolic", "numeric") else verdict.decided_by
    return "|".join(map(str, (
        verdict.outcome.value, decided_by, verdict.score, verdict.kind, verdict.gold_canonical,
        verdict.prediction_canonical, verdict.matched, verdict.reason,
    )))  # fmt: skip


@cache
def expected() -> tuple[Line, ...]:
    return tuple(line(*pair) for pair in pairs())


def clear_caches() -> None:
    """Every bounded cache between text and verdict, by its own method; a cache that is not cleared fails the test."""
    cleared = 0
    for module in (grading, golds, comparing, exact, numeric, units):
        for thing in vars(module).values():
            if hasattr(thing, "cache_clear"):
                thing.cache_clear()
                cleared += 1
    assert cleared >= 4


def differences(found: list[Line]) -> list[str]:
    rows = zip(pairs(), expected(), found, strict=True)
    return [f"{gold!r} and {text[-80:]!r}: {a}  then  {b}" for (text, gold), a, b in rows if a != b]


def test_there_are_pairs_and_few_of_them_are_undecided() -> None:
    drawn = len(dict.fromkeys([*_from_tables(), *_from_data()]))
    assert len(pairs()) > 2_000
    assert drawn - len(pairs()) < drawn / 50


def test_warm_caches_say_what_cold_ones_said() -> None:
    assert not differences([line(*pair) for pair in pairs()])
    clear_caches()
    assert not differences([line(*pair) for pair in pairs()])


def test_order_changes_nothing() -> None:
    order = list(range(len(pairs())))
    random.Random(1).shuffle(order)
    clear_caches()
    found = {index: line(*pairs()[index]) for index in order}
    assert not differences([found[index] for index in range(len(pairs()))])


def test_threads_change_nothing() -> None:
    """Eight threads grade everything at once, each from another place on, over shared cold caches."""
    clear_caches()
    count, threads = len(pairs()), 8
    found: list[dict[int, Line]] = [{} for _ in range(threads)]

    def work(thread: int) -> None:
        start = thread * count // threads
        for index in (*range(start, count), *range(start)):
            found[thread][index] = line(*pairs()[index])

    running = [threading.Thread(target=work, args=(thread,)) for thread in range(threads)]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join()
    for lines in found:
        assert not differences([lines[index] for index in range(count)])


@pytest.mark.parametrize("workers", [0, 3])
def test_a_batch_says_what_single_calls_say(workers: int) -> None:
    clear_caches()
    texts, references = zip(*pairs(), strict=True)
    verdicts = grade_batch(texts, references, policy=POLICY, workers=workers)
    single = [grade(*pair, policy=POLICY) for pair in pairs()]
    wrong = [a for a, b in zip(verdicts, single, strict=True) if (a.outcome, a.reason) != (b.outcome, b.reason)]
    assert not wrong, wrong[:5]


CHILD = """
import json, sys
sys.path.insert(0, sys.argv[1])
from test_determinism import line
print(json.dumps([line(*pair) for pair in json.load(sys.stdin)]))
"""


@pytest.mark.parametrize("seed", ["1", "4294967295"])
def test_the_hash_seed_changes_nothing(seed: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", CHILD, str(Path(__file__).parent)],
        input=json.dumps(pairs()), capture_output=True, text=True, timeout=170, check=False,
        env={**os.environ, "PYTHONHASHSEED": seed},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    assert not differences(json.loads(done.stdout))
