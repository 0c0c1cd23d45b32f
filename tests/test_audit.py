"""reward-doctor, an outside auditor of reward functions, on `accuracy_reward`."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("reward_doctor")
WRAPPED = Path(__file__).parent / "audit" / "wrapped.py"
KNOWN = {"eq.frac.repeating"}
"""A decimal that was cut off is not the fraction: exact comparison refuses it, and `rel_tol` is there to accept it."""


def test_no_exploit_no_false_positive_and_only_the_cut_decimal_refused() -> None:
    command = [sys.executable, "-m", "reward_doctor.cli", "audit", f"{WRAPPED}:accuracy", "--format", "json"]
    result = subprocess.run(command, capture_output=True, text=True, timeout=150, check=False)
    report = json.loads(result.stdout)
    assert report["n_cases"] > 50
    assert report["n_exploits_accepted"] == 0
    assert report["false_positive_rate"] == 0
    assert {failure["id"] for failure in report["failures"]} <= KNOWN
