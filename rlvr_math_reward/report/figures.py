"""The curves of a run: reward, outcomes, and the signals by which one sees that training goes wrong.

What the trainer logged comes first: it averages all completions, of which the files hold those of some steps only.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from rlvr_math_reward.report.charts import Chart, Curve, lines, stacked
from rlvr_math_reward.report.trainer_logs import LogEntry, Run
from rlvr_math_reward.verdict import Outcome

__all__ = ["OUTCOMES", "Figure", "outcome_figure", "reward_figure", "signal_figures"]

OUTCOMES: dict[Outcome, str] = {
    Outcome.CORRECT: "correct",
    Outcome.PARTIAL: "partial",
    Outcome.INCORRECT: "incorrect",
    Outcome.NO_ANSWER: "no answer",
    Outcome.UNPARSABLE: "not readable",
    Outcome.UNDECIDED: "undecided",
    Outcome.BAD_GOLD: "bad gold",
}
"""Every outcome and its name on the page."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A chart with its heading and a sentence on how to read it."""

    title: str
    note: str
    chart: Chart


def _by_step(run: Run, values: Sequence[float | None]) -> dict[float, float]:
    """The mean at each step of a value that each rollout has."""
    known: dict[float, list[float]] = defaultdict(list)
    for rollout, value in zip(run.rollouts, values, strict=True):
        if value is not None:
            known[rollout.step].append(value)
    return {step: sum(of_step) / len(of_step) for step, of_step in known.items()}


def _logged(log: Sequence[LogEntry], key: str) -> dict[float, float]:
    return {entry["step"]: entry[key] for entry in log if key in entry}


def _drawn(
    series: dict[str, tuple[str, dict[float, float]]], draw: Callable[[Sequence[float], Sequence[Curve]], Chart]
) -> Chart:
    """A chart of series (name -> colour key, step -> value) over all the steps that any of them has."""
    steps = sorted({step for _, values in series.values() for step in values}) or [0.0]
    return draw(steps, [Curve(n, key, [values.get(step) for step in steps]) for n, (key, values) in series.items()])


def reward_figure(run: Run) -> Figure:
    """The reward, and where there are several reward functions what each of them paid."""
    series = {"reward": ("reward", _logged(run.log, "reward"))}
    if len(run.reward_names) > 1 or not series["reward"][1]:
        for place, name in enumerate(run.reward_names):
            paid = _by_step(run, [rollout.rewards.get(name) for rollout in run.rollouts])
            series[name] = (f"reward-{place % 4}", _logged(run.log, f"rewards/{name}/mean") or paid)
    series = {name: found for name, found in series.items() if found[1]}
    chart = _drawn(series, partial(lines, show="{:.3g}".format))
    return Figure("Reward", "Mean of the sampled completions.", chart)


def outcome_figure(run: Run) -> Figure:
    """How the completions ended."""
    logged = next((name for name in run.reward_names if _logged(run.log, f"{name}/{Outcome.CORRECT.value}")), None)
    series = {}
    for outcome, name in OUTCOMES.items():
        if logged:
            values = _logged(run.log, f"{logged}/{outcome.value}")
        else:
            values = _by_step(run, [float(rollout.outcome == outcome.value) for rollout in run.rollouts])
        if any(values.values()):
            series[name] = (outcome.value, values)
    chart = _drawn(series, partial(stacked, show="{:.0%}".format))
    return Figure("Outcomes", "Share of each outcome among the sampled completions.", chart)


_SIGNALS: tuple[tuple[str, str, str, str], ...] = (
    ("completions/mean_length", "Length", "Mean tokens of a completion.", "{:.4g}"),
    ("completions/clipped_ratio", "Cut off", "Share that reached the length limit.", "{:.0%}"),
    ("frac_reward_zero_std", "Silent groups", "Share of groups whose rewards are alike: they teach nothing.", "{:.0%}"),
    ("entropy", "Entropy", "Mean over the sampled tokens; near 0 the model has stopped exploring.", "{:.3g}"),
    ("grad_norm", "Gradient", "Norm before clipping.", "{:.3g}"),
    ("grading_ms", "Grading", "Milliseconds a completion.", "{:.3g}"),
)
"""Key of the log (behind a reward's name, perhaps), heading, how to read it, format."""


def signal_figures(run: Run) -> list[Figure]:
    """One small figure for each signal that the trainer logged."""
    figures = []
    for key, title, note, form in _SIGNALS:
        keys = (key, *(f"{name}/{key}" for name in run.reward_names))
        values = next((found for name in keys if (found := _logged(run.log, name))), None)
        if values:
            draw = partial(lines, show=form.format, high=1.0 if form.endswith("%}") else 0.0)
            figures.append(Figure(title, note, _drawn({title: ("signal", values)}, draw)))
    return figures
