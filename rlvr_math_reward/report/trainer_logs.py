"""What TRL leaves in a run's folder, read: `completions/*.parquet` and `trainer_state.json`.

A run that is still going, or was killed, has its state in the last checkpoint or nowhere, and may have a Parquet file
that is only half there: what can be read is read, the rest is named in `Run.unreadable`.

Errors: a folder that is no run's, or whose completions lack the verdict columns that `rewards` logs, is a `DataError`
that says what is missing and where. Importing this module loads no `pyarrow`.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from rlvr_math_reward.completions import read_completion, read_prompt
from rlvr_math_reward.files import DataError, load_pyarrow

__all__ = ["LogEntry", "Rollout", "Run", "read_run"]

LogEntry: TypeAlias = Mapping[str, float]

VERDICT_COLUMNS = ("gold", "extracted", "outcome", "decided_by")
"""Columns of the first of our rewards in a trainer; those of others start with its name and a slash."""
TRL_COLUMNS = frozenset(("step", "prompt", "completion", "advantage", "canonical", *VERDICT_COLUMNS))
"""Columns that are no reward."""


@dataclass(frozen=True, slots=True)
class Rollout:
    """One completion of a training step, as it was logged.

    Attributes:
        step: the step.
        prompt, completion: their texts.
        gold, extracted, outcome, decided_by: the verdict that the reward logged.
        rewards: reward function -> what it paid, None where it left the row out.
        advantage: its advantage in its group, or None.
    """

    step: int
    prompt: str
    completion: str
    gold: str
    extracted: str
    outcome: str
    decided_by: str
    rewards: Mapping[str, float | None]
    advantage: float | None


@dataclass(frozen=True, slots=True)
class Run:
    """A run as far as its folder tells.

    Attributes:
        folder: where it stands.
        rollouts: by step.
        files: how many files of completions were read.
        reward_names: in the order of the trainer.
        log: what the trainer logged, by step; empty where it has written no state yet.
        unreadable: files that could not be read, and why.
    """

    folder: Path
    rollouts: Sequence[Rollout]
    files: int
    reward_names: Sequence[str]
    log: Sequence[LogEntry]
    unreadable: Sequence[str]


def read_run(folder: Path) -> Run:
    """Read the folder that a run had as `output_dir`.

    Raises:
        DataError: see the head of the module.

    Example:
        >>> read_run(Path("/no/such/run"))
        Traceback (most recent call last):
        rlvr_math_reward.files.DataError: /no/such/run: no such folder; expected the output_dir of a training run
    """
    if not folder.is_dir():
        what = "not a folder" if folder.exists() else "no such folder"
        raise DataError(f"{folder}: {what}; expected the output_dir of a training run")
    tables, unreadable = _read_tables(folder)
    log, failed = _read_log(folder)
    names = _reward_names(tables, log)
    rollouts = [rollout for table in tables for rollout in _rollouts(table, names)]
    if not rollouts:
        raise DataError(f"{folder / 'completions'}: no completions in {len(tables)} files")
    return Run(folder, sorted(rollouts, key=lambda r: r.step), len(tables), names, log, [*unreadable, *failed])


# -- completions -------------------------------------------------------------------------------------------------------
Columns: TypeAlias = dict[str, list[object]]


def _read_tables(folder: Path) -> tuple[list[Columns], list[str]]:
    pyarrow = load_pyarrow(folder)
    paths = sorted((folder / "completions").glob("*.parquet"))
    if not paths:
        found = ", ".join(sorted(path.name for path in folder.iterdir())[:10]) or "nothing"
        raise DataError(
            f"{folder}: no completions/*.parquet, which a trainer with `log_completions: true` writes; "
            f"the folder holds {found}"
        )
    tables: list[Columns] = []
    unreadable = []
    for path in paths:
        try:
            table: Columns = pyarrow.parquet.read_table(path).to_pydict()
        except (pyarrow.ArrowException, OSError, ValueError) as error:
            unreadable.append(f"{path}: not read ({' '.join(str(error).split())[:120]})")
            continue
        missing = [column for column in ("step", "prompt", "completion", *VERDICT_COLUMNS) if column not in table]
        if missing:
            raise DataError(
                f"{path}: no column {', '.join(map(repr, missing))}; its columns: {', '.join(map(repr, table))}; "
                "a run that is paid by a reward of this package logs them"
            )
        tables.append(table)
    if not tables:
        raise DataError(unreadable[0])
    return tables, unreadable


def _reward_names(tables: Sequence[Columns], log: Sequence[LogEntry]) -> list[str]:
    """The columns that hold rewards. The log names them; without it every column of numbers is taken for one.

    A reward function may log numbers of its own beside the rewards, which are none.
    """
    logged = {key.removeprefix("rewards/").removesuffix("/mean") for entry in log for key in entry if _is_mean(key)}
    columns = dict.fromkeys(column for table in tables for column in table)
    if logged:
        return [column for column in columns if column in logged]
    return [column for column in columns if all(_may_be_reward(column, table.get(column, [])) for table in tables)]


def _is_mean(key: str) -> bool:
    return key.startswith("rewards/") and key.endswith("/mean")


def _may_be_reward(column: str, values: list[object]) -> bool:
    if column in TRL_COLUMNS or "/" in column:
        return False
    return all(value is None or isinstance(value, float | int) for value in values)


def _rollouts(table: Columns, names: Sequence[str]) -> list[Rollout]:
    count = len(table["step"])
    paid = {name: table.get(name, [None] * count) for name in names}
    advantages = table.get("advantage", [None] * count)
    rollouts = []
    for row in range(count):
        step = _number(table["step"][row])
        gold, extracted, outcome, decided_by = (str(table[name][row] or "") for name in VERDICT_COLUMNS)
        rewards = {name: _number(values[row]) for name, values in paid.items()}
        prompt, completion = read_prompt(table["prompt"][row]) or "", read_completion(table["completion"][row]).text
        rollouts.append(
            Rollout(
                step=int(step or 0),
                prompt=prompt,
                completion=completion,
                gold=gold,
                extracted=extracted,
                outcome=outcome,
                decided_by=decided_by,
                rewards=rewards,
                advantage=_number(advantages[row]),
            )
        )
    return rollouts


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return float(value)


# -- the log -----------------------------------------------------------------------------------------------------------
def _read_log(folder: Path) -> tuple[list[LogEntry], list[str]]:
    """The trainer's log, from the end of the run or else from its last checkpoint."""
    checkpoints = sorted(folder.glob("checkpoint-*/trainer_state.json"), key=_step_of, reverse=True)
    failed: list[str] = []
    for path in (folder / "trainer_state.json", *checkpoints):
        if not path.exists():
            continue
        try:
            history = json.loads(path.read_text(encoding="utf-8"))["log_history"]
            entries = [{key: number for key, value in entry.items() if (number := _number(value)) is not None}
                       for entry in history]  # fmt: skip
            return sorted((entry for entry in entries if "step" in entry), key=lambda entry: entry["step"]), failed
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            failed.append(f"{path}: not read ({type(error).__name__}: {' '.join(str(error).split())[:120]})")
    return [], failed


def _step_of(path: Path) -> int:
    number = path.parent.name.rpartition("-")[2]
    return int(number) if number.isdecimal() else -1
