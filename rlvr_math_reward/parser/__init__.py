"""Reading a bare answer: `parse` turns text into a tree, whole string or nothing."""

from rlvr_math_reward.parser.levels import ParseError, parse

__all__ = ["ParseError", "parse"]
