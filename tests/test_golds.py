"""Every gold of GSM8K and MATH is read as its kind, equals itself, and no other gold.

The data stands in the folder that `RLVR_MATH_DATA` names; without it these tests skip.
"""

from __future__ import annotations

import json
import os
import random
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from rlvr_math_reward import Policy, canonicalize, verify
from rlvr_math_reward.comparing import Ladder
from rlvr_math_reward.exact.algebra import new_verdict
from rlvr_math_reward.golds import BadGold, Gold, read_gold
from rlvr_math_reward.kinds import KINDS, match
from rlvr_math_reward.numeric import value
from rlvr_math_reward.tree import Apply, Quantity, Relation, Sequence, Tree, children, render
from rlvr_math_reward.units import conversion

FOLDER = os.environ.get("RLVR_MATH_DATA")
pytestmark = pytest.mark.skipif(not FOLDER, reason="RLVR_MATH_DATA names no folder that holds gsm8k/ and math/")

SIZES = {"gsm8k/train": 7473, "gsm8k/test": 1319, "math/train": 7500, "math/test": 5000}
BAD = {
    ("math/train", 7036): "the published answer is empty",
    ("math/train", 7436): "the published answer is empty",
    ("math/test", 438): "the published answer is the end of a sentence of its solution",
}
"""The golds that cannot be graded, by data set and row, and why."""
CHANGED = {("math/train", 3123): "`two lines` is written `2 lines`: words that become a number with what it counts"}
"""The golds whose canonical form is of another kind, and why."""
TURNS_TO_SCALAR = ("degree", "percent")
"""Signs that calculator notation (`canonicalize`) drops or works out, so that a plain number remains."""


class Row(NamedTuple):
    name: str
    index: int
    text: str
    gold: Gold | BadGold


@cache
def rows() -> tuple[Row, ...]:
    return tuple(_rows())


def _rows() -> Iterator[Row]:
    for name in SIZES:
        lines = (Path(str(FOLDER)) / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
        for index, line in enumerate(lines):
            text = json.loads(line)["answer"]
            yield Row(name, index, text, read_gold(text))


def readable() -> list[tuple[Row, Gold]]:
    return [(row, row.gold) for row in rows() if isinstance(row.gold, Gold)]


def listed(failures: list[str]) -> str:
    return f"{len(failures)} golds, first: " + "\n".join(failures[:20])


# -- each by itself ----------------------------------------------------------------------------------------------------
def test_every_gold_is_there() -> None:
    assert Counter(row.name for row in rows()) == SIZES


def test_only_the_listed_golds_are_unreadable() -> None:
    assert {(row.name, row.index) for row in rows() if isinstance(row.gold, BadGold)} == set(BAD)


def test_kinds_add_up() -> None:
    kinds: dict[str, Counter[str]] = defaultdict(Counter)
    for row, gold in readable():
        kinds[row.name.partition("/")[0]][gold.kind] += 1
    assert kinds["gsm8k"] == {"scalar": 8792}
    assert sum(kinds["math"].values()) + len(BAD) == 12_500
    assert set(kinds["math"]) == set(KINDS) - {"piecewise"}, "every kind but that one has a gold in MATH"
    assert kinds["math"]["scalar"] > 10_500
    assert min(kinds["math"].values()) >= 50, kinds["math"]


def test_every_gold_equals_itself() -> None:
    wrong = [
        f"{row.name} {row.index}: {row.text}" for row, gold in readable() if not verify(gold.answer.text, row.text)
    ]
    assert not wrong, listed(wrong)


def test_every_gold_equals_itself_beyond_the_text() -> None:
    """The kind finds a gold equal to itself even where nobody compares the strings first."""
    ladder, seen, wrong = Ladder(Policy()), set(), []
    for row, gold in readable():
        if gold.answer.text not in seen:
            seen.add(gold.answer.text)
            new_verdict()
            found = match(gold.kind, gold.answer, gold.answer, ladder)
            if not found.equal:
                wrong.append(f"{row.name} {row.index}: {gold.answer.text}: {found.reason}")
    assert not wrong, listed(wrong)


def test_every_gold_equals_its_canonical_form_both_ways() -> None:
    wrong = []
    for row, gold in readable():
        canonical = canonicalize(gold.answer.text)
        if not (verify(canonical, row.text) and verify(gold.answer.text, canonical)):
            wrong.append(f"{row.name} {row.index}: {gold.answer.text} as {canonical}")
    assert not wrong, listed(wrong)


def test_canonical_forms_keep_their_kind_and_themselves() -> None:
    wrong = []
    for row, gold in readable():
        canonical = canonicalize(gold.answer.text)
        again = read_gold(canonical)
        if (row.name, row.index) in CHANGED:
            continue
        kind = "scalar" if _sign(gold.answer.tree) in TURNS_TO_SCALAR else gold.kind
        if isinstance(again, BadGold) or again.kind != kind or canonicalize(canonical) != canonical:
            wrong.append(f"{row.name} {row.index}: {gold.answer.text} as {canonical}, then {canonicalize(canonical)}")
    assert not wrong, listed(wrong)


def _sign(tree: Tree) -> str:
    match tree:
        case Apply("degree" | "percent" as sign, _):
            return sign
        case Quantity(_, unit):
            return unit.removesuffix("s")
    return ""


# -- against each other ------------------------------------------------------------------------------------------------
PAIRS = 20_000
ONE_UNIT = ({"sq units", "square units"}, {"degree", "degrees"})
"""Ways in which MATH writes one unit."""


def test_no_gold_is_taken_for_another_without_a_reason() -> None:
    """Each pair is of one kind and of two canonical forms, so it is a wrong answer, unless it is the same value."""
    by_kind: dict[str, dict[str, str]] = defaultdict(dict)
    for _, gold in readable():
        by_kind[gold.kind].setdefault(gold.canonical, gold.answer.text)
    lot = random.Random(2024)
    graded, accepted, unexplained = 0, 0, []
    for texts in (list(forms.values()) for _, forms in sorted(by_kind.items())):
        for _ in range(PAIRS // len(by_kind)):
            gold_text, prediction = lot.sample(texts, 2)
            graded += 1
            if verify(prediction, gold_text):
                accepted += 1
                if not same_value(gold_text, prediction):
                    unexplained.append(f"{gold_text}  ===  {prediction}")
    assert graded > 15_000
    assert accepted < graded / 500, "golds that differ are accepted for each other by the dozen"
    assert not unexplained, listed(unexplained)


def same_value(gold: str, prediction: str) -> bool:
    """By numbers alone, and beside the kinds: the parts of both have the same values, and their units do not differ."""
    first, second = read_gold(gold), read_gold(prediction)
    assert isinstance(first, Gold)
    assert isinstance(second, Gold)
    units = _units(first.answer.tree), _units(second.answer.tree)
    if all(units) and not _same_unit(units[0], units[1]):
        return False
    left, right = _numbers(first.answer.tree), _numbers(second.answer.tree)
    if not left or len(left) != len(right):
        return render(first.answer.tree).lower() == render(second.answer.tree).lower()
    return all(abs(a - b) <= 1e-12 * max(1.0, abs(a)) for a, b in zip(left, right, strict=True))


def _same_unit(left: set[str], right: set[str]) -> bool:
    if left == right or any(left | right <= names for names in ONE_UNIT):
        return True
    return len(left) == len(right) == 1 and conversion(*left, *right) is not None


def _units(tree: Tree) -> set[str]:
    match tree:
        case Quantity(_, unit):
            return {unit}
        case Apply("degree" | "percent" as sign, _):
            return {sign}
    return {unit for child in children(tree) for unit in _units(child)}


def _numbers(tree: Tree) -> list[complex]:
    """The values of the parts, sorted; of a value with a sign or a unit, the number as written."""
    match tree:
        case Quantity(inner, _) | Apply("degree" | "percent", (inner,)) | Relation(("=",), (_, inner)):
            return _numbers(inner)
        case Sequence(_, items, _, _):
            return sorted((number for item in items for number in _numbers(item)), key=lambda z: (z.real, z.imag))
    found = value(tree)
    return [] if found is None else [found]
