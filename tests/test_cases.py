"""The case tables: every line of `tests/cases/*.cases` is a test of its own, named by its file and line."""

from __future__ import annotations

import re
from dataclasses import dataclass, fields
from pathlib import Path

import pytest

from rlvr_math_reward import Outcome, Policy, Verdict, grade, verify
from rlvr_math_reward.grading import judge

CASES = Path(__file__).parent / "cases"
OWN_FORMAT = frozenset(("extraction.cases",))  # completions, read by the test of extraction
TABLES = sorted(path for path in CASES.glob("*.cases") if path.name not in OWN_FORMAT)
_LINE = re.compile(r"(?P<gold>.*?) (?P<sign>===|=/=|=\?=|=~=)(?: (?P<prediction>.*))?$")
_NUMBER = re.compile(r"[0-9.]+(?:e-?[0-9]+)?")
# Seconds for the SymPy child. The few cases that need it take well under the default second on an idle machine; a
# loaded one must not fail them.
PATIENT = 3.0
_CONSTANTS = {"true": True, "false": False, "none": None}


@dataclass(frozen=True)
class Case:
    gold: str
    sign: str
    prediction: str
    policy: Policy
    id: str


def read_policy(header: str) -> Policy:
    """The policy that `@ rel_tol=1e-4 substring=guarded` sets for the lines below it."""
    written = dict(setting.split("=", 1) for setting in header.removeprefix("@").split())
    # `percent=value` and `substring=none` are names; only the fields that take other types take constants.
    named = {field.name for field in fields(Policy) if isinstance(field.default, str)}
    values = {name: text if name in named else _value(text) for name, text in written.items()}
    return Policy(**{"timeout": PATIENT, **values})  # type: ignore[arg-type]


def _value(text: str) -> float | bool | None:
    return float(text) if _NUMBER.fullmatch(text) else _CONSTANTS[text]


def read_cases(path: Path) -> list[Case]:
    policy, cases = read_policy("@"), []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        line = line.strip()
        if line.startswith("@"):
            policy = read_policy(line)
        elif line and not line.startswith("#"):
            parts = _LINE.fullmatch(line)
            assert parts is not None, f"{path.name}:{number} is no case: {line!r}"
            prediction = (parts["prediction"] or "").strip()
            cases.append(Case(parts["gold"].strip(), parts["sign"], prediction, policy, f"{path.name}:{number}"))
    return cases


ALL = [case for path in TABLES for case in read_cases(path)]


def judged(case: Case) -> Verdict:
    return judge(case.prediction, case.gold, case.policy)


def explain(verdict: Verdict) -> str:
    return (
        f"{verdict.outcome.value} by {verdict.decided_by}: {verdict.reason}; "
        f"read as {verdict.gold_canonical!r} and {verdict.prediction_canonical!r}"
    )


@pytest.mark.parametrize("case", ALL, ids=lambda case: case.id)
def test_case(case: Case) -> None:
    verdict = judged(case)
    told = f"{case.gold}  {case.sign}  {case.prediction}\n{explain(verdict)}"
    assert not verdict.reason.startswith("grading failed"), told
    match case.sign:
        case "===":
            assert verdict.outcome is Outcome.CORRECT, told
            assert verify(case.prediction, case.gold, policy=case.policy), told
        case "=~=":
            assert verdict.outcome is Outcome.PARTIAL, told
        case "=/=":
            assert verdict.score == 0.0, told
            assert not verify(case.prediction, case.gold, policy=case.policy), told
    if case.sign != "=?=":
        boxed = grade(f"So we get\n\\boxed{{{case.prediction}}}", case.gold, policy=case.policy)
        # Where extraction takes another text from the box (it drops a line break at the end), that is another case.
        if boxed.prediction == case.prediction:
            assert boxed.correct is verdict.correct, f"in a box: {told}\n{explain(boxed)}"


# The kinds that read gold and prediction alike. An equation is answered by its solution but does not answer it, and
# only a gold may be a choice with text behind it.
SYMMETRIC = ("scalar", "quantity", "collection", "matrix")


def test_a_refusal_holds_in_both_orders() -> None:
    """Two answers of one kind that differ also differ when the gold and the prediction change places."""
    refused = [case for case in ALL if case.sign == "=/=" and case.policy == read_policy("@")]
    pairs = [(case, judged(case), judge(case.gold, case.prediction, case.policy)) for case in refused]
    same_kind = [
        (case, turned) for case, verdict, turned in pairs if verdict.kind == turned.kind and verdict.kind in SYMMETRIC
    ]
    assert len(same_kind) > 100
    wrong = [f"{case.id}: {case.prediction}  ===  {case.gold}" for case, turned in same_kind if turned.correct]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("path", TABLES, ids=lambda path: path.name)
def test_table_has_both_sides(path: Path) -> None:
    """A table without a case, or with one side only, tests nothing or half of its rule."""
    signs = [case.sign for case in read_cases(path)]
    assert signs.count("===") >= 10
    assert signs.count("=/=") >= 10


def test_no_two_cases_contradict() -> None:
    first: dict[tuple[str, str, Policy], Case] = {}
    for case in ALL:
        earlier = first.setdefault((case.gold, case.prediction, case.policy), case)
        assert earlier.sign == case.sign, f"{earlier.id} and {case.id}"
