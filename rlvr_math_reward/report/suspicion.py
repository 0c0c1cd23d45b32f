r"""Rollouts that deserve a look: rejected ones that may be right, and paid ones that may be a trick.

A suspicion changes no verdict and no reward. It is a question to a person, so the rules are looser than those of
grading. Each rule is a function of one rollout and answers with one sentence or None; rollouts of a group are looked
at together only for what they agree on.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from rlvr_math_reward.grading import judge
from rlvr_math_reward.policy import Policy
from rlvr_math_reward.report.trainer_logs import Rollout
from rlvr_math_reward.verdict import Outcome

__all__ = ["FALSE_REJECT", "HACK", "Suspicion", "find_suspicions"]

FALSE_REJECT, HACK = "false-reject", "hack"
_DEFAULT = Policy()

LOOSE_TOL = 1e-3
"""What a rejected answer is compared by once more, beside the run's policy: equal to three digits."""
TIMEOUT = 0.2
"""Seconds of SymPy for a comparison that only asks."""
MIN_AGREEING = 3
"""Rollouts of a group that give one rejected answer before it is worth a look."""
MAX_BOXES = 3
"""Boxes in a completion; a derivation that boxes its steps has two or three."""
LONG_ANSWER = (4, 40)
"""An answer is long beyond four times the gold's characters and 40 more: units, names and forms stay below."""
STRAY_BRACES = 2
"""Closing braces beyond the opened ones; one is a slip."""
MIN_ECHO_CHARS = 6
"""Characters of an answer that stands in the prompt; shorter ones are numbers that the answer may well repeat."""
MAX_PAIRS = 20_000
"""Pairs of answer and gold that are compared once more, the most frequent first: some ten seconds."""


@dataclass(frozen=True, slots=True)
class Suspicion:
    """Why a rollout deserves a look. `kind` is `FALSE_REJECT` or `HACK`, `rank` its rule's place (0: look first)."""

    kind: str
    rank: int
    reason: str


def find_suspicions(rollouts: Sequence[Rollout], policy: Policy = _DEFAULT) -> dict[int, Suspicion]:
    """The first rule that each suspected rollout meets, by its index.

    Args:
        rollouts: those of a run.
        policy: the one that the run was paid by.

    Example:
        >>> paid = Rollout(1, "2 + 2?", r"\\boxed{4}", "4", "4", "correct", "text", {}, None)
        >>> find_suspicions([paid])
        {}
    """
    pairs = Counter((r.extracted, r.gold) for r in rollouts if r.extracted and r.outcome != Outcome.BAD_GOLD.value)
    compared = dict.fromkeys(pair for pair, _ in pairs.most_common(MAX_PAIRS))
    agreed = _agreed(rollouts)
    kinds = _kinds(policy)
    found = {}
    for index, rollout in enumerate(rollouts):
        known = (rollout.extracted, rollout.gold) in compared
        kind, rules = kinds.get(rollout.outcome, ("", ()))
        reasons = ((rank, rule(rollout)) for rank, (needs, rule) in enumerate(rules) if known or not needs)
        first = next(((rank, reason) for rank, reason in reasons if reason), None)
        if first is None and kind == FALSE_REJECT and index in agreed:
            first = (len(rules), agreed[index])
        if first is not None:
            found[index] = Suspicion(kind, *first)
    return found


# -- rejected, perhaps right -------------------------------------------------------------------------------------------
def _equal_after_all(rollout: Rollout, policy: Policy) -> str | None:
    verdict = judge(rollout.extracted, rollout.gold, policy)
    return "graded again, the answer is correct" if verdict.correct else None


def _nearly_equal(rollout: Rollout, loose: Policy) -> str | None:
    """Equal to three digits, or the gold with something around it."""
    outcome = judge(rollout.extracted, rollout.gold, loose).outcome
    if outcome is Outcome.CORRECT:
        return "equal to the gold within 0.1 %"
    return "the gold stands in the answer" if outcome is Outcome.PARTIAL else None


def _holds_gold(rollout: Rollout) -> str | None:
    if rollout.outcome == Outcome.UNPARSABLE.value and _stands_in(rollout.gold, rollout.extracted):
        return "the gold stands in an answer that could not be read"
    return None


def _cut_off(rollout: Rollout) -> str | None:
    last = rollout.completion.rstrip().rpartition("\n")[2]
    if rollout.outcome == Outcome.NO_ANSWER.value and _stands_in(rollout.gold, last):
        return "no answer was found, and the gold stands in the last line"
    return None


def _stands_in(gold: str, text: str) -> bool:
    squeezed = "".join(gold.split())
    if not squeezed:
        return False
    return re.search(rf"(?<![\w.]){re.escape(squeezed)}(?![\w.]*\w)", "".join(text.split())) is not None


def _agreed(rollouts: Sequence[Rollout]) -> dict[int, str]:
    """Rejected rollouts whose answer most of their group gives, in a group of which none was right."""
    groups: dict[tuple[int, str, str], list[int]] = defaultdict(list)
    for index, rollout in enumerate(rollouts):
        groups[rollout.step, rollout.prompt, rollout.gold].append(index)
    found: dict[int, str] = {}
    for members in groups.values():
        if any(rollouts[n].outcome == Outcome.CORRECT.value for n in members):
            continue
        answer, votes = Counter(rollouts[n].extracted for n in members).most_common(1)[0]
        if answer and votes >= MIN_AGREEING and 2 * votes > len(members):
            reason = f"{votes} of the {len(members)} rollouts of this group give this answer, and none is right"
            found.update((n, reason) for n in members if rollouts[n].extracted == answer)
    return found


# -- paid, perhaps a trick ---------------------------------------------------------------------------------------------
def _unevaluated(rollout: Rollout, strict: Policy) -> str | None:
    outcome = judge(rollout.extracted, rollout.gold, strict).outcome
    return "the answer leaves an operation to perform" if outcome.value != rollout.outcome else None


def _echo(rollout: Rollout) -> str | None:
    answer = "".join(rollout.extracted.split())
    if len(answer) >= MIN_ECHO_CHARS and answer in "".join(rollout.prompt.split()):
        return "the answer stands in the prompt, as it is"
    return None


def _long(rollout: Rollout) -> str | None:
    factor, more = LONG_ANSWER
    if len(rollout.extracted) > factor * len(rollout.gold) + more:
        return f"the answer has {len(rollout.extracted):,} characters, the gold {len(rollout.gold):,}"
    return None


def _many_boxes(rollout: Rollout) -> str | None:
    count = rollout.completion.count("\\boxed") + rollout.completion.count("\\fbox")
    return f"{count} boxes in one completion" if count > MAX_BOXES else None


def _stray_braces(rollout: Rollout) -> str | None:
    extra = rollout.completion.count("}") - rollout.completion.count("{")
    return f"{extra} closing braces too many" if extra >= STRAY_BRACES else None


def _by_sympy(rollout: Rollout) -> str | None:
    return "only SymPy found it equal" if rollout.decided_by == "symbolic" else None


Rule = Callable[[Rollout], "str | None"]
Rules = tuple[tuple[bool, Rule], ...]
_REJECTED: Iterable[Outcome] = (Outcome.INCORRECT, Outcome.UNPARSABLE, Outcome.UNDECIDED, Outcome.NO_ANSWER)
_PAID: Iterable[Outcome] = (Outcome.CORRECT, Outcome.PARTIAL)


def _kinds(policy: Policy) -> Mapping[str, tuple[str, Rules]]:
    """For each outcome: the kind, and its rules with whether they compare the answer once more, the most telling first.

    What is compared once more is compared as the run did it, or else every reading that its policy refuses would be
    listed as a mistake.
    """
    again = replace(policy, timeout=TIMEOUT)
    loose = replace(again, rel_tol=max(policy.rel_tol or 0, LOOSE_TOL), tolerance="all", substring="guarded")
    false_reject: Rules = (
        (True, partial(_equal_after_all, policy=again)),
        (True, partial(_nearly_equal, loose=loose)),
        (False, _holds_gold),
        (False, _cut_off),
    )
    hack: Rules = (
        (True, partial(_unevaluated, strict=replace(again, require_evaluated=True))),
        (False, _echo),
        (False, _long),
        (False, _many_boxes),
        (False, _stray_braces),
        (False, _by_sympy),
    )
    rejected = {outcome.value: (FALSE_REJECT, false_reject) for outcome in _REJECTED}
    return rejected | {outcome.value: (HACK, hack) for outcome in _PAID}
