"""What the benchmarks share: completions, cold caches, and the table that is printed at the end."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Iterator
from pathlib import Path

from rlvr_math_reward import golds, grading, numeric
from rlvr_math_reward.exact import forms

TESTS = Path(__file__).parent.parent

Pair = tuple[str, str]
"""A completion and its gold."""
SIZE = 150
"""Completions of one file: Math-Verify grades some 50 a second of the slowest ones."""


# -- completions -------------------------------------------------------------------------------------------------------
def corpora() -> dict[str, list[Pair]]:
    """Distinct completions by source: real ones where `RLVR_MATH_DATA` is set, else the project's own."""
    folder = os.environ.get("RLVR_MATH_DATA")
    if not folder:
        return {"synthetic, #### and a number": _sums(), "synthetic, boxed answers of every kind": _boxed()}
    found = {}
    for path in sorted((Path(folder) / "rollouts").glob("*.jsonl")):
        rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        pairs = [(row["completion"], str(row["gold"])) for row in rows[:: max(1, len(rows) // SIZE)]]
        found[path.stem] = list(dict.fromkeys(pairs))[:SIZE]
    return found


def _sums() -> list[Pair]:
    """In the manner of GSM8K: a few lines of arithmetic, and the result behind `####`, wrong in one of four."""
    lot = random.Random(0)
    pairs = []
    for _ in range(SIZE):
        total, lines = lot.randrange(100), []
        for _ in range(lot.randrange(2, 7)):
            step = lot.randrange(2, 40)
            lines.append(
                f"Then there are {step} more, so {total} + {step} = <<{total}+{step}={total + step}>>{total + step}."
            )
            total += step
        answer = total if lot.random() < 0.75 else total + lot.randrange(1, 9)
        pairs.append(("\n".join(lines) + f"\n#### {answer}", str(total)))
    return pairs


def _boxed() -> list[Pair]:
    """In the manner of MATH: prose with formulas, and an answer of the case tables in a box."""
    lot = random.Random(1)
    cases = []
    for path in sorted((TESTS / "cases").glob("*.cases")):
        for line in path.read_text(encoding="utf-8").splitlines():
            for sign in (" === ", " =/= "):
                if sign in line and not line.startswith(("#", "%", "@")):
                    gold, _, prediction = line.partition(sign)
                    cases.append((prediction, gold))
    prose = r"We set $x = \frac{a+b}{2}$ and find that $x^2 - 2x + 1 = 0$, so both roots agree. "
    return [
        (prose * lot.randrange(2, 12) + rf"Hence the answer is $\boxed{{{prediction}}}$.", gold)
        for prediction, gold in lot.sample(cases, SIZE)
    ]


def cold() -> None:
    """Forget every verdict, tree and gold, so that each completion is graded and not remembered."""
    for module in (grading, golds, forms, numeric):
        for thing in vars(module).values():
            if hasattr(thing, "cache_clear"):
                thing.cache_clear()


# -- the table ---------------------------------------------------------------------------------------------------------
class Table:
    """Rows by section, printed in Markdown at the end of the session."""

    def __init__(self) -> None:
        self.sections: dict[str, tuple[tuple[str, ...], list[tuple[str, ...]]]] = {}

    def add(self, section: str, columns: tuple[str, ...], *values: str) -> None:
        assert len(columns) == len(values)
        self.sections.setdefault(section, (columns, []))[1].append(values)

    def lines(self) -> Iterator[str]:
        for section, (columns, rows) in self.sections.items():
            widths = [max(len(row[at]) for row in (columns, *rows)) for at in range(len(columns))]
            yield f"\n**{section}**\n"
            yield _row(columns, widths)
            yield "|" + "|".join("-" * (width + 2) for width in widths) + "|"
            yield from (_row(row, widths) for row in rows)


def _row(values: tuple[str, ...], widths: list[int]) -> str:
    return "| " + " | ".join(value.ljust(width) for value, width in zip(values, widths, strict=True)) + " |"
