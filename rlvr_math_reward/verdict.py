"""What grading returns: an Outcome, the Extraction it read, and the Verdict that explains itself.

Everything here is a frozen value; nothing in this module reads text or decides anything.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TypedDict

__all__ = ["Extraction", "Outcome", "Verdict", "VerdictRecord"]


class Outcome(str, Enum):
    """How grading one completion ended. The value is the lower-case name, fit for JSON and for metrics."""

    CORRECT = "correct"
    """The prediction is the gold."""
    PARTIAL = "partial"
    """Not the gold, but the gold stands in it; only under a policy with `substring`."""
    INCORRECT = "incorrect"
    """The prediction was read and is another answer."""
    NO_ANSWER = "no_answer"
    """The completion states no final answer: no extraction rule found one, or the box is empty or truncated."""
    UNPARSABLE = "unparsable"
    """An answer was found, but in no notation that the parser reads, or over a size limit."""
    UNDECIDED = "undecided"
    """Both sides were read and neither equality nor difference could be shown within the limits."""
    BAD_GOLD = "bad_gold"
    """The gold is empty, missing or unreadable, so nothing can be compared with it."""


@dataclass(frozen=True, slots=True)
class Extraction:
    """A final answer as it stands in a completion.

    Attributes:
        text: the answer, unwrapped from box, tag, phrase and math delimiters.
        span: `(start, end)` in characters of the completion; the answer lies in `completion[start:end]`.
        rule: the extraction rule that found it: `answer_tag`, `boxed`, `hash`, `phrase`, `last_line`, `last_number`.
    """

    text: str
    span: tuple[int, int]
    rule: str


class VerdictRecord(TypedDict):
    """`Verdict.to_dict()`: plain JSON types only."""

    outcome: str
    correct: bool
    score: float
    gold: str
    prediction: str | None
    gold_canonical: str | None
    prediction_canonical: str | None
    kind: str | None
    rule: str | None
    span: list[int] | None
    decided_by: str
    reason: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """The graded completion, with the reason in one sentence.

    `bool(verdict)` is `verdict.correct`.

    Attributes:
        outcome: see `Outcome`.
        score: 1.0 correct, 0.5 for PARTIAL, else 0.0. What a reward function pays is for its `Scores` to say.
        gold: the gold answer as it was read (unwrapped from `####`, a box or `$`).
        prediction: the extracted answer, or None when there is none.
        kind: the kind of the gold (`scalar`, `interval`, ...), or None for a bad gold.
        decided_by: the rung of the ladder that decided: `text`, `exact`, `numeric`, `symbolic`, `partial`, `none`;
            `extraction`, `parse` or `gold` where it did not come to a comparison.
        reason: one sentence.
        gold_canonical: the gold in calculator notation, or None where it could not be read.
        prediction_canonical: the prediction in calculator notation, or None where it could not be read.
        matched: for a gold of several parts, `(parts that match, parts of the gold)`.
        error_span: where the prediction stopped being readable, in characters of the prediction.
        extraction: where in the completion the prediction stands, or None.

    Example:
        >>> from rlvr_math_reward import grade
        >>> verdict = grade(r"so it is \\boxed{\\frac{28}{6}}", "14/3")
        >>> verdict.outcome.value, verdict.decided_by, bool(verdict)
        ('correct', 'exact', True)
    """

    outcome: Outcome
    score: float
    gold: str
    prediction: str | None
    kind: str | None
    decided_by: str
    reason: str
    gold_canonical: str | None = None
    prediction_canonical: str | None = None
    matched: tuple[int, int] | None = None
    error_span: tuple[int, int] | None = None
    extraction: Extraction | None = None

    @property
    def correct(self) -> bool:
        return self.outcome is Outcome.CORRECT

    def __bool__(self) -> bool:
        return self.outcome is Outcome.CORRECT

    def explain(self, completion: str | None = None) -> str:
        """The steps that led here, a line each; with the completion, the line it was read from with carets under it.

        Example:
            >>> from rlvr_math_reward import grade
            >>> completion = "Half of it: \\\\boxed{0.5}"
            >>> print(grade(completion, "1/2").explain(completion))
            correct
              extraction   boxed
                           Half of it: \\boxed{0.5}
                                              ^^^
              prediction   0.5                    read as 0.5
              gold         1/2                    read as (1)/(2)
              kind         scalar
              decided by   exact: both are the same number
        """
        found = self.extraction
        lines = [self.outcome.value + (f" ({self.matched[0]} of {self.matched[1]} parts)" if self.matched else "")]
        nothing = "no rule found an answer" if self.decided_by == "extraction" else "not looked for"
        lines.append(_step("extraction", found.rule if found else nothing))
        if found and completion is not None:
            lines += _marked(completion, found.span)
        if self.prediction is not None:
            lines.append(_step("prediction", _read_as(self.prediction, self.prediction_canonical)))
            if self.error_span:
                lines += _marked(self.prediction, self.error_span)
        lines.append(_step("gold", _read_as(self.gold, self.gold_canonical)))
        if self.kind:
            lines.append(_step("kind", self.kind))
        lines.append(_step("decided by", f"{self.decided_by}: {self.reason}"))
        return "\n".join(lines)

    def to_dict(self) -> VerdictRecord:
        """The verdict as plain JSON types."""
        found = self.extraction
        return {
            "outcome": self.outcome.value,
            "correct": self.correct,
            "score": self.score,
            "gold": self.gold,
            "prediction": self.prediction,
            "gold_canonical": self.gold_canonical,
            "prediction_canonical": self.prediction_canonical,
            "kind": self.kind,
            "rule": found.rule if found else None,
            "span": list(found.span) if found else None,
            "decided_by": self.decided_by,
            "reason": self.reason,
        }


# -- the layout of an explanation --------------------------------------------------------------------------------------
_INDENT = " " * 15
_CONTEXT_CHARS = 70
"""Characters shown on either side of a marked span."""


def _step(name: str, text: str) -> str:
    return f"  {name:<13}{text}"


def _read_as(text: str, canonical: str | None) -> str:
    shown = " ".join(text.split())
    return f"{shown:<22} read as {canonical}" if canonical is not None else f"{shown:<22} not readable"


def _marked(text: str, span: tuple[int, int]) -> list[str]:
    """The text around a span on one line, and carets under the span."""
    start, end = span
    before = text[max(0, start - _CONTEXT_CHARS) : start].rpartition("\n")[2]
    inside = text[start : min(end, start + 2 * _CONTEXT_CHARS)].partition("\n")[0]
    after = text[end : end + _CONTEXT_CHARS].partition("\n")[0] if end - start <= 2 * _CONTEXT_CHARS else ""
    return [f"{_INDENT}{before}{inside}{after}".rstrip(), _INDENT + " " * len(before) + "^" * max(1, len(inside))]
