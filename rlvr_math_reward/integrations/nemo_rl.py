"""NeMo-RL: a single-turn environment with the interface of `nemo_rl.environments.interfaces.EnvironmentInterface`.

    environment = ray.remote(MathEnvironment).options(num_cpus=1).remote({"policy": {}, "scores": {}})

Named in the configuration as `env.<task>.env_name` after `register_env`. The package on PyPI holds no code, so the
interface is written down here from its documentation and source and is not run against the original.
"""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from rlvr_math_reward.policy import Policy
from rlvr_math_reward.rewards import MathReward, Scores

if TYPE_CHECKING:
    import torch

__all__ = ["EnvironmentReturn", "MathEnvironment"]


class EnvironmentReturn(NamedTuple):
    """Field for field what NeMo-RL's rollout loop takes from `step`."""

    observations: list[dict[str, str]]
    metadata: list[Mapping[str, object]]
    next_stop_strings: list[None]
    rewards: torch.Tensor
    terminateds: torch.Tensor
    answers: list[str | None] | None


class MathEnvironment:
    """Grades the last assistant message of each conversation against `metadata["ground_truth"]`; every episode ends.

    Args:
        config: may hold `policy` and `scores`, each a mapping of field to value.
    """

    def __init__(self, config: Mapping[str, Mapping[str, Any]] | None = None) -> None:
        given = config or {}
        self.reward = MathReward(policy=Policy(**given.get("policy", {})), scores=Scores(**given.get("scores", {})))

    def step(
        self,
        message_log_batch: Sequence[Sequence[Mapping[str, object]]],
        metadata: Sequence[Mapping[str, object]],
        return_extracted_answer: bool = False,
    ) -> EnvironmentReturn:
        """Rewards for a batch of conversations; a bad gold earns 0.0 and its observation says so."""
        import torch

        golds = [row.get("ground_truth") for row in metadata]
        verdicts = self.reward.verdicts(message_log_batch, golds, message_log_batch)
        content = [f"Environment: {verdict.outcome.value}" for verdict in verdicts]
        return EnvironmentReturn(
            observations=[{"role": "environment", "content": text} for text in content],
            metadata=list(metadata),
            next_stop_strings=[None] * len(verdicts),
            rewards=torch.tensor([self.reward.scores.of(verdict) or 0.0 for verdict in verdicts]),
            terminateds=torch.ones(len(verdicts)),
            answers=[verdict.prediction for verdict in verdicts] if return_extracted_answer else None,
        )

    def global_post_process_and_metrics(
        self, batch: MutableMapping[str, Any]
    ) -> tuple[MutableMapping[str, Any], dict[str, float]]:
        """The batch as it is, and the mean reward. What ended properly is NeMo-RL's own to count."""
        rewards = batch["total_reward"] if "total_reward" in batch else batch["rewards"]
        return batch, {"accuracy": float(rewards.mean()), "num_problems_in_batch": float(len(rewards))}

    def shutdown(self) -> None:
        """Nothing to stop: children that compare close with their process."""
