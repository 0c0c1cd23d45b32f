"""Reward functions for TRL and for any loop that calls `reward(completions=..., solution=...) -> list[float | None]`.

`accuracy_reward` and `shaped_reward` are ready instances, `MathReward` and `AsyncMathReward` take a policy and a table
of scores; `format_reward` lives in `formats`. What they keep to:

- one value a completion, always; `None` (TRL then leaves the row out) only for a gold that cannot be read, because
  `None` for part of a group would bias its advantages;
- text from a model never raises. What does raise is the caller's to mend: a table of scores that makes no sense
  (`ValueError` at construction), rows without a gold column, columns of another length than the completions
  (`ValueError` at the first call);
- no state but configuration, so they pickle, also into a spawned process.

The gold is never looked for in the prompt, and a reward never looks at a whole group: a rank may hold part of one.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import Final, TypeAlias
from weakref import WeakKeyDictionary

from rlvr_math_reward.completions import read_completion, read_prompt
from rlvr_math_reward.formats import FormatReward, format_reward, think_answer_format_reward
from rlvr_math_reward.golds import GoldSource, is_missing, sources
from rlvr_math_reward.grading import cache_hits, grade_batch
from rlvr_math_reward.policy import Policy
from rlvr_math_reward.symbolic import MAX_CHILDREN
from rlvr_math_reward.verdict import Outcome, Verdict

__all__ = [
    "GOLD_COLUMNS", "AsyncMathReward", "FormatReward", "MathReward", "Scores",
    "accuracy_reward", "async_accuracy_reward", "format_reward", "shaped_reward", "think_answer_format_reward",
]  # fmt: skip

logger = logging.getLogger(__name__)

LogExtra: TypeAlias = Callable[[str, list[str]], object]
LogMetric: TypeAlias = Callable[[str, float], object]

GOLD_COLUMNS: Final = ("solution", "answer", "ground_truth", "gold")
"""Columns that may hold the gold, the preferred first. A row takes the first that holds anything."""
MAX_SCORE: Final = 1e300
"""Largest reward: beyond it there are no floats."""
MAX_LOGGED_CHARS: Final = 500
"""Characters of one cell in the completions table. Golds of GSM8K and MATH stay under 160; a dumped answer may not."""
MAX_WARNED_GOLDS: Final = 1_000
"""Bad golds that are named in the log. A data set with more of them is the wrong column, and the log has said so."""


@dataclass(frozen=True, slots=True)
class Scores:
    """What each way a verdict can end earns. Any finite number, also below 0.

    Attributes:
        text: correct, the canonical strings are equal.
        exact: correct by exact arithmetic.
        numeric: correct within the policy's `rel_tol`; or equal to 50 digits at all sample points, where neither
            exact arithmetic nor SymPy could decide.
        symbolic: correct by the SymPy child.
        partial: the gold stands in the prediction; only a policy with `substring` gives this outcome.
        incorrect: another answer.
        no_answer: no answer stated.
        unparsable: an answer in no notation that can be read.
        undecided: neither equal nor different within the limits. Paying for it pays a policy for hiding.
        parts: what all the parts of an answer with several parts would earn; a wrong answer then earns its share of
            matching parts times this. 0 (off) pays nothing. An answer with too many parts never has a share.

    Raises:
        ValueError: an unknown name, or a value that is no finite number.

    Example:
        >>> Scores(symbolic=0.9, partial=0.25).partial
        0.25
        >>> Scores(partial=float("nan"))
        Traceback (most recent call last):
        ValueError: Scores.partial is nan; allowed: a finite number
    """

    text: float = 1.0
    exact: float = 1.0
    numeric: float = 1.0
    symbolic: float = 1.0
    partial: float = 0.5
    incorrect: float = 0.0
    no_answer: float = 0.0
    unparsable: float = 0.0
    undecided: float = 0.0
    parts: float = 0.0

    def __new__(cls, *values: float, **named: float) -> Scores:
        # A table that comes from YAML must name a misspelt rung, and __init__ would raise a bare TypeError.
        known = [field.name for field in fields(cls)]
        if unknown := [name for name in named if name not in known]:
            raise ValueError(f"Scores has no {unknown[0]!r}; allowed: {', '.join(known)}")
        return object.__new__(cls)

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= MAX_SCORE:
                raise ValueError(f"Scores.{field.name} is {value!r}; allowed: a finite number")
        if self.parts < 0:
            raise ValueError(f"Scores.parts is {self.parts!r}; allowed: a number of at least 0")

    def of(self, verdict: Verdict) -> float | None:
        """The reward for a verdict; None for a bad gold.

        Example:
            >>> from rlvr_math_reward import grade
            >>> Scores(exact=0.8).of(grade(r"\\boxed{2/4}", "1/2"))
            0.8
        """
        if verdict.outcome is Outcome.BAD_GOLD:
            return None
        earned = float(getattr(self, verdict.decided_by if verdict.correct else verdict.outcome.value))
        if verdict.correct or verdict.matched is None:
            return earned
        matching, parts = verdict.matched
        # All parts there and still not correct: something was added, and adding is how one hedges.
        return max(earned, self.parts * matching / parts) if 0 < matching < parts else earned


@dataclass(frozen=True, slots=True)
class _Batch:
    """Columns of one call, read: all of one length."""

    texts: list[str]
    golds: list[GoldSource]
    prompts: list[str | None]


@dataclass(frozen=True, slots=True)
class _Graded:
    verdicts: list[Verdict]
    cache_hits: int
    seconds: float


class _Reward:
    """What the plain and the asynchronous reward share: the configuration, and all but the waiting."""

    __name__: str

    def __init__(self, *, policy: Policy = Policy(), scores: Scores = Scores(), name: str | None = None) -> None:  # noqa: B008  (both frozen)
        for value, kind in ((policy, Policy), (scores, Scores)):
            if not isinstance(value, kind):
                raise ValueError(f"{type(self).__name__} was given {value!r}; allowed: an instance of {kind.__name__}")
        if name is not None and not (isinstance(name, str) and name.strip()):
            raise ValueError(f"name is {name!r}; allowed: a non-empty string, or None to derive one")
        self.policy = policy
        self.scores = scores
        self.__name__ = name if name is not None else _derived_name(policy, scores)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(policy={self.policy!r}, scores={self.scores!r}, name={self.__name__!r})"

    def verdicts(
        self, completions: Sequence[object], golds: Sequence[object], prompts: Sequence[object] | None = None
    ) -> list[Verdict]:
        """The verdicts that the rewards are made from; `reward.scores.of(verdict)` is the reward for one.

        Example:
            >>> [verdict.outcome.value for verdict in accuracy_reward.verdicts([r"\\boxed{2}", ""], [2, 2])]
            ['correct', 'no_answer']
        """
        columns: dict[str, object] = {"gold": golds}
        return self._grade(_read_batch(completions, prompts, columns)).verdicts

    def _grade(self, batch: _Batch) -> _Graded:
        started = time.perf_counter()
        hits = cache_hits()
        # A thread for each SymPy child: while one waits for a hard comparison, the rest of the batch goes on.
        verdicts = grade_batch(
            batch.texts, batch.golds, prompts=batch.prompts, policy=self.policy, workers=MAX_CHILDREN
        )
        return _Graded(verdicts, cache_hits() - hits, time.perf_counter() - started)

    def _finish(
        self, batch: _Batch, graded: _Graded, log_extra: LogExtra | None, log_metric: LogMetric | None
    ) -> list[float | None]:
        _warn_of_bad_golds(batch, graded.verdicts)
        if log_extra is not None:
            prefix = _column_prefix(log_extra, self.__name__)
            for column, cells in _table(graded.verdicts).items():
                log_extra(prefix + column, cells)
        if log_metric is not None:
            for metric, value in _metrics(graded).items():
                log_metric(f"{self.__name__}/{metric}", value)
        return [self.scores.of(verdict) for verdict in graded.verdicts]


class MathReward(_Reward):
    """A reward function with a policy, a table of scores and a name of its own.

    Args:
        policy: how answers are read and compared.
        scores: what each outcome earns.
        name: what the trainer logs it as; by default `math_reward` and the settings that differ from the defaults,
            since TRL silently merges the logs of two reward functions of one name.

    Example:
        >>> reward = MathReward(policy=Policy(rel_tol=1e-3), scores=Scores(numeric=0.75))
        >>> reward.__name__
        'math_reward_rel_tol_0.001_numeric_0.75'
        >>> reward(completions=[r"\\boxed{0.3333}", r"\\boxed{2}", "no idea"], solution=["1/3", "2", "2"])
        [0.75, 1.0, 0.0]
    """

    def __call__(
        self,
        completions: Sequence[object],
        prompts: Sequence[object] | None = None,
        *,
        log_extra: LogExtra | None = None,
        log_metric: LogMetric | None = None,
        **columns: object,
    ) -> list[float | None]:
        """Rewards for the completions of one call.

        Args:
            completions: strings, or lists of messages.
            prompts: of the same length, or None; only a completion that repeats its prompt needs them.
            log_extra: `(column, values)`: gets `gold`, `extracted`, `canonical`, `outcome`, `decided_by`. Beside
                another of these rewards in one trainer, the columns of all but the first start with `<name>/`.
            log_metric: `(name, value)`: gets `<name>/` and the share of each outcome, `cache_hits` (a completion)
                and `grading_ms` (a completion).
            columns: columns of the data set, one of `GOLD_COLUMNS` among them; the others are not looked at.

        Raises:
            ValueError: no gold column, or columns of another length than the completions.
        """
        batch = _read_batch(completions, prompts, columns)
        return self._finish(batch, self._grade(batch), log_extra, log_metric)


class AsyncMathReward(_Reward):
    """`MathReward` as a coroutine: grades in a worker thread, so that an event loop with other work stays free.

    Example:
        >>> asyncio.run(AsyncMathReward()(completions=[r"\\boxed{2}"], solution=["2"]))
        [1.0]
    """

    async def __call__(
        self,
        completions: Sequence[object],
        prompts: Sequence[object] | None = None,
        *,
        log_extra: LogExtra | None = None,
        log_metric: LogMetric | None = None,
        **columns: object,
    ) -> list[float | None]:
        """Rewards for the completions of one call; arguments and errors as in `MathReward`."""
        batch = _read_batch(completions, prompts, columns)
        if log_extra is not None:
            _column_prefix(log_extra, self.__name__)  # before any waiting, so that every rank gives the same names
        graded = await asyncio.to_thread(self._grade, batch)
        return self._finish(batch, graded, log_extra, log_metric)


def _accepted(value: object) -> GoldSource:
    """A gold as a column may hold it: one text, or the list of accepted ones; an empty text where there is none."""
    texts = sources(value)
    return texts[0] if len(texts) == 1 else texts


def _read_batch(completions: Sequence[object], prompts: Sequence[object] | None, columns: dict[str, object]) -> _Batch:
    if isinstance(completions, str):
        raise ValueError("completions is one string; expected a list of completions")
    texts = [read_completion(completion).text for completion in completions]
    present = [column for column in GOLD_COLUMNS if columns.get(column) is not None]
    if not present:
        found = ", ".join(sorted(columns)) or "none"
        raise ValueError(f"no gold column; expected one of {', '.join(GOLD_COLUMNS)}; columns found: {found}")
    held = [_check_length(column, columns[column], len(texts)) for column in present]
    golds = [next((value for value in row if not is_missing(value)), None) for row in zip(*held, strict=True)]
    asked = [None] * len(texts) if prompts is None else _check_length("prompts", prompts, len(texts))
    return _Batch(texts, [_accepted(gold) for gold in golds], [read_prompt(prompt) for prompt in asked])


def _check_length(column: str, values: object, count: int) -> Sequence[object]:
    values = values.tolist() if hasattr(values, "tolist") else values  # an array of numpy or torch
    if isinstance(values, str) or not isinstance(values, Sequence):
        raise ValueError(f"column {column!r} is a {type(values).__name__}; expected a list, one entry a completion")
    if len(values) != count:
        raise ValueError(f"column {column!r} has {len(values)} entries for {count} completions")
    return values


def _derived_name(policy: Policy, scores: Scores) -> str:
    changes = [
        f"{field.name}_{getattr(given, field.name)}"
        for given, default in ((policy, Policy()), (scores, Scores()))
        for field in fields(given)
        if getattr(given, field.name) != getattr(default, field.name)
    ]
    return "_".join(["math_reward", *changes])


# -- what the trainer's logs get -------------------------------------------------------------------------------------

_table_owners: WeakKeyDictionary[object, str] = WeakKeyDictionary()


def _column_prefix(log_extra: LogExtra, name: str) -> str:
    """Empty for the first reward that logs to a trainer, `<name>/` for others.

    TRL appends what two reward functions log under one column, and its table then shows whichever came last.
    """
    trainer = getattr(log_extra, "__self__", log_extra)
    try:
        owner = _table_owners.setdefault(trainer, name)
    except TypeError:  # the `__setitem__` of a plain dict, say, which can be neither hashed nor weakly held
        return ""
    return "" if owner == name else f"{name}/"


def _table(verdicts: list[Verdict]) -> dict[str, list[str]]:
    return {
        "gold": [_cell(verdict.gold) for verdict in verdicts],
        "extracted": [_cell(verdict.prediction) for verdict in verdicts],
        "canonical": [_cell(verdict.prediction_canonical) for verdict in verdicts],
        "outcome": [verdict.outcome.value for verdict in verdicts],
        "decided_by": [verdict.decided_by for verdict in verdicts],
    }


def _cell(text: str | None) -> str:
    """Text that every table format takes: a lone surrogate cannot be written to Parquet."""
    return (text or "")[:MAX_LOGGED_CHARS].encode("utf-8", "replace").decode("utf-8")


def _metrics(graded: _Graded) -> dict[str, float]:
    """The same keys at every call, also for an empty batch: TRL gathers them across ranks by name."""
    count = max(len(graded.verdicts), 1)
    shares = {o.value: sum(v.outcome is o for v in graded.verdicts) / count for o in Outcome}
    return {**shares, "cache_hits": graded.cache_hits / count, "grading_ms": 1000 * graded.seconds / count}


_warned_golds: set[str] = set()


def _warn_of_bad_golds(batch: _Batch, verdicts: list[Verdict]) -> None:
    for row, verdict in enumerate(verdicts):
        if verdict.outcome is not Outcome.BAD_GOLD or len(_warned_golds) >= MAX_WARNED_GOLDS:
            continue
        gold = repr(batch.golds[row])[:MAX_LOGGED_CHARS]
        if gold not in _warned_golds:
            _warned_golds.add(gold)
            logger.warning(
                "bad gold %s: %s; its completions get no reward (row %d of this call, prompt %r)",
                gold, verdict.reason, row, (batch.prompts[row] or "")[:MAX_LOGGED_CHARS],
            )  # fmt: skip


accuracy_reward: Final = MathReward(name="accuracy_reward")
"""1.0 for an answer that equals the gold exactly, else 0.0."""
async_accuracy_reward: Final = AsyncMathReward(name="async_accuracy_reward")
"""`accuracy_reward` as a coroutine."""
shaped_reward: Final = MathReward(policy=Policy(rel_tol=1e-4, substring="guarded"), name="shaped_reward")
"""1.0 for an equal answer, or one within a relative 1e-4; 0.5 where the gold stands alone in the answer; else 0.0."""
