"""What the command prints: tables on standard output, progress on standard error and only where that is a terminal.

Text of models is shown without its control characters, which could move the cursor, recolour what follows or reverse
a line: each becomes one visible character, so that columns and carets stay where they were.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from rlvr_math_reward.scoring.checking import GoldCheck
from rlvr_math_reward.scoring.local import Summary
from rlvr_math_reward.scoring.peers import Comparison, Pair, Speed
from rlvr_math_reward.verdict import Outcome

__all__ = ["check_lines", "comparison_lines", "print_tables", "progress_bar", "summary_table", "visible"]

MAX_SHOWN = 160
"""Characters of a gold or a prediction in a list; golds of GSM8K and MATH are shorter."""
PIPED_WIDTH = 120
"""Columns where there is no terminal to ask."""


def visible(text: str, limit: int | None = None) -> str:
    """The text with a visible character in the place of each control character.

    Example:
        >>> visible("a\\x1b[31mb\\u202e")
        'a␛[31mb�'
    """
    if limit is not None and len(text) > limit:
        text = text[: limit - 1] + "…"
    return text if text.isprintable() else "".join(map(_visible_character, text))


def _visible_character(character: str) -> str:
    if character.isprintable():
        return character
    return chr(0x2400 + ord(character)) if ord(character) < 32 else "�"


def print_tables(*tables: Table) -> None:
    console = Console(width=None if sys.stdout.isatty() else PIPED_WIDTH, highlight=False)
    for table in tables:
        console.print(table)


@contextmanager
def progress_bar(what: str) -> Iterator[Callable[[int, float], None]]:
    """A function to be told the rows so far and the fraction done."""
    if not sys.stderr.isatty():
        yield lambda rows, fraction: None
        return
    columns = (
        TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TextColumn("{task.fields[rows]:,} rows"),
        TimeRemainingColumn(),
    )  # fmt: skip
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(what, total=1.0, rows=0)
        yield lambda rows, fraction: progress.update(task, completed=fraction, rows=rows)


def _table(title: str, name: str, *numbers: str) -> Table:
    """A table with a column of text and others of numbers."""
    table = Table(title=title, title_justify="left", title_style="bold")
    table.add_column(name, overflow="fold")
    for column in numbers:
        table.add_column(column, justify="right")
    return table


def summary_table(summary: Summary) -> Table:
    table = _table("Verdicts", "outcome", "rows", "share")
    for outcome in Outcome:
        count = summary.outcomes[outcome.value]
        if count:
            table.add_row(outcome.value, f"{count:,}", f"{count / summary.rows:.2%}")
    table.add_section()
    low, high = summary.interval
    table.add_row("accuracy", f"of {summary.graded:,}", f"{summary.accuracy:.2%}")
    table.add_row("95 % interval", "", f"{low:.2%} - {high:.2%}")
    table.add_section()
    resumed = f", {summary.resumed:,} from before" if summary.resumed else ""
    table.add_row("rate", f"{summary.rows:,} rows{resumed}", f"{summary.rate:,.0f} rows/s")
    return table


def check_lines(check: GoldCheck) -> tuple[list[str], Table]:
    """A line for each bad gold, which `grep` and editors can follow, one on a second column of golds, and the table."""
    lines = [f"{bad.file}:{bad.number}: {bad.reason}: {visible(bad.gold, MAX_SHOWN)!r}" for bad in check.bad]
    if check.bad_rows > len(check.bad):
        lines.append(f"... and {check.bad_rows - len(check.bad):,} more")
    if check.preferred is not None:
        both = f"the first row also has a gold in {check.preferred!r}; a trainer that passes on both columns is graded"
        lines.append(f"{both} against {check.preferred!r} first; --gold-column {check.preferred} checks that one")
    table = _table(f"Golds in column {visible(check.column)!r}", "kind", "rows", "share")
    table.add_column("for example", overflow="fold")
    for kind, rows in check.kinds.most_common():
        table.add_row(kind, f"{rows:,}", f"{rows / check.rows:.2%}", Text(visible(check.examples[kind], MAX_SHOWN)))
    if check.bad_rows:
        table.add_row("cannot be graded", f"{check.bad_rows:,}", f"{check.bad_rows / check.rows:.2%}", "")
    return lines, table


def comparison_lines(comparison: Comparison, other: str, limit: int) -> tuple[list[str], Table]:
    """The rows where the two differ, then some where they agree; and the table of all."""
    shown = [*comparison.disagreements, *comparison.agreements][:limit]
    lines = [line for pair in shown for line in _pair_lines(pair, other)]
    if len(comparison.disagreements) > limit:
        lines.append(f"... and {len(comparison.disagreements) - limit:,} more where they differ")
    counts = comparison.counts
    table = _table("Both opinions", "", f"{other}: correct", f"{other}: wrong")
    for ours in (True, False):
        name = "ours: correct" if ours else "ours: wrong"
        table.add_row(name, f"{counts[ours, True]:,}", f"{counts[ours, False]:,}")
    if comparison.left_out:
        table.caption = f"{comparison.left_out:,} rows left out: no other opinion, or a bad gold"
    return lines, table


def _pair_lines(pair: Pair, other: str) -> list[str]:
    verdict = pair.verdict
    theirs = "correct" if pair.theirs else "wrong"
    prediction = "none" if verdict.prediction is None else visible(verdict.prediction, MAX_SHOWN)
    return [
        f"{pair.place}: ours {verdict.outcome.value}, {other} {theirs}",
        f"    gold        {visible(verdict.gold, MAX_SHOWN)}",
        f"    prediction  {prediction}",
        f"    reason      {verdict.decided_by}: {visible(verdict.reason)}",
    ]


def speed_table(speeds: list[Speed]) -> Table:
    table = _table("Speed, one process", "verifier", "rows", "rows/s", "median", "99 %", "slowest", "ratio")
    slowest = min(speed.per_second for speed in speeds)
    for speed in speeds:
        table.add_row(
            speed.name, f"{speed.rows:,}", f"{speed.per_second:,.0f}", f"{speed.median_us:,.0f} µs",
            f"{speed.p99_us:,.0f} µs", f"{speed.slowest_ms:,.1f} ms", f"{speed.per_second / slowest:,.1f}",
        )  # fmt: skip
    return table
