"""Reading every gold of a dataset before GPU time is spent on it: its kind, whether it can be graded, and why not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from rlvr_math_reward.data import DATASET_GOLD_COLUMNS, pick_column
from rlvr_math_reward.files import Chunk, Record, Row
from rlvr_math_reward.golds import Gold, is_missing, read_gold, sources
from rlvr_math_reward.rewards import GOLD_COLUMNS

__all__ = ["BadRow", "GoldCheck", "check_golds"]

MAX_NAMED = 1_000
"""Bad golds that are named; a dataset with more of them is read by the wrong column, and their count says so."""


@dataclass(frozen=True, slots=True)
class BadRow:
    """A row whose completions would earn nothing.

    Attributes:
        file, unit, number: where it stands.
        gold: the gold as it was read, perhaps empty.
        reason: why it cannot be graded.
    """

    file: str
    unit: str
    number: int
    gold: str
    reason: str


@dataclass(slots=True)
class GoldCheck:
    """What the golds of a dataset are.

    Attributes:
        column: the column that was read.
        preferred: another column of the first row with a gold in it, which a reward that gets both grades against; or
            None.
        kinds: rows of each kind.
        examples: the first gold of each kind.
        bad: the rows that cannot be graded, the first `MAX_NAMED` of them.
        bad_rows: how many they are.
    """

    column: str = ""
    preferred: str | None = None
    kinds: Counter[str] = field(default_factory=Counter)
    examples: dict[str, str] = field(default_factory=dict)
    bad: list[BadRow] = field(default_factory=list)
    bad_rows: int = 0

    @property
    def rows(self) -> int:
        return self.kinds.total() + self.bad_rows

    def to_dict(self) -> dict[str, object]:
        """The check as plain JSON types."""
        bad = [{"file": b.file, b.unit: b.number, "gold": b.gold, "reason": b.reason} for b in self.bad]
        kinds = {kind: {"rows": rows, "example": self.examples[kind]} for kind, rows in self.kinds.most_common()}
        columns = {"column": self.column, "preferred_by_rewards": self.preferred}
        return {**columns, "rows": self.rows, "kinds": kinds, "bad_rows": self.bad_rows, "bad": bad}


def check_golds(
    chunks: Iterable[Chunk], column: str | None = None, progress: Callable[[int, float], None] = lambda rows, part: None
) -> GoldCheck:
    """Reads all golds.

    Args:
        chunks: the rows, from `data.read_source`.
        column: the column of the gold, or None for the first of `DATASET_GOLD_COLUMNS`. A later row without it is a
            bad one; of several accepted answers in a list, one that can be read is enough.
        progress: told the rows so far and the fraction of the input that has been read.

    Raises:
        DataError: no such column in the first row, or a line that cannot be read.

    Example:
        >>> found = check_golds([Chunk("f.csv", "line", [2, 3], [{"gold": "1/2"}, {"gold": ""}])])
        >>> found.kinds, found.bad[0].number, found.bad[0].reason
        (Counter({'scalar': 1}), 3, 'the gold is empty')
    """
    check = GoldCheck()
    for chunk in chunks:
        for record in chunk.records():
            if not check.rows:
                check.column = pick_column(record.place, record.row, column, DATASET_GOLD_COLUMNS, "gold")
                check.preferred = _preferred(record.row, check.column)
            _add(check, record, check.column)
        progress(check.rows, chunk.fraction)
    return check


def _preferred(row: Row, column: str) -> str | None:
    """The column that a reward reads instead, where a trainer passes it the whole row."""
    first = next((name for name in GOLD_COLUMNS if not is_missing(row.get(name))), column)
    return None if first == column else first


def _add(check: GoldCheck, record: Record, column: str) -> None:
    value = record.row.get(column)
    read = [read_gold(text) for text in sources(None if isinstance(value, dict) else value)]
    good = next((gold for gold in read if isinstance(gold, Gold)), None)
    if good is not None:
        check.kinds[good.kind] += 1
        check.examples.setdefault(good.kind, good.answer.text)
        return
    check.bad_rows += 1
    if len(check.bad) < MAX_NAMED:
        text, reason = next((gold.text, gold.reason) for gold in read if not isinstance(gold, Gold))
        if column not in record.row:
            reason = f"no column {column!r}"
        check.bad.append(BadRow(record.chunk.file, record.chunk.unit, record.number, text, reason))
