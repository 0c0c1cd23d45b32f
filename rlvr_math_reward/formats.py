"""The format reward: is the answer stated once, cleanly, at the end? Whether it is right is not looked at.

Stricter than extraction on purpose: `\\boxed{11}}}}` answers 11, and is not clean.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from rlvr_math_reward.completions import Reply, read_completion
from rlvr_math_reward.extraction.boxes import closing

__all__ = ["FormatReward", "format_reward", "think_answer_format_reward"]

_BOX = re.compile(r"\\(?:boxed|fbox)\s*\{")
_AFTER_ANSWER = re.compile(r"(?:[\s.$*]|\\[\])])*")
"""What may close the sentence, the formula or the bold type that the answer stands in."""


class FormatReward:
    """1.0 for a completion that ends in one box or one answer tag, else 0.0.

    Args:
        think: also ask for thinking before it: one `<think>...</think>` at the start (the opening tag may stand in
            the prompt), or the thinking that a chat template moved to a field of its own.
        name: what the trainer logs it as; `format_reward` or `think_answer_format_reward` by default.

    Example:
        >>> FormatReward()(completions=[r"It is $\\boxed{11}$.", r"\\boxed{11}}}}", r"\\boxed{1} or \\boxed{2}"])
        [1.0, 0.0, 0.0]
        >>> FormatReward(think=True)(completions=["<think>5 + 6</think><answer>11</answer>", "<answer>11</answer>"])
        [1.0, 0.0]
    """

    __name__: str

    def __init__(self, *, think: bool = False, name: str | None = None) -> None:
        if not isinstance(think, bool):
            raise ValueError(f"think is {think!r}; allowed: True, False")
        if name is not None and not (isinstance(name, str) and name.strip()):
            raise ValueError(f"name is {name!r}; allowed: a non-empty string, or None for the default")
        self.think = think
        self.__name__ = name or ("think_answer_format_reward" if think else "format_reward")

    def __repr__(self) -> str:
        return f"FormatReward(think={self.think!r}, name={self.__name__!r})"

    def __call__(self, completions: Sequence[object], **columns: object) -> list[float]:
        """Rewards for the completions of one call; columns of the data set are not looked at."""
        if isinstance(completions, str):
            raise ValueError("completions is one string; expected a list of completions")
        return [float(self._is_clean(read_completion(completion))) for completion in completions]

    def _is_clean(self, reply: Reply) -> bool:
        thinking, said = _split_thinking(reply)
        if said is None or (self.think and not thinking.strip()):
            return False
        return _ends_in_tag(said) if "<answer>" in said else _ends_in_box(said)


def _split_thinking(reply: Reply) -> tuple[str, str | None]:
    """The thinking and what was said after it; nothing was said where the tags do not pair up."""
    thinking, closed, said = reply.text.partition("</think>")
    if not closed:
        return reply.thinking, None if "<think>" in reply.text else reply.text
    thinking = thinking.lstrip().removeprefix("<think>")
    if "<think>" in thinking or "<think>" in said or "</think>" in said:
        return "", None
    return thinking, said


def _ends_in_tag(said: str) -> bool:
    before, _, rest = said.partition("<answer>")
    answer, closed, after = rest.partition("</answer>")
    if not closed or "<answer>" in rest or after.strip() or _BOX.search(before):
        return False
    if _BOX.search(answer):
        return _ends_in_box(answer)
    return bool(answer.strip()) and closing("{" + answer + "}", 1, len(answer) + 2) == len(answer) + 1


def _ends_in_box(said: str) -> bool:
    boxes = list(_BOX.finditer(said))
    if len(boxes) != 1:
        return False
    start = boxes[0].end()
    end = closing(said, start, len(said))
    if end < 0 or not said[start:end].strip():
        return False
    return _AFTER_ANSWER.fullmatch(said, end + 1) is not None


format_reward: Final = FormatReward()
"""1.0 for one clean box or answer tag at the end, else 0.0."""
think_answer_format_reward: Final = FormatReward(think=True)
"""`format_reward` that also asks for thinking in `<think>` tags before the answer."""
