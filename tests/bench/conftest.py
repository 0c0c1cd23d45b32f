"""The table at the end of a run, and the columns of pytest-benchmark's own."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from measuring import Table

TABLE = Table()
sys.path.insert(0, str(Path(__file__).parent.parent))  # for `hostile`, which the tests of limits read as well


@pytest.fixture
def row() -> Callable[..., None]:
    """`row(section, columns, *values)` adds a line to the table at the end."""
    return TABLE.add


def pytest_configure(config: pytest.Config) -> None:
    """Of the columns of pytest-benchmark those that fit a terminal; the table for README comes after them."""
    config.option.benchmark_columns = ["median", "max", "rounds"]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    terminalreporter.section("for README")
    for line in TABLE.lines():
        terminalreporter.write_line(line)
