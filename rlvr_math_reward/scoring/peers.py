"""Our verdicts beside those of Math-Verify or of a label column, and our speed beside Math-Verify's.

Math-Verify is optional. It limits its time by a signal, so these functions run in the main thread only.
"""

from __future__ import annotations

import logging
import statistics
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

from rlvr_math_reward.completions import read_completion
from rlvr_math_reward.files import Chunk, DataError, Record
from rlvr_math_reward.golds import sources
from rlvr_math_reward.grading import grade
from rlvr_math_reward.scoring.local import Columns, Task
from rlvr_math_reward.verdict import Outcome, Verdict

__all__ = [
    "Comparison", "Judge", "Pair", "Speed", "compare_rows", "has_math_verify", "label_judge", "math_verify_judge",
    "measure", "real_rows", "synthetic_rows",
]  # fmt: skip

Judge: TypeAlias = Callable[[Record, Verdict], "bool | None"]
"""Another opinion on a row that we have graded; None where it has none."""

_LABELS = {"true": True, "false": False, "yes": True, "no": False, "1": True, "0": False, "1.0": True, "0.0": False}


@dataclass(frozen=True, slots=True)
class Pair:
    """One row with both opinions; `theirs` is True for correct."""

    place: str
    verdict: Verdict
    theirs: bool

    @property
    def agree(self) -> bool:
        return self.verdict.correct == self.theirs

    def to_dict(self) -> dict[str, object]:
        return {"place": self.place, "theirs": self.theirs, **self.verdict.to_dict()}


@dataclass(slots=True)
class Comparison:
    """Both opinions on a file.

    Attributes:
        counts: rows by (ours, theirs).
        disagreements: the rows where they differ, in the order of the file.
        agreements: the first rows where they do not.
        left_out: rows without another opinion, or with a bad gold.
    """

    counts: Counter[tuple[bool, bool]] = field(default_factory=Counter)
    disagreements: list[Pair] = field(default_factory=list)
    agreements: list[Pair] = field(default_factory=list)
    left_out: int = 0

    def to_dict(self) -> dict[str, object]:
        """The comparison as plain JSON types."""
        return {
            "both_correct": self.counts[True, True],
            "both_wrong": self.counts[False, False],
            "only_ours_correct": self.counts[True, False],
            "only_theirs_correct": self.counts[False, True],
            "left_out": self.left_out,
            "disagreements": [pair.to_dict() for pair in self.disagreements],
        }


def compare_rows(
    chunks: Iterable[Chunk],
    task: Task,
    judge: Judge,
    *,
    agreements: int = 0,
    progress: Callable[[int, float], None] = lambda rows, part: None,
) -> Comparison:
    """Grades all rows and asks the judge about each.

    Args:
        chunks: the rows, from `data.read_source`.
        task: what to read, and how to grade it.
        judge: the other opinion.
        agreements: how many rows to keep where both agree.
        progress: told the rows so far and the fraction of the input that has been read.
    """
    comparison = Comparison()
    rows = 0
    for chunk in chunks:
        for record in chunk.records():
            rows += 1
            verdict = task.grade(record)
            theirs = None if verdict.outcome is Outcome.BAD_GOLD else judge(record, verdict)
            if theirs is None:
                comparison.left_out += 1
                continue
            comparison.counts[verdict.correct, theirs] += 1
            pair = Pair(record.place, verdict, theirs)
            if not pair.agree:
                comparison.disagreements.append(pair)
            elif len(comparison.agreements) < agreements:
                comparison.agreements.append(pair)
        progress(rows, chunk.fraction)
    return comparison


def label_judge(column: str) -> Judge:
    """The opinion that stands in a column: a boolean, 0 or 1, or one of these as text. Null is no opinion."""

    def judge(record: Record, verdict: Verdict) -> bool | None:
        if column not in record.row:
            raise DataError(f"{record.place}: no column {column!r}; its columns: {', '.join(map(repr, record.row))}")
        value = record.row[column]
        if value is None or value == "":
            return None
        label = _LABELS.get(str(value).strip().lower())
        if label is None:
            raise DataError(f"{record.place}: {column!r} is {value!r}; expected true or false, or 1 or 0")
        return label

    return judge


# -- Math-Verify -------------------------------------------------------------------------------------------------------
def has_math_verify() -> bool:
    """Whether Math-Verify is installed; nothing is imported."""
    from importlib.util import find_spec

    return find_spec("math_verify") is not None


def math_verify_judge(completion_column: str) -> Judge:
    """Math-Verify's opinion, on the same completion and on the gold as we have read it, in a box."""
    ask = _math_verify()

    def judge(record: Record, verdict: Verdict) -> bool | None:
        return ask(read_completion(record.row[completion_column]).text, verdict.gold)

    return judge


def _math_verify() -> Callable[[str, str], bool]:
    from math_verify import parse, verify

    logging.getLogger("math_verify").setLevel(logging.CRITICAL)  # it reports each text that it cannot read

    def ask(completion: str, gold: str) -> bool:
        return bool(verify(parse(f"\\boxed{{{gold}}}"), parse(completion)))

    return ask


# -- speed -------------------------------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class Speed:
    """Times of one verifier on some rows, in the order given, with nothing remembered from before."""

    name: str
    rows: int
    per_second: float
    median_us: float
    p99_us: float
    slowest_ms: float

    def to_dict(self) -> dict[str, object]:
        return {name: getattr(self, name) for name in self.__slots__}


def measure(rows: list[tuple[str, str]], peer_rows: int) -> list[Speed]:
    """Our speed on all rows; then ours and Math-Verify's, where it is installed, on the first `peer_rows` of them.

    Args:
        rows: completions with their golds.
        peer_rows: Math-Verify takes milliseconds a row, so it gets fewer of them. 0 leaves it out.
    """
    ours = _times(lambda completion, gold: bool(grade(completion, gold)), rows)
    speeds = [_speed("rlvr_math_reward", ours)]
    if peer_rows and has_math_verify():
        # The first rows of the same pass: a second pass would find its answers remembered.
        speeds += [_speed("rlvr_math_reward", ours[:peer_rows])] if peer_rows < len(rows) else []
        speeds.append(_speed("Math-Verify", _times(_math_verify(), rows[:peer_rows])))
    return speeds


def _times(ask: Callable[[str, str], bool], rows: list[tuple[str, str]]) -> list[float]:
    ask("#### 1", "2")  # imports and tables
    times = []
    for completion, gold in rows:
        started = time.perf_counter()
        ask(completion, gold)
        times.append(time.perf_counter() - started)
    return times


def _speed(name: str, times: list[float]) -> Speed:
    ordered = sorted(times)
    p99 = ordered[min(len(ordered) - 1, len(ordered) * 99 // 100)]
    per_second = len(ordered) / sum(ordered)
    return Speed(name, len(ordered), per_second, 1e6 * statistics.median(ordered), 1e6 * p99, 1e3 * ordered[-1])


def real_rows(chunks: Iterable[Chunk], columns: Columns) -> Iterator[tuple[str, str]]:
    """The completions of a file with their golds, of several accepted ones the first."""
    for chunk in chunks:
        for record in chunk.records():
            yield read_completion(record.row.get(columns.completion)).text, sources(record.row.get(columns.gold))[0]


_FORMS = (
    ("There are {a} of them, each {b}, so \\boxed{{{ab}}}.", "{ab}"),
    ("{a} * {b} = <<{a}*{b}={ab}>>{ab}\n#### {ab}", "{ab}"),
    ("Hence the share is $\\boxed{{\\frac{{{a}}}{{{b}}}}}$.", "\\frac{{{a}}}{{{b}}}"),
    ("The final answer is {a}.{b}", "{a}.{b}"),
    ("All $x$ with $\\boxed{{[{a}, {a}+{b})}}$", "[{a},{sum})"),
    ("We expand to $\\boxed{{x^2 + {sum}x + {ab}}}$", "(x+{a})(x+{b})"),
    ("<think>perhaps {a}</think>\n<answer>{a}\\sqrt{{{b}}}</answer>", "\\sqrt{{{b}}} \\cdot {a}"),
    ("so it must be \\boxed{{{a}}}", "{b}"),
)
"""Completions with their golds: three in eight need only reading, the last is mostly wrong."""


def synthetic_rows(count: int) -> Iterator[tuple[str, str]]:
    """Completions of several forms with their golds, the same ones at each call.

    Example:
        >>> list(synthetic_rows(2))[1]
        ('5 * 6 = <<5*6=30>>30\\n#### 30', '30')
    """
    for index in range(count):
        completion, gold = _FORMS[index % len(_FORMS)]
        a, b = 2 + index * 3 % 997, 3 + index * 3 % 499
        values = {"a": a, "b": b, "ab": a * b, "sum": a + b}
        yield completion.format(**values), gold.format(**values)
