"""PrimeIntellect verifiers: a reward to plug into a task, and one for the rubrics of the releases before 0.4.

[env.taskset.task.rewards.math_accuracy]
fn = "rlvr_math_reward.integrations.verifiers:math_accuracy"

rubric = vf.Rubric(funcs=[rubric_accuracy])     # before 0.4
"""

from __future__ import annotations

import asyncio
from typing import Protocol

from rlvr_math_reward.rewards import GOLD_COLUMNS, MathReward, accuracy_reward

__all__ = ["math_accuracy", "rubric_accuracy"]


class TaskLike(Protocol):
    """The part of `verifiers.v1.TaskData` that is read, beside a field named like one of the gold columns."""

    @property
    def prompt_text(self) -> str: ...


class TraceLike(Protocol):
    """The part of `verifiers.v1.Trace` that is read."""

    @property
    def last_reply(self) -> str: ...


async def math_accuracy(task: TaskLike, trace: TraceLike, reward: MathReward = accuracy_reward) -> float:
    """The reward for the last reply of a rollout, graded off the event loop.

    Args:
        task: the data of the task; its gold is the first of `GOLD_COLUMNS` that it has.
        trace: the rollout.
        reward: the policy and the scores.

    Raises:
        ValueError: the task has none of the gold columns.
    """
    golds = [gold for column in GOLD_COLUMNS if (gold := getattr(task, column, None)) is not None]
    if not golds:
        raise ValueError(f"{type(task).__name__} has no gold; expected a field of {', '.join(GOLD_COLUMNS)}")
    return await asyncio.to_thread(_reward, reward, trace.last_reply, golds[0], task.prompt_text)


def rubric_accuracy(
    completion: object, answer: object, prompt: object = None, reward: MathReward = accuracy_reward, **_: object
) -> float:
    """The reward for a completion (text or messages), as `Rubric` passes its arguments, by name.

    Example:
        >>> rubric_accuracy([{"role": "assistant", "content": r"It is \\boxed{4}."}], "4")
        1.0
    """
    return _reward(reward, completion, answer, prompt)


def _reward(reward: MathReward, completion: object, gold: object, prompt: object) -> float:
    verdict = reward.verdicts([completion], [gold], [prompt])[0]
    return reward.scores.of(verdict) or 0.0
