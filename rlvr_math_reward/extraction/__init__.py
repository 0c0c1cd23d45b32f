"""From a completion to its final answer: `extract` applies the ordered rules."""

from rlvr_math_reward.extraction.rules import extract

__all__ = ["extract"]
