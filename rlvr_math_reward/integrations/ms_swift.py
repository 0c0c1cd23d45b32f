"""ms-swift: an outcome reward model for GRPO. In the file that `--external_plugins` names:

    from rlvr_math_reward.integrations.ms_swift import register
    register()

and then `--reward_funcs rlvr_math_accuracy`. The class has the shape of `swift.rewards.ORM` in ms-swift 4.6, which
builds it as `cls(args=args)` and calls it with completions and the columns of the data set.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rlvr_math_reward.policy import Policy
from rlvr_math_reward.rewards import MathReward, Scores

__all__ = ["MathAccuracyORM", "register"]


class MathAccuracyORM(MathReward):
    """`MathReward` built and called as ms-swift does. Subclass it to set another policy or other scores.

    Example:
        >>> MathAccuracyORM(args=None)([r"\\boxed{4}", "so it is 5"], solution=["4", "4"])
        [1.0, 0.0]
    """

    def __init__(
        self,
        args: object = None,
        *,
        policy: Policy = Policy(),  # noqa: B008  (frozen)
        scores: Scores = Scores(),  # noqa: B008  (frozen)
        name: str = "rlvr_math_accuracy",
        **_: object,
    ) -> None:
        super().__init__(policy=policy, scores=scores, name=name)

    def __call__(
        self,
        completions: Sequence[object],
        prompts: Sequence[object] | None = None,
        *,
        log_extra: Callable[[str, list[str]], object] | None = None,
        log_metric: Callable[[str, float], object] | None = None,
        **columns: object,
    ) -> list[float | None]:
        """Rewards for completions; the conversation comes as `messages`, with the completion as its last message."""
        messages = columns.get("messages")
        if prompts is None and isinstance(messages, list):
            prompts = messages
        return super().__call__(completions, prompts, log_extra=log_extra, log_metric=log_metric, **columns)


def register(name: str = "rlvr_math_accuracy") -> None:
    """Make the reward known to ms-swift under a name for `--reward_funcs`."""
    from swift.rewards import orms  # type: ignore[import-not-found]

    orms[name] = MathAccuracyORM
