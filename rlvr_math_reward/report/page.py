"""A run as one HTML page: what was paid and why, from what the trainer logged.

The counts are those of the logged verdicts. Explanations and marked spans come from grading the shown completions once
more. The page asks for nothing outside itself, and everything that a model wrote is text on it: the template escapes
every value, control characters are made visible, and a content policy lets no script run but the page's own.
"""

from __future__ import annotations

import base64
import hashlib
import math
import re
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from rlvr_math_reward.files import DataError
from rlvr_math_reward.grading import grade
from rlvr_math_reward.policy import Policy
from rlvr_math_reward.report.figures import OUTCOMES, outcome_figure, reward_figure, signal_figures
from rlvr_math_reward.report.suspicion import FALSE_REJECT, HACK, Suspicion, find_suspicions
from rlvr_math_reward.report.trainer_logs import Rollout, Run, read_run
from rlvr_math_reward.rewards import shaped_reward
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
REJECTED = (Outcome.INCORRECT.value, Outcome.UNPARSABLE.value, Outcome.NO_ANSWER.value, Outcome.UNDECIDED.value)


def write_report(run_dir: Path, out: Path | None = None, policy: Policy | None = None) -> Path:
    """Write the page about a run.

    Args:
        run_dir: the `output_dir` of a run with `log_completions: true`, finished or not.
        out: where the page goes; by default `report.html` in `run_dir`.
        policy: what completions are graded by once more. It should be the run's, which its folder does not tell: by
            another one, what the run's refuses is shown as rejected wrongly, and what it allows as a trick. By
            default that of `shaped_reward` where it logged the verdicts, else the default policy.

    Returns:
        Where it went.

    Raises:
        DataError: the folder is no run's, or the page cannot be written.
    """
    run = read_run(run_dir)
    page = _render(run, *_named(policy, run))
    out = run_dir / "report.html" if out is None else out
    try:
        out.write_text(page, encoding="utf-8")
    except OSError as error:
        raise DataError(f"{out}: cannot be written ({error.strerror})") from None
    return out


# -- what the page shows -----------------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class Row:
    """A completion in the table. `parts`: its text as (class, text), where the class is "", `mark` or `gap`."""

    number: int
    group: int
    rollout: Rollout
    verdict: Verdict
    parts: Sequence[tuple[str, str]]
    milliseconds: float
    suspicion: Suspicion | None

    @property
    def explanation(self) -> str:
        return self.verdict.explain(self.rollout.completion)

    @property
    def last_line(self) -> str:
        return _last_line(self.rollout.completion)

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
class Count:
    """An outcome: how many, which share, and the shares in the first and the last tenth of the logged steps."""

    outcome: str
    count: int
    share: float
    first: float
    last: float


def _render(run: Run, policy: Policy, policy_name: str) -> str:
    suspicions = find_suspicions(run.rollouts, policy)
    forms = _forms(run.rollouts)
    groups = _groups(run.rollouts)
    chosen = _chosen(run.rollouts, groups, suspicions, forms)
    group_of = {n: place for place, members in enumerate(groups) for n in members}
    rows = _rows(run, policy, chosen, suspicions, group_of)
    shown = set(chosen)
    script = _asset("report.js")
    return _environment().get_template("report.html").render(
        run=run,
        rows=rows,
        outcomes={outcome.value: name for outcome, name in OUTCOMES.items()},
        counts=_counts(run.rollouts),
        suspects={kind: _suspects(run.rollouts, suspicions, kind, shown) for kind in (FALSE_REJECT, HACK)},
        suspected=Counter(suspicion.kind for suspicion in suspicions.values()),
        figures=[reward_figure(run), outcome_figure(run)],
        signals=signal_figures(run),
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
        loader=PackageLoader("rlvr_math_reward.report"), autoescape=True, undefined=StrictUndefined,
        finalize=_printable,
        trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    environment.filters |= {"number": _number, "signed": _signed, "share": _share, "short": _short}
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


def _signed(value: float | None) -> str:
    return "–" if value is None else f"{value:+.2f}".replace("-", "−")


def _share(value: float) -> str:
    return f"{value:.1%}" if 0 < value < 0.1 or 0.9 < value < 1 else f"{value:.0%}"


def _last_line(text: str) -> str:
    return text.rstrip().rpartition("\n")[2][-MAX_ANSWER:]


def _short(text: str) -> str:
    squeezed = " ".join(text.split())
    return squeezed if len(squeezed) <= MAX_ANSWER else squeezed[: MAX_ANSWER - 1] + "…"


# -- rows --------------------------------------------------------------------------------------------------------------
def _named(policy: Policy | None, run: Run) -> tuple[Policy, str]:
    """The policy to grade by once more, and what the page calls it; see `write_report`."""
    if policy is not None:
        given = {field.name: getattr(policy, field.name) for field in fields(policy)}
        changes = (f"{name}={value!r}" for name, value in given.items() if value != getattr(Policy(), name))
        return policy, f"Policy({', '.join(changes)})"
    ours = next((name for name in run.reward_names if name in ("accuracy_reward", "shaped_reward")), "")
    if ours == "shaped_reward":
        return shaped_reward.policy, "the policy of shaped_reward"
    return Policy(), "the default policy"


def _rows(
    run: Run, policy: Policy, chosen: Sequence[int], suspicions: dict[int, Suspicion], group_of: dict[int, int]
) -> list[Row]:
    graded: dict[tuple[str, str, str], tuple[Verdict, float]] = {}
    rows = []
    for number in chosen:
        rollout = run.rollouts[number]
        text = (rollout.completion, rollout.gold, rollout.prompt)
        if text not in graded:  # the time of a verdict that is remembered would say nothing
            started = time.perf_counter()
            verdict = grade(rollout.completion, rollout.gold, prompt=rollout.prompt, policy=policy)
            graded[text] = verdict, 1000 * (time.perf_counter() - started)
        verdict, milliseconds = graded[text]
        parts = _parts(rollout.completion, _span(rollout.completion, verdict))
        rows.append(Row(number, group_of[number], rollout, verdict, parts, milliseconds, suspicions.get(number)))
    return rows


def _span(text: str, verdict: Verdict) -> tuple[int, int] | None:
    """Where the answer itself stands; a rule that reads a line tells the line."""
    if verdict.extraction is None:
        return None
    start, end = verdict.extraction.span
    inside = text.rfind(verdict.extraction.text, start, end)
    return (start, end) if inside < 0 else (inside, inside + len(verdict.extraction.text))


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


def _groups(rollouts: Sequence[Rollout]) -> list[list[int]]:
    """The rollouts of each group: one step, one prompt."""
    members: dict[tuple[object, ...], list[int]] = defaultdict(list)
    for index, rollout in enumerate(rollouts):
        members[rollout.step, rollout.prompt, rollout.gold].append(index)
    return list(members.values())


def _chosen(
    rollouts: Sequence[Rollout],
    groups: Sequence[Sequence[int]],
    suspicions: dict[int, Suspicion],
    forms: Sequence[Case],
) -> list[int]:
    """The groups to show: those of suspected cases, of what is rare, of each form, and others evenly."""
    group_of = {index: place for place, members in enumerate(groups) for index in members}
    telling: list[int] = []
    seen: Counter[tuple[object, ...]] = Counter()
    for index, suspicion in sorted(suspicions.items(), key=lambda item: item[1].rank):
        case = _case_key(rollouts[index], suspicion)
        seen[case] += 1
        telling += [index] if seen[case] <= MAX_OF_A_CASE else []
    rare = (Outcome.UNDECIDED.value, Outcome.BAD_GOLD.value)
    telling += [n for n, r in enumerate(rollouts) if r.outcome in rare or r.decided_by == "symbolic"]
    telling += [index for case in forms for index in case.rows]
    stride = math.ceil(len(rollouts) / MAX_ROWS)
    evenly = [place for start in range(stride) for place in range(start, len(groups), stride)]
    chosen: dict[int, None] = {}
    for limit, places in ((MAX_ROWS // 2, [group_of[index] for index in telling]), (MAX_ROWS, evenly)):
        for place in places:
            if groups[place][0] not in chosen:
                chosen |= dict.fromkeys(groups[place][: limit - len(chosen)])
    return sorted(chosen)


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
            text = rollout.extracted or _last_line(rollout.completion)
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
