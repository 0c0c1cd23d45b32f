"""README keeps its word: its example prints what stands there, its files exist, its policy fields are the fields."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import pytest

from rlvr_math_reward import Policy, verify

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```(\w*)\n(.*?)```", README, re.DOTALL)


def test_first_example_prints_what_stands_below_it() -> None:
    (_, code), (_, printed) = next(
        (block, BLOCKS[at + 1]) for at, block in enumerate(BLOCKS) if block[0] == "python" and "explain" in block[1]
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=True)
    assert result.stdout.strip() == printed.strip()


def test_policy_table_names_every_field_with_its_default() -> None:
    section = README.split("## Choosing a policy")[1].split("\n## ")[0]
    rows = re.findall(r"^\| `(\w+)` \| ([^|]+) \|", section, re.MULTILINE)
    worded: dict[str, object] = {"off": False, "1 s": 1.0}
    told = {name: default.strip().partition(":")[0] for name, default in rows}
    assert len(told) == len(rows) > 5
    written = {field.name: repr(field.default).strip("'") for field in fields(Policy)}
    assert {name: str(worded.get(default, default.strip("`"))) for name, default in told.items()} == written


def test_no_number_is_left_to_fill_in() -> None:
    assert not re.findall(r"@[A-Z]+@|TODO|XXX", README)


def test_files_of_the_layout_exist() -> None:
    section = README.split("## Layout")[1]
    names = re.findall(r"^([\w./-]+\.?\w*)\s{2,}", section, re.MULTILINE)
    assert len(names) > 20
    missing = [name for name in names if not (ROOT / name).exists()]
    assert not missing


@pytest.mark.parametrize(
    ("gold", "prediction", "same"),
    [
        ("14/3", r"4\frac23", True),
        ("1234", r"1\,234", True),
        (r"\frac13", "0.333", False),
        (r"\sqrt2+\sqrt3", r"\sqrt{5+2\sqrt6}", True),
        (r"\sqrt{x^2}", "x", False),
        ("20\\%", r"20\text{ miles}", False),
        ("1,-3", r"x=1\text{ or }x=-3", True),
        ("[1,3]", r"[1,3]\text{ or }(1,3)", False),
        (r"x\equiv7\pmod{11}", "7", True),
        ("x^2=9", "x=3", False),
        ("x", r"\frac{x^2}{x}", True),
        ("4", r"4 \pmod 7", True),
        ("11", r"11 \pmod 7", False),
        ("24_7", "24", True),
        (r"\infty", r"\infty+1", False),
        ("1", "1 = 1", False),
        ("12", r"12 = 3 \cdot 4", True),
    ],
)
def test_readings_that_readme_promises(gold: str, prediction: str, same: bool) -> None:
    assert verify(prediction, gold) is same
