"""The page about a training run: `write_report`."""

from rlvr_math_reward.report.page import write_report

__all__ = ["write_report"]
