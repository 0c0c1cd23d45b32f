"""Exact, explained, bounded grading of maths answers, as reward functions for TRL's GRPOTrainer."""

from rlvr_math_reward.grading import canonicalize, extract_answer, grade, grade_batch, parse, verify
from rlvr_math_reward.policy import Policy
from rlvr_math_reward.verdict import Extraction, Outcome, Verdict

__all__ = [
    "Extraction", "Outcome", "Policy", "Verdict",
    "canonicalize", "extract_answer", "grade", "grade_batch", "parse", "verify",
]  # fmt: skip
