r"""Evaluation: several completions a problem -> accuracy, pass@k, maj@k, each with what it was counted from.

The verdicts come from the reward object that trains, so that a curve of training and an accuracy afterwards mean the
same. Problems whose gold cannot be read count as outcomes and nowhere else: about them nothing can be right or wrong.

Not covered: generation (`recipes/evaluate.py`) and files too large for memory (`scoring`).
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from rlvr_math_reward.completions import read_completion, read_prompt
from rlvr_math_reward.data import DATASET_GOLD_COLUMNS, KEPT_COLUMNS, QUESTION_COLUMNS, Problem, pick_column
from rlvr_math_reward.files import DataError, Row
from rlvr_math_reward.grading import verify
from rlvr_math_reward.policy import Policy
from rlvr_math_reward.rewards import MathReward, accuracy_reward
from rlvr_math_reward.scoring.local import COMPLETION_COLUMNS, wilson_interval
from rlvr_math_reward.verdict import Outcome, Verdict

__all__ = [
    "Disagreement", "Evaluation", "Sampled", "Share", "Vote",
    "evaluate", "group_rows", "pass_at_k", "to_row", "vote",
]  # fmt: skip

MAX_DISAGREEMENTS = 100
"""Disagreements that a result lists. They are for reading, and come with the largest majorities first."""
MAX_SHOWN_CHARS = 60
"""Characters of an answer in the table."""


@dataclass(frozen=True, slots=True)
class Sampled:
    """A problem and the completions that were sampled for it.

    Attributes:
        gold: the gold as the dataset has it, or a list of accepted ones.
        completions: texts, or lists of messages.
        prompt: the problem as the model saw it, text or messages; None where it is not known.
        extras: values by which accuracy is also reported, e.g. `{"level": 5, "subject": "Algebra"}`.
    """

    gold: object
    completions: Sequence[object]
    prompt: object = None
    extras: Mapping[str, object] = field(default_factory=dict)


# -- estimates ---------------------------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class Share:
    """A share with its 95 % confidence interval (Wilson's).

    Attributes:
        value, low, high: between 0 and 1; `value` is NaN where nothing was counted.
        count: what was counted, problems or completions.
    """

    value: float
    low: float
    high: float
    count: int

    def to_dict(self) -> dict[str, object]:
        value = None if math.isnan(self.value) else self.value
        return {"value": value, "interval_95": [self.low, self.high], "count": self.count}

    def __str__(self) -> str:
        if math.isnan(self.value):
            return "none"
        return f"{self.value:7.1%}  {self.low:7.1%} to {self.high:6.1%}  of {self.count:,}"


def pass_at_k(count: int, correct: int, k: int) -> float:
    """Probability that one of k completions is correct, unbiased, from `count` completions of one problem.

    Source: Chen et al., "Evaluating Large Language Models Trained on Code" (2021), equation 1.

    Raises:
        ValueError: k is not between 1 and the count.

    Example:
        >>> pass_at_k(4, 1, 1), pass_at_k(4, 1, 2), pass_at_k(4, 3, 2)
        (0.25, 0.5, 1.0)
    """
    if not 1 <= k <= count:
        raise ValueError(f"k is {k}; allowed: 1 to {count}, the completions of a problem")
    return 1 - math.comb(count - correct, k) / math.comb(count, k)


def _share(correct: Sequence[float], each: Sequence[int]) -> Share:
    """The accuracy of completions, from the correct ones and the count of each problem.

    Completions of one problem are no independent draws: where a problem has several, the interval is that of the
    effective sample size, which lies between the number of problems and that of completions.
    """
    count, total = len(each), sum(each)
    if not total:
        return Share(math.nan, 0.0, 1.0, 0)
    value = sum(correct) / total
    size = float(total)
    if total > count > 1 and 0 < value < 1:
        # The variance of a ratio of two sums, by linearisation: what a cluster adds beyond its share.
        spread = sum((c - value * n) ** 2 for c, n in zip(correct, each, strict=True))
        variance = spread * count / (count - 1) / total**2
        size = min(max(value * (1 - value) / variance if variance else total, count), total)
    elif total > count:
        size = float(count)
    return Share(value, *wilson_interval(value * size, size), total)


# -- votes -------------------------------------------------------------------------------------------------------------
@dataclass(slots=True)
class Vote:
    """Completions of one problem that give the same answer.

    Attributes:
        answer: the answer as the first of them wrote it.
        correct: the verdict on that first one.
        votes: how many they are.
    """

    answer: str
    correct: bool
    votes: int = 1


def vote(verdicts: Iterable[Verdict], policy: Policy = Policy()) -> list[Vote]:  # noqa: B008  (frozen)
    """The answers of one problem, with equal ones together; the most frequent first, then as they came.

    Two answers are the same when `verify` says so of the later one with the first one for its gold, so `1/2` and
    `0.5` vote together. A completion without an answer has no vote.

    Example:
        >>> from rlvr_math_reward import grade
        >>> vote([grade(text, "0.5") for text in ("#### 3", "#### 1/2", "no idea", "#### 0.50")])
        [Vote(answer='1/2', correct=True, votes=2), Vote(answer='3', correct=False, votes=1)]
    """
    groups: list[Vote] = []
    of_text: dict[str, Vote] = {}
    for verdict in verdicts:
        if verdict.prediction is None:
            continue
        text = verdict.prediction_canonical or verdict.prediction
        group = of_text.get(text)
        if group is None and verdict.prediction_canonical is not None:
            group = next((group for group in groups if verify(verdict.prediction, group.answer, policy=policy)), None)
        if group is None:
            group = Vote(verdict.prediction, verdict.correct, 0)
            groups.append(group)
        of_text[text] = group
        group.votes += 1
    return sorted(groups, key=lambda group: -group.votes)


def _elected(votes: Sequence[Vote]) -> float:
    """Whether the majority is right; of answers that tie, the share that is."""
    tied = [group.correct for group in votes if group.votes == votes[0].votes]
    return sum(tied) / len(tied) if tied else 0.0


@dataclass(frozen=True, slots=True)
class Disagreement:
    """Most completions of a problem agree with each other and not with the gold: look at the gold, or at the verdict.

    Attributes:
        problem: its index.
        answer: what they say.
        votes, completions: how many say so, and of how many.
        gold: the gold as it was read.
    """

    problem: int
    answer: str
    votes: int
    completions: int
    gold: str


# -- the evaluation ----------------------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class Evaluation:
    """What came out.

    Attributes:
        problems, completions: how many there were, those with a bad gold among them.
        accuracy: of the completions.
        pass_at: k -> the chance that one of k completions is correct.
        maj_at: k -> how often the most frequent answer of the first k completions is correct.
        by: column -> value -> accuracy of the completions.
        outcomes: outcome -> completions.
        disagreements: problems whose majority is against the gold.
    """

    problems: int
    completions: int
    accuracy: Share
    pass_at: Mapping[int, float]
    maj_at: Mapping[int, Share]
    by: Mapping[str, Mapping[str, Share]]
    outcomes: Mapping[str, int]
    disagreements: Sequence[Disagreement]

    def to_dict(self) -> dict[str, object]:
        """The evaluation as plain JSON types."""
        return {
            "problems": self.problems,
            "completions": self.completions,
            "accuracy": self.accuracy.to_dict(),
            "pass_at": {str(k): value for k, value in self.pass_at.items()},
            "maj_at": {str(k): share.to_dict() for k, share in self.maj_at.items()},
            "by": {column: {name: s.to_dict() for name, s in shares.items()} for column, shares in self.by.items()},
            "outcomes": dict(self.outcomes),
            "disagreements": [
                {name: getattr(found, name) for name in Disagreement.__slots__} for found in self.disagreements
            ],
        }

    def table(self) -> str:
        """The evaluation as plain text."""
        lines = [f"{self.problems:,} problems, {self.completions:,} completions", ""]
        lines += [f"{'':<26}  share   95 % interval", f"{'accuracy':<24}{self.accuracy}"]
        lines += [f"{f'pass@{k}':<24}{value:7.1%}" for k, value in self.pass_at.items() if k > 1]
        lines += [f"{f'maj@{k}':<24}{share}" for k, share in self.maj_at.items()]
        for column, shares in self.by.items():
            lines += ["", column, *(f"  {name[:21]:<22}{share}" for name, share in shares.items())]
        lines += ["", "outcome"]
        lines += [f"  {name:<22}{n / self.completions:7.1%}  {n:,}" for name, n in self.outcomes.items() if n]
        if self.disagreements:
            lines += ["", "most completions agree, and not with the gold"]
            lines += [f"  {_line_of(found)}" for found in self.disagreements]
        return "\n".join(line.rstrip() for line in lines)


def _line_of(found: Disagreement) -> str:
    answer, gold = (" ".join(text.split())[:MAX_SHOWN_CHARS] for text in (found.answer, found.gold))
    return f"problem {found.problem}: {found.votes} of {found.completions} say {answer}, the gold is {gold}"


def evaluate(problems: Sequence[Sampled], reward: MathReward = accuracy_reward) -> Evaluation:
    """Grades all completions, and counts.

    Args:
        problems: with one completion each or several.
        reward: whose verdicts count; a run that trained with a policy of its own is evaluated with that reward.

    Raises:
        ValueError: no problem, or one without a completion.

    Example:
        >>> result = evaluate([Sampled("4", ["#### 4", "#### 5"]), Sampled("1/2", ["#### 0.5", "#### 1/2"])])
        >>> result.accuracy.value, result.pass_at, result.maj_at[2].value
        (0.75, {1: 0.75, 2: 1.0}, 0.75)
    """
    if not problems or not all(problem.completions for problem in problems):
        raise ValueError("nothing to evaluate: no problems, or one without a completion")
    verdicts = _graded(problems, reward)
    outcomes = Counter(verdict.outcome.value for group in verdicts for verdict in group)
    kept = [n for n, group in enumerate(verdicts) if group[0].outcome is not Outcome.BAD_GOLD]
    each = [len(verdicts[n]) for n in kept]
    correct = [sum(verdict.correct for verdict in verdicts[n]) for n in kept]
    sizes = _sizes(min(each, default=1))
    maj_at = {k: [_elected(vote(verdicts[n][:k], reward.policy)) for n in kept] for k in sizes[1:]}
    return Evaluation(
        len(problems),
        outcomes.total(),
        _share(correct, each),
        {k: sum(map(pass_at_k, each, correct, [k] * len(each))) / len(each) for k in sizes if each},
        {k: _share(right, [1] * len(right)) for k, right in maj_at.items()},
        _by_column([problems[n] for n in kept], correct, each),
        {outcome.value: outcomes[outcome.value] for outcome in Outcome},
        _disagreements([(n, verdicts[n]) for n in kept], reward.policy),
    )


def _graded(problems: Sequence[Sampled], reward: MathReward) -> list[list[Verdict]]:
    rows = [(completion, problem) for problem in problems for completion in problem.completions]
    flat = iter(
        reward.verdicts(
            [completion for completion, _ in rows],
            [problem.gold for _, problem in rows],
            [problem.prompt for _, problem in rows],
        )
    )
    return [[next(flat) for _ in problem.completions] for problem in problems]


def _sizes(largest: int) -> list[int]:
    """1, 2, 4, ... up to the completions that each problem has, and that number itself."""
    return sorted({2**power for power in range(largest.bit_length())} | {largest})


def _by_column(problems: Sequence[Sampled], correct: Sequence[int], each: Sequence[int]) -> dict[str, dict[str, Share]]:
    found: dict[str, dict[str, list[int]]] = {}
    for index, problem in enumerate(problems):
        for column, value in problem.extras.items():
            found.setdefault(column, {}).setdefault(str(value), []).append(index)
    return {
        column: {
            name: _share([correct[n] for n in rows[name]], [each[n] for n in rows[name]])
            for name in sorted(rows, key=_natural)
        }
        for column, rows in found.items()
    }


def _natural(name: str) -> list[object]:
    """`Level 2` before `Level 10`."""
    return [int(part) if part.isdecimal() else part for part in re.split(r"(\d+)", name)]


def _disagreements(graded: Sequence[tuple[int, Sequence[Verdict]]], policy: Policy) -> list[Disagreement]:
    found = []
    for index, verdicts in graded:
        votes = vote(verdicts, policy) if len(verdicts) > 2 and not all(v.correct for v in verdicts) else []
        if votes and not votes[0].correct and 2 * votes[0].votes > len(verdicts):
            found.append(Disagreement(index, votes[0].answer, votes[0].votes, len(verdicts), verdicts[0].gold))
    return sorted(found, key=lambda one: -one.votes / one.completions)[:MAX_DISAGREEMENTS]


# -- rows --------------------------------------------------------------------------------------------------------------
def group_rows(rows: Sequence[Row], name: str, gold_column: str | None = None) -> list[Sampled]:
    """Rows of completions as problems: rows with the same question and gold belong to one problem.

    Args:
        rows: each with a completion, a gold and, where it is known, the question.
        name: of the file, for messages.
        gold_column: the column of the gold, or None for the first of `DATASET_GOLD_COLUMNS`.

    Raises:
        DataError: no rows, or one without a column for its completion or gold.

    Example:
        >>> rows = [{"question": "1 + 1?", "gold": "2", "completion": text} for text in ("#### 2", "#### 3")]
        >>> [len(problem.completions) for problem in group_rows(rows, "rows")]
        [2]
    """
    if not rows:
        raise DataError(f"{name}: no rows")
    asked = gold_column or pick_column(name, rows[0], None, DATASET_GOLD_COLUMNS, "gold")
    answered = pick_column(name, rows[0], None, COMPLETION_COLUMNS, "completion")
    problems: dict[str, tuple[Row, list[str]]] = {}
    for number, row in enumerate(rows, 1):
        for column in (asked, answered):
            pick_column(f"{name}, row {number}", row, column, (), "completion or gold")
        # Without a question, nothing says that two rows belong together.
        key = json.dumps([_question(row) or number, row[asked]], default=str)
        problems.setdefault(key, (row, []))[1].append(read_completion(row[answered]).text)
    return [
        Sampled(row[asked], texts, _question(row), {column: row[column] for column in KEPT_COLUMNS if column in row})
        for row, texts in problems.values()
    ]


def to_row(problem: Problem, prompt: object, completion: str, verdict: Verdict) -> Row:
    """A completion with its verdict, as `group_rows` and `scoring` read it.

    Example:
        >>> from rlvr_math_reward import grade
        >>> row = to_row(Problem("1 + 1?", "2", {"level": 1}), "1 + 1?", "#### 2", grade("#### 2", "2"))
        >>> row["completion"], row["level"], row["verdict_outcome"]
        ('#### 2', 1, 'correct')
    """
    judged = {"verdict_" + name: value for name, value in verdict.to_dict().items()}
    return {"prompt": prompt, "gold": problem.gold, "completion": completion, **problem.extras, **judged}


def _question(row: Row) -> str | None:
    return read_prompt(next((row[column] for column in QUESTION_COLUMNS if column in row), None))
