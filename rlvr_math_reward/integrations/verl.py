"""verl: `compute_score` for the reward managers that score one response, `compute_score_batch` for `batch`.

    reward.custom_reward_function.path=pkg://rlvr_math_reward.integrations.verl
    reward.custom_reward_function.name=compute_score

`reward_kwargs` may hold `policy` and `scores`, each a mapping of field to value. The signatures are those of verl 0.9.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypedDict

from rlvr_math_reward.policy import Policy
from rlvr_math_reward.rewards import MathReward, Scores

__all__ = ["Score", "compute_score", "compute_score_batch"]


class Score(TypedDict):
    """What verl logs: `score` is the reward, the rest goes to the dump of the rollouts."""

    score: float
    acc: float
    pred: str
    outcome: str
    decided_by: str


def compute_score(
    data_source: str,
    solution_str: str,
    ground_truth: object,
    extra_info: Mapping[str, Any] | None = None,
    *,
    policy: Mapping[str, Any] | None = None,
    scores: Mapping[str, Any] | None = None,
    **_: object,
) -> Score:
    """The score of one response.

    Args:
        data_source: the name of the data set; not looked at.
        solution_str: the response.
        ground_truth: the gold.
        extra_info: its `question`, where there is one, tells a repeated problem from an answer.
        policy: fields of `Policy`.
        scores: fields of `Scores`.

    Example:
        >>> compute_score("openai/gsm8k", "so #### 72", "72")["score"]
        1.0
    """
    one = [data_source], [solution_str], [ground_truth], [extra_info]
    return compute_score_batch(*one, policy=policy, scores=scores)[0]


def compute_score_batch(
    data_sources: Sequence[str],
    solution_strs: Sequence[str],
    ground_truths: Sequence[object],
    extra_infos: Sequence[Mapping[str, Any] | None],
    *,
    policy: Mapping[str, Any] | None = None,
    scores: Mapping[str, Any] | None = None,
    **_: object,
) -> list[Score]:
    """The scores of a batch; arguments as in `compute_score`, one entry a response."""
    reward = MathReward(policy=Policy(**(policy or {})), scores=Scores(**(scores or {})))
    questions = [(info or {}).get("question") for info in extra_infos]
    return [
        Score(
            score=reward.scores.of(verdict) or 0.0,
            acc=float(verdict.correct),
            pred=verdict.prediction or "",
            outcome=verdict.outcome.value,
            decided_by=verdict.decided_by,
        )
        for verdict in reward.verdicts(list(solution_strs), list(ground_truths), questions)
    ]
