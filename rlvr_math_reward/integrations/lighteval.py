"""lighteval: a sample-level metric for a custom task.

    from rlvr_math_reward.integrations.lighteval import math_accuracy
    LightevalTaskConfig(..., metrics=[math_accuracy()])

The signatures are those of lighteval 0.13.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from rlvr_math_reward.rewards import MathReward, accuracy_reward

if TYPE_CHECKING:
    from lighteval.metrics.utils.metric_utils import SampleLevelMetric  # type: ignore[import-not-found]

__all__ = ["compute", "math_accuracy"]


class DocLike(Protocol):
    """The part of `lighteval.tasks.requests.Doc` that is read."""

    query: str

    def get_golds(self) -> list[str]: ...


class ResponseLike(Protocol):
    """The part of `lighteval.models.model_output.ModelResponse` that is read."""

    @property
    def final_text(self) -> Sequence[str]: ...


def compute(doc: DocLike, model_response: ResponseLike, reward: MathReward = accuracy_reward) -> float:
    """The mean reward of the generations for one document. Several golds are alternatives; a bad gold earns 0.0."""
    texts = list(model_response.final_text)
    golds: list[object] = [doc.get_golds()] * len(texts)
    verdicts = reward.verdicts(texts, golds, [doc.query] * len(texts))
    return sum(reward.scores.of(verdict) or 0.0 for verdict in verdicts) / max(len(texts), 1)


def math_accuracy(reward: MathReward = accuracy_reward) -> SampleLevelMetric:
    """The metric, as an entry for `LightevalTaskConfig.metrics`."""
    import numpy
    from lighteval.metrics.metrics_sample import SampleLevelComputation  # type: ignore[import-not-found]
    from lighteval.metrics.utils.metric_utils import SampleLevelMetric
    from lighteval.tasks.requests import SamplingMethod  # type: ignore[import-not-found]

    class MathAccuracy(SampleLevelComputation):  # type: ignore[misc]  # untyped where lighteval is not installed
        def compute(self, doc: DocLike, model_response: ResponseLike, **_: object) -> float:
            return compute(doc, model_response, reward)

    return SampleLevelMetric(
        metric_name=reward.__name__,
        higher_is_better=True,
        category=SamplingMethod.GENERATIVE,
        sample_level_fn=MathAccuracy(),
        corpus_level_fn=numpy.mean,
    )
