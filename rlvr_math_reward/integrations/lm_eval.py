"""lm-evaluation-harness: `process_results` for the YAML of a task with `output_type: generate_until`.

    process_results: !function rlvr_math_reward.integrations.lm_eval.process_results
    metric_list:
      - {metric: math_accuracy, aggregation: mean, higher_is_better: true}

Leave answer-extracting filters out of the task: the whole generation is graded.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rlvr_math_reward.rewards import GOLD_COLUMNS, MathReward, accuracy_reward

__all__ = ["process_results"]

_QUESTION_COLUMNS = ("question", "problem", "prompt")


def process_results(
    doc: Mapping[str, object], results: Sequence[object], reward: MathReward = accuracy_reward
) -> dict[str, float]:
    """The mean reward of the generations for one document, as `math_accuracy`; empty for a bad gold.

    Args:
        doc: the document; its gold is the first of `GOLD_COLUMNS` that it has.
        results: the generation, or a list of generations of one document, as the only entry.
        reward: the policy and the scores.

    Raises:
        ValueError: the document has none of the gold columns.

    Example:
        >>> process_results({"question": "What is 2 + 2?", "answer": "#### 4"}, ["It is 4."])
        {'math_accuracy': 1.0}
    """
    golds = [doc[column] for column in GOLD_COLUMNS if doc.get(column) is not None]
    if not golds:
        raise ValueError(f"no gold in the document; expected one of {', '.join(GOLD_COLUMNS)}; found: {', '.join(doc)}")
    generations = [text for entry in results for text in ([entry] if isinstance(entry, str) else _listed(entry))]
    question = next((doc[column] for column in _QUESTION_COLUMNS if column in doc), None)
    count = len(generations)
    verdicts = reward.verdicts(generations, [golds[0]] * count, [question] * count)
    earned = [value for verdict in verdicts if (value := reward.scores.of(verdict)) is not None]
    return {"math_accuracy": sum(earned) / len(earned)} if earned else {}


def _listed(entry: object) -> Sequence[object]:
    return entry if isinstance(entry, Sequence) else [entry]
