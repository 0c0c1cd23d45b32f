"""A run as one HTML page: what was paid and why, from what the trainer logged.

The counts are those of the logged verdicts. Explanations and marked spans come from grading the shown completions once
more. The page asks for nothing outside itself, and everything that a model wrote is text on it: the template escapes
every value, control characters are made visible, and a content policy lets no script run but the page's own.
"""

from __future__ import annotations

import base64
import hashlib
import re
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from rlvr_math_reward.charts import Chart, Curve, lines, stacked
from rlvr_math_reward.files import DataError
from rlvr_math_reward.grading import grade
from rlvr_math_reward.policy import Policy
from rlvr_math_reward.rewards import shaped_reward
from rlvr_math_reward.suspicion import FALSE_REJECT, HACK, Suspicion, find_suspicions
from rlvr_math_reward.trainer_logs import LogEntry, Rollout, Run, read_run
from rlvr_math_reward.verdict import Outcome, Verdict

__all__ = ["write_report"]

MAX_ROWS = 1_500
"""Completions on the page: with 2 kB each it stays near 5 MB, which a browser opens at once."""
MAX_OF_A_CASE = 3
"""Rows shown of one suspected pair of answer and gold, or of one rejected form."""
MAX_FORMS = 20
"""Rejected forms, suspected cases, slow answers listed."""
SLOW_MS = 20.0
"""Milliseconds of grading from which an answer is listed as slow; nearly all take less than one."""
MAX_TEXT = 4_000
"""Characters shown of a completion or a prompt; the rest is left out of its middle."""
MAX_ANSWER = 160
"""Characters shown of an answer in a table."""
NEAR = 400
"""Characters shown around the marked answer of a long completion."""
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
REJECTED = (Outcome.INCORRECT.value, Outcome.UNPARSABLE.value, Outcome.NO_ANSWER.value, Outcome.UNDECIDED.value)


def write_report(run_dir: Path, out: Path | None = None) -> Path:
    """Write the page about a run.

    Args:
        run_dir: the `output_dir` of a run with `log_completions: true`, finished or not.
        out: where the page goes; by default `report.html` in `run_dir`.

    Returns:
        Where it went.

    Raises:
        DataError: the folder is no run's, or the page cannot be written.
    """
    page = _render(read_run(run_dir))
    out = run_dir / "report.html" if out is None else out
    try:
        out.write_text(page, encoding="utf-8")
    except OSError as error:
        raise DataError(f"{out}: cannot be written ({error.strerror})") from None
    return out


# -- what the page shows -------------------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class Row:
    """A completion in the table. `parts`: its text as (class, text), where the class is "", `mark` or `gap`."""

    number: int
    rollout: Rollout
    verdict: Verdict
    parts: Sequence[tuple[str, str]]
    milliseconds: float
    suspicion: Suspicion | None

    @property
    def explanation(self) -> str:
        return self.verdict.explain(self.rollout.completion)

    @property
    def graded_otherwise(self) -> bool:
        return self.verdict.outcome.value != self.rollout.outcome


@dataclass(frozen=True, slots=True)
class Case:
    """Rollouts that are alike: how many, why they are listed, one of them, and the rows that show some."""

    count: int
    why: str
    example: Rollout
    rows: Sequence[int]


@dataclass(frozen=True, slots=True)
class Figure:
    """A chart with its heading and a sentence on how to read it."""

    title: str
    note: str
    chart: Chart


@dataclass(frozen=True, slots=True)
class Count:
    """An outcome: how many, which share, and the shares in the first and the last tenth of the logged steps."""

    outcome: str
    count: int
    share: float
    first: float
    last: float


def _render(run: Run) -> str:
    suspicions = find_suspicions(run.rollouts)
    forms = _forms(run.rollouts)
    chosen = _chosen(run.rollouts, suspicions, forms)
    policy, policy_name = _policy(run)
    rows = [_row(number, run.rollouts[number], suspicions.get(number), policy) for number in chosen]
    shown = set(chosen)
    script = _asset("report.js")
    return _environment().get_template("report.html").render(
        run=run,
        rows=rows,
        outcomes={outcome.value: name for outcome, name in OUTCOMES.items()},
        counts=_counts(run.rollouts),
        suspects={kind: _suspects(run.rollouts, suspicions, kind, shown) for kind in (FALSE_REJECT, HACK)},
        suspected=Counter(suspicion.kind for suspicion in suspicions.values()),
        figures=[_reward_figure(run), _outcome_figure(run)],
        signals=_signal_figures(run),
        forms=[replace(case, rows=[n for n in case.rows if n in shown]) for case in forms],
        slow=_slow(rows),
        steps=(run.rollouts[0].step, run.rollouts[-1].step),
        policy_name=policy_name,
        style=Markup(_asset("report.css")),
        script=Markup(script),
        script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
    )  # fmt: skip


def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("rlvr_math_reward"), autoescape=True, undefined=StrictUndefined, finalize=_printable,
        trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    environment.filters |= {"number": _number, "share": _share, "short": _short}
    return environment


def _asset(name: str) -> str:
    return (Path(__file__).parent / "templates" / name).read_text(encoding="utf-8")


_SHOWN = {code: 0x2400 + code for code in range(32) if chr(code) not in "\n\t"} | {127: 0x2421}
_SHOWN |= dict.fromkeys(
    [*range(0x80, 0xA0), *range(0x202A, 0x202F), *range(0x2066, 0x206A), *range(0xD800, 0xE000)], 0xFFFD
)
"""Control characters, marks that turn the direction of the text around them, halves of surrogate pairs."""


def _printable(value: object) -> object:
    """What the page can hold, a character for a character, so that spans stay where they are."""
    return value.translate(_SHOWN) if isinstance(value, str) and not isinstance(value, Markup) else value


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3g}"


def _share(value: float) -> str:
    return f"{value:.1%}" if 0 < value < 0.1 or 0.9 < value < 1 else f"{value:.0%}"


def _short(text: str) -> str:
    squeezed = " ".join(text.split())
    return squeezed if len(squeezed) <= MAX_ANSWER else squeezed[: MAX_ANSWER - 1] + "…"


# -- rows --------------------------------------------------------------------------------------------------------------
def _policy(run: Run) -> tuple[Policy, str]:
    """The policy to grade by once more: that of `shaped_reward` where it logged the verdicts, else the default."""
    ours = next((name for name in run.reward_names if name in ("accuracy_reward", "shaped_reward")), "")
    return (shaped_reward.policy, "that of shaped_reward") if ours == "shaped_reward" else (Policy(), "the default one")


def _row(number: int, rollout: Rollout, suspicion: Suspicion | None, policy: Policy) -> Row:
    started = time.perf_counter()
    verdict = grade(rollout.completion, rollout.gold, prompt=rollout.prompt, policy=policy)
    milliseconds = 1000 * (time.perf_counter() - started)
    found = verdict.extraction
    return Row(
        number, rollout, verdict, _parts(rollout.completion, found.span if found else None), milliseconds, suspicion
    )


def _parts(text: str, span: tuple[int, int] | None) -> list[tuple[str, str]]:
    """The text with the span marked; of a long one its start, its end and what stands around the span."""
    start, end = span if span else (len(text), len(text))
    kept = [(0, MAX_TEXT // 2), (start - NEAR, end + NEAR), (len(text) - MAX_TEXT // 2, len(text))]
    if len(text) <= MAX_TEXT or end - start > MAX_TEXT:
        kept = [(0, len(text))] if len(text) <= MAX_TEXT else kept[::2]
    parts: list[tuple[str, str]] = []
    position = 0
    for first, last in kept:
        first, last = max(first, position), min(last, len(text))
        if first >= last:
            continue
        if first > position:
            parts.append(("gap", f"{first - position:,} characters left out"))
        inside = min(max(start, first), last), min(max(end, first), last)
        cut = (("", first, inside[0]), ("mark", *inside), ("", inside[1], last))
        parts += [(name, text[a:b]) for name, a, b in cut if a < b]
        position = last
    return parts


def _chosen(rollouts: Sequence[Rollout], suspicions: dict[int, Suspicion], forms: Sequence[Case]) -> list[int]:
    """The rows to show: some of each suspected case, what is rare, some of each form, and the rest evenly."""
    first: dict[int, None] = {}
    seen: Counter[tuple[object, ...]] = Counter()
    for index, suspicion in sorted(suspicions.items(), key=lambda item: item[1].rank):
        case = _case_key(rollouts[index], suspicion)
        seen[case] += 1
        if seen[case] <= MAX_OF_A_CASE:
            first[index] = None
    rare = (Outcome.UNDECIDED.value, Outcome.BAD_GOLD.value)
    first |= dict.fromkeys(n for n, r in enumerate(rollouts) if r.outcome in rare or r.decided_by == "symbolic")
    chosen = list(first)[: MAX_ROWS // 2] + [n for case in forms for n in case.rows]
    rest = max(1, MAX_ROWS - len(set(chosen)))
    size = max(1.0, len(rollouts) / rest)
    evenly = (int(size * place) for place in range(min(rest, len(rollouts))))
    return sorted({*chosen, *evenly})


def _case_key(rollout: Rollout, suspicion: Suspicion) -> tuple[object, ...]:
    return suspicion.kind, suspicion.rank, rollout.gold, rollout.extracted


def _suspects(rollouts: Sequence[Rollout], suspicions: dict[int, Suspicion], kind: str, shown: set[int]) -> list[Case]:
    """The suspected cases of a kind, the most telling rule first, then by how many rollouts they have."""
    members: dict[tuple[object, ...], list[int]] = defaultdict(list)
    for index, suspicion in suspicions.items():
        if suspicion.kind == kind:
            members[_case_key(rollouts[index], suspicion)].append(index)
    ordered = sorted(members.values(), key=lambda case: (suspicions[case[0]].rank, -len(case)))
    return [
        Case(len(case), suspicions[case[0]].reason, rollouts[case[0]], [n for n in case if n in shown][:MAX_OF_A_CASE])
        for case in ordered[:MAX_FORMS]
    ]


# -- tables ------------------------------------------------------------------------------------------------------------
def _counts(rollouts: Sequence[Rollout]) -> list[Count]:
    counts = Counter(rollout.outcome for rollout in rollouts)
    tenth = max(1, len(rollouts) // 10)
    first, last = (Counter(r.outcome for r in part) for part in (rollouts[:tenth], rollouts[-tenth:]))
    names = [*(outcome.value for outcome in OUTCOMES), *sorted(set(counts) - {outcome.value for outcome in OUTCOMES})]
    return [
        Count(name, counts[name], counts[name] / len(rollouts), first[name] / tenth, last[name] / tenth)
        for name in names
        if counts[name]
    ]


_DIGITS = re.compile(r"\d+")


def _forms(rollouts: Sequence[Rollout]) -> list[Case]:
    """The most frequent rejected answers, with every number read as `#`; without an answer, the last line counts."""
    members: dict[tuple[str, str], list[int]] = defaultdict(list)
    for index, rollout in enumerate(rollouts):
        if rollout.outcome in REJECTED:
            text = rollout.extracted or rollout.completion.rstrip().rpartition("\n")[2][-MAX_ANSWER:]
            members[rollout.outcome, _DIGITS.sub("#", _short(text))].append(index)
    ordered = sorted(members.items(), key=lambda item: -len(item[1]))[:MAX_FORMS]
    return [Case(len(case), form, rollouts[case[0]], case[:MAX_OF_A_CASE]) for (_, form), case in ordered]


def _slow(rows: Sequence[Row]) -> list[Row]:
    """Answers that could not be decided, and those that took long to grade, the slowest first."""
    distinct: dict[tuple[str, str], Row] = {}
    for row in sorted(rows, key=lambda row: -row.milliseconds):
        if row.rollout.outcome == Outcome.UNDECIDED.value or row.milliseconds >= SLOW_MS:
            distinct.setdefault((row.rollout.extracted, row.rollout.gold), row)
    return list(distinct.values())[:MAX_FORMS]


# -- curves ------------------------------------------------------------------------------------------------------------
def _by_step(run: Run, value: Callable[[Rollout], float | None]) -> dict[float, float]:
    """The mean of the logged completions of each step."""
    values: dict[float, list[float]] = defaultdict(list)
    for rollout in run.rollouts:
        found = value(rollout)
        if found is not None:
            values[rollout.step].append(found)
    return {step: sum(of_step) / len(of_step) for step, of_step in values.items()}


def _logged(log: Sequence[LogEntry], key: str) -> dict[float, float]:
    return {entry["step"]: entry[key] for entry in log if key in entry}


def _drawn(
    series: dict[str, tuple[str, dict[float, float]]], draw: Callable[[Sequence[float], Sequence[Curve]], Chart]
) -> Chart:
    """A chart of series (name -> colour key, step -> value) over all the steps that any of them has."""
    steps = sorted({step for _, values in series.values() for step in values}) or [0.0]
    return draw(steps, [Curve(n, key, [values.get(step) for step in steps]) for n, (key, values) in series.items()])


def _reward_figure(run: Run) -> Figure:
    series = {"reward": ("reward", _logged(run.log, "reward"))}
    if len(run.reward_names) > 1 or not series["reward"][1]:
        named = {
            name: _logged(run.log, f"rewards/{name}/mean") or _by_step(run, lambda r, name=name: r.rewards.get(name))  # type: ignore[misc]
            for name in run.reward_names
        }
        series |= {name: (f"reward-{place % 4}", values) for place, (name, values) in enumerate(named.items())}
    series = {name: found for name, found in series.items() if found[1]}
    note = (
        "Mean of the sampled completions, as the trainer logged it." if run.log else "Mean of the logged completions."
    )
    return Figure("Reward", note, _drawn(series, lambda steps, curves: lines(steps, curves, "{:.3g}".format)))


def _outcome_figure(run: Run) -> Figure:
    logged = next(
        (n for n in run.reward_names if any(f"{n}/{Outcome.CORRECT.value}" in entry for entry in run.log)), None
    )
    series = {}
    for outcome, name in OUTCOMES.items():
        if logged:
            values = _logged(run.log, f"{logged}/{outcome.value}")
        else:
            values = _by_step(run, lambda r, o=outcome.value: float(r.outcome == o))  # type: ignore[misc]
        if any(values.values()):
            series[name] = (outcome.value, values)
    note = "Share of each outcome among the sampled completions."
    return Figure("Outcomes", note, _drawn(series, lambda steps, curves: stacked(steps, curves, "{:.0%}".format)))


_SIGNALS: tuple[tuple[str, str, str, str], ...] = (
    ("completions/mean_length", "Length", "Mean tokens of a completion.", "{:.4g}"),
    ("completions/clipped_ratio", "Cut off", "Share that reached the length limit.", "{:.0%}"),
    (
        "frac_reward_zero_std",
        "Silent groups",
        "Share of groups in which all rewards are alike: they teach nothing.",
        "{:.0%}",
    ),
    ("entropy", "Entropy", "Mean over the sampled tokens; near 0 the model has stopped exploring.", "{:.3g}"),
    ("grad_norm", "Gradient", "Norm before clipping.", "{:.3g}"),
    ("grading_ms", "Grading", "Milliseconds a completion.", "{:.3g}"),
)
"""Key of the log (behind a reward's name, perhaps), heading, how to read it, format."""


def _signal_figures(run: Run) -> list[Figure]:
    figures = []
    for key, title, note, form in _SIGNALS:
        keys = (key, *(f"{name}/{key}" for name in run.reward_names))
        values = next((found for name in keys if (found := _logged(run.log, name))), None)
        if values:
            high = 1.0 if form == "{:.0%}" else 0.0
            chart = _drawn({title: ("signal", values)}, lambda s, c, f=form, h=high: lines(s, c, f.format, 0.0, h))  # type: ignore[misc]
            figures.append(Figure(title, note, chart))
    return figures
