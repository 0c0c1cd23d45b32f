"""Curves over training steps as SVG paths, with the ticks and the readings that stand beside them.

Paths are drawn in a box of 1000 by 100 that the page stretches to its width; text stays outside of it, so that it
keeps its size in a narrow window. Nothing here knows what the curves mean.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

__all__ = ["Chart", "Curve", "Line", "Tick", "lines", "stacked"]

WIDTH, HEIGHT = 1000.0, 100.0
"""Units of the drawing."""
MAX_POINTS = 240
"""Points of a curve: more than one for every three pixels of a wide window cannot be seen."""


@dataclass(frozen=True, slots=True)
class Curve:
    """Values over the steps of a chart; None where nothing was logged. `key` names its colour in the style sheet."""

    name: str
    key: str
    values: Sequence[float | None]


@dataclass(frozen=True, slots=True)
class Line:
    """A drawn curve: its name, colour key, path and last value as text."""

    name: str
    key: str
    path: str
    last: str


@dataclass(frozen=True, slots=True)
class Tick:
    """A mark on an axis: where (percent from the left or from the top), and its label."""

    at: float
    label: str


@dataclass(frozen=True, slots=True)
class Chart:
    """What the page draws. `readings`: JSON of what the pointer reads off: steps, names and texts by point."""

    lines: Sequence[Line]
    filled: bool
    x: Sequence[Tick]
    y: Sequence[Tick]
    readings: str


Show = Callable[[float], str]


def lines(steps: Sequence[float], curves: Sequence[Curve], show: Show, low: float = 0.0, high: float = 1.0) -> Chart:
    """Curves beside each other. The axis holds `low` and `high` and grows to hold the values.

    Example:
        >>> chart = lines([0, 10], [Curve("reward", "reward", [0.0, 1.0])], "{:.1f}".format)
        >>> chart.lines[0].path, [tick.label for tick in chart.y]
        ('M0 100L1000 0', ['0.0', '0.5', '1.0'])
    """
    steps, curves = _thinned(steps, curves)
    values = [value for curve in curves for value in curve.values if value is not None]
    marks = _marks(min([low, *values]), max([high, *values]))
    xs, values_of = _spread(steps)

    def height(value: float) -> float:
        return HEIGHT * (marks[-1] - value) / (marks[-1] - marks[0])

    drawn = [Line(c.name, c.key, _path(xs, [None if v is None else height(v) for v in values_of(c)]), _last(c, show))
             for c in curves]  # fmt: skip
    return Chart(
        drawn, False, _x_ticks(steps), [Tick(height(m), show(m)) for m in marks], _readings(steps, curves, show)
    )


def stacked(steps: Sequence[float], curves: Sequence[Curve], show: Show) -> Chart:
    """Shares of a whole on top of each other, the first at the bottom; a missing value is 0."""
    steps, curves = _thinned(steps, curves)
    xs, values_of = _spread(steps)
    below = [0.0] * len(xs)
    drawn = []
    for curve in curves:
        above = [base + (value or 0.0) for base, value in zip(below, values_of(curve), strict=True)]
        edge = [(x, HEIGHT * (1 - min(top, 1.0))) for x, top in zip(xs, above, strict=True)]
        back = [(x, HEIGHT * (1 - min(base, 1.0))) for x, base in zip(xs, below, strict=True)]
        drawn.append(Line(curve.name, curve.key, _joined([*edge, *reversed(back)]) + "Z", _last(curve, show)))
        below = above
    marks = [Tick(HEIGHT * (1 - share), show(share)) for share in (0.0, 0.5, 1.0)]
    return Chart(drawn, True, _x_ticks(steps), marks, _readings(steps, curves, show))


def _thinned(steps: Sequence[float], curves: Sequence[Curve]) -> tuple[Sequence[float], Sequence[Curve]]:
    """At most `MAX_POINTS` points, each the mean of its neighbours."""
    size = math.ceil(len(steps) / MAX_POINTS)
    if size < 2:
        return steps, curves
    starts = range(0, len(steps), size)
    return (
        [steps[min(start + size, len(steps)) - 1] for start in starts],
        [Curve(c.name, c.key, [_mean(c.values[start : start + size]) for start in starts]) for c in curves],
    )


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def _positions(steps: Sequence[float]) -> list[float]:
    first, span = steps[0], steps[-1] - steps[0]
    return [WIDTH * (step - first) / span if span else WIDTH / 2 for step in steps]


def _spread(steps: Sequence[float]) -> tuple[list[float], Callable[[Curve], Sequence[float | None]]]:
    """Where the points stand, and the values of a curve there. An only step is drawn over the whole width."""
    if len(steps) == 1:
        return [0.0, WIDTH], lambda curve: [*curve.values, *curve.values]
    return _positions(steps), lambda curve: curve.values


def _path(xs: Sequence[float], ys: Sequence[float | None]) -> str:
    """A line through the points, broken where one is missing; a point alone is a dot."""
    parts: list[list[tuple[float, float]]] = [[]]
    for x, y in zip(xs, ys, strict=True):
        if y is not None:
            parts[-1].append((x, y))
        elif parts[-1]:
            parts.append([])
    return "".join(_joined(part) + ("h.01" if len(part) == 1 else "") for part in parts if part)


def _joined(points: Sequence[tuple[float, float]]) -> str:
    return "M" + "L".join(f"{round(x, 1):g} {round(y, 2):g}" for x, y in points)


def _marks(low: float, high: float, parts: int = 3) -> list[float]:
    """Round numbers about `parts` steps apart; the first is at most `low` and the last at least `high`."""
    rough = (high - low) / parts or 1.0
    unit = 10.0 ** math.floor(math.log10(rough))
    step = next(unit * factor for factor in (1, 2, 2.5, 5, 10) if unit * factor >= rough)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [step * number for number in range(first, max(last, first + 1) + 1)]


def _x_ticks(steps: Sequence[float]) -> list[Tick]:
    """Round steps within the run, or its only step. A step is a whole number."""
    first, span = steps[0], steps[-1] - steps[0]
    if not span:
        return [Tick(50.0, f"{first:g}")]
    inside = (mark for mark in _marks(first, steps[-1], 5) if first <= mark <= steps[-1] and mark == round(mark))
    return [Tick(100 * (mark - first) / span, f"{mark:g}") for mark in inside]


def _last(curve: Curve, show: Show) -> str:
    known = [value for value in curve.values if value is not None]
    return show(known[-1]) if known else "–"


def _readings(steps: Sequence[float], curves: Sequence[Curve], show: Show) -> str:
    xs = _positions(steps)
    return json.dumps({
        "at": [round(x / WIDTH, 4) for x in xs],
        "steps": [f"{step:g}" for step in steps],
        "curves": [
            {"name": c.name, "key": c.key, "texts": ["–" if v is None else show(v) for v in c.values]} for c in curves
        ],
    })  # fmt: skip
