"""OpenRLHF: `reward_func`, for a file that `--remote_rm_url` (`reward.remote_url`) names.

OpenRLHF takes a path, so the file of the run is one line:

    from rlvr_math_reward.integrations.openrlhf import reward_func

The signature is that of OpenRLHF 0.11, which decodes prompt and response together, special tokens included.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rlvr_math_reward.rewards import MathReward, accuracy_reward
from rlvr_math_reward.verdict import Outcome

if TYPE_CHECKING:
    import torch

__all__ = ["reward_func", "split_response"]

_SPECIAL_TOKEN = re.compile(r"</s>|<eos>|<end_of_turn>|<[|｜][^<>|｜]{1,40}[|｜]>")
_MAX_SPECIAL_TOKENS = 8
"""Special tokens taken off the end of a response: one ends the turn, one the text; more is the model's own writing."""
_PROMPT_TAIL = 64
"""Characters of the prompt's end that are looked for where the whole prompt is not found: it was cut from the left."""


def reward_func(
    queries: Sequence[str],
    prompts: Sequence[str],
    labels: Sequence[object],
    *,
    reward: MathReward = accuracy_reward,
    **_: object,
) -> dict[str, torch.Tensor | dict[str, torch.Tensor]]:
    """Rewards for queries, as the tensors that OpenRLHF's experience maker takes.

    Args:
        queries: prompt and response as one text each.
        prompts: the prompts.
        labels: the golds.
        reward: the policy and the scores.

    Returns:
        `rewards` and `scores`, and in `extra_logs` a tensor of 0 and 1 for every outcome.
    """
    import torch

    responses = [split_response(query, prompt) for query, prompt in zip(queries, prompts, strict=True)]
    verdicts = reward.verdicts(responses, list(labels), list(prompts))
    rewards = torch.tensor([reward.scores.of(verdict) or 0.0 for verdict in verdicts])
    logs = {o.value: torch.tensor([float(verdict.outcome is o) for verdict in verdicts]) for o in Outcome}
    return {"rewards": rewards, "scores": rewards, "extra_logs": logs}


def split_response(query: str, prompt: str) -> str:
    """The response in a query, without the special tokens at its end.

    The prompt must not be graded: it may state an answer, in an example say. Where not even its end is found, the
    tokenizer does not give the text back as it was, and the response is taken to be empty.

    Example:
        >>> split_response("<s>What is 1 + 1?\\\\n2<|im_end|>", "What is 1 + 1?\\\\n")
        '2'
    """
    for asked in (prompt, prompt[-_PROMPT_TAIL:]):
        if (start := query.find(asked)) >= 0:
            break
    else:
        return ""
    response = query[start + len(asked) :].rstrip()
    for _ in range(_MAX_SPECIAL_TOKENS):
        token = _SPECIAL_TOKEN.fullmatch(response, max(response.rfind("<"), 0))
        if token is None:
            break
        response = response[: token.start()].rstrip()
    return response
