"""What reward-doctor audits: `accuracy_reward` for one completion, as `f(completion, gold) -> float`."""

from rlvr_math_reward.rewards import accuracy_reward


def accuracy(completion: str, gold: str) -> float:
    return accuracy_reward(completions=[completion], solution=[gold])[0] or 0.0
