"""Exact, explained, bounded grading of maths answers, as reward functions for TRL's GRPOTrainer.

The names below are loaded when they are first used: importing the package alone takes a few milliseconds, and the
grader with its tables and mpmath a hundred more.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rlvr_math_reward.grading import canonicalize, extract_answer, grade, grade_batch, parse, verify
    from rlvr_math_reward.policy import Policy
    from rlvr_math_reward.verdict import Extraction, Outcome, Verdict

__all__ = [
    "Extraction", "Outcome", "Policy", "Verdict",
    "canonicalize", "extract_answer", "grade", "grade_batch", "parse", "verify",
]  # fmt: skip

_HOMES = {
    "Extraction": "verdict", "Outcome": "verdict", "Verdict": "verdict", "Policy": "policy",
    **dict.fromkeys(("canonicalize", "extract_answer", "grade", "grade_batch", "parse", "verify"), "grading"),
}  # fmt: skip


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
