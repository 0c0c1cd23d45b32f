"""What a simpler verifier asserts of itself, asked of ours.

The package began with the description of that verifier, which is not in the repository; called the document here, it
has four steps: extract the last box or the last number, rewrite the answer in calculator notation, compare by
difference, grade part by part. What it asserts and what holds here stands in the first tables; every fact that differs
stands in `DIFFERENCES`, with what it says there and why it is otherwise here. A difference that goes away fails its
test.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

from rlvr_math_reward import Outcome, Policy, canonicalize, extract_answer, grade, verify


def extracted(completion: str, **fields: Any) -> str:
    found = extract_answer(completion, policy=Policy(**fields))
    return found.text if found is not None else ""


# -- what holds --------------------------------------------------------------------------------------------------------
EXTRACTED = {
    r"The value is \boxed{\frac{1}{2}} as required.": r"\frac{1}{2}",  # braces inside the box are followed
    r"first \boxed{3}, and after a check \boxed{4}": "4",  # the last box counts
    r"with space \boxed {7}": "7",
    r"with math \boxed{$8$}": "8",
    r"\boxed{cut off": "",  # a box that never closes is no answer, and no error
    "There is nothing to extract": "",
    "": "",
    "we add 12 and 30 and get 42": "42",  # no box: the last number
    "first we have 3/4 and then 1/2": "1/2",
    "it falls to -2.5": "-2.5",
}


@pytest.mark.parametrize("completion", EXTRACTED)
def test_extraction(completion: str) -> None:
    assert extracted(completion) == EXTRACTED[completion]


def test_without_a_fallback_a_number_in_prose_is_no_answer() -> None:
    assert extracted("we add 12 and 30 and get 42", fallback="none") == ""


CANONICAL = {
    r"\dfrac{14}{3}": "(14)/(3)",
    r"\tfrac{14}{3}": "(14)/(3)",
    r"\frac{14}{3}": "(14)/(3)",
    r"\text{\frac{14}{3}}": "(14)/(3)",
    r"\left(\frac{14}{3}\right)": "(14)/(3)",
    "(14)/(3)": "(14)/(3)",
    "14/3": "(14)/(3)",
    "$14/3$": "(14)/(3)",
    r"\(14/3\)": "(14)/(3)",
    r"\[14/3\]": "(14)/(3)",
    "(28)/(6)": "(28)/(6)",  # a surface form: reducing is left to the comparison
    "1,234": "1234",
    r"90^\circ": "90",
    "90°": "90",
    "2^{3}": "2**3",
    "2³": "2**3",
    "2⁻¹": "2**(-1)",
    "50%": "(50/100)",  # not 50: the sign divides
    r"50\%": "(50/100)",
    r"\sqrt{2}": "sqrt(2)",
    r"3\cdot 4": "3*4",
    r"1\,234": "1234",
    "": "",
}


@pytest.mark.parametrize("answer", CANONICAL)
def test_canonical_form(answer: str) -> None:
    assert canonicalize(answer) == CANONICAL[answer]


EQUAL = [
    ("(14)/(3)", "(14)/(3)"),
    ("14/3", "28/6"),
    ("0.5", "(1)/(2)"),
    ("50%", "1/2"),
    (r"\left(\frac{14}{3}\right)", "(28)/(6)"),
    ("(14/3, 2/3)", "(14/3, 4/6)"),
    ("x^2 - 1", "(x-1)(x+1)"),
]
DIFFERENT = [
    ("14/3", "15/3"),
    ("(2, 1)", "(1, 2)"),  # place carries meaning
    ("(1, 2, 3)", "(1, 2)"),
    ("50", "1/2"),
    ("not a number at all", "1/2"),
    ("1/0", "1/2"),
    ("x" * 5000, "1/2"),  # over the limit of length
    ("1/0", "1/0"),
]


@pytest.mark.parametrize(("prediction", "gold"), EQUAL)
def test_equal(prediction: str, gold: str) -> None:
    assert verify(prediction, gold)


@pytest.mark.parametrize(("prediction", "gold"), DIFFERENT)
def test_different(prediction: str, gold: str) -> None:
    assert not verify(prediction, gold)


def test_a_missing_completion_or_gold_is_never_right() -> None:
    assert grade(None, "1/2").outcome is Outcome.NO_ANSWER  # type: ignore[arg-type]
    assert grade(r"\boxed{1/2}", None).outcome is Outcome.BAD_GOLD  # type: ignore[arg-type]


def test_deleting_the_percent_sign_is_not_what_happens() -> None:
    """The trap the document names: `50%` is neither the text 50 nor unequal to a half."""
    assert canonicalize("50%") != "50"
    assert verify("50%", "0.5")


# -- what differs, and why ---------------------------------------------------------------------------------------------
class Difference(NamedTuple):
    what: str
    ask: Callable[[], Any]
    there: Any
    here: Any
    reason: str


DIFFERENCES = (
    Difference("42 that is said to be no 41", lambda: extracted("the answer is 42, not 41") == "41", True, False,
               "a phrase that announces the answer stands before the last number, which here is the one denied"),
    Difference("a cut box behind a whole one", lambda: extracted(r"\boxed{4} no, wait: \boxed{5"), "5", "",
               "a last box that never closes is a cut answer; falling back to a number would pay for it"),
    Difference("a number in the thinking part", lambda: extracted("<think>maybe 7</think>I give up"), "7", "",
               "only what follows the thinking counts"),
    Difference("capital letters", lambda: canonicalize("X + x"), "x + x", "X+x", "x and X are two variables"),
    Difference("white space", lambda: canonicalize("x + 1"), "x + 1", "x+1", "space between tokens says nothing"),
    Difference("a fraction in a product", lambda: canonicalize("2 \\frac{1}{2}"), "2 (1)/(2)", "(5)/(2)",
               "side by side they are a mixed number"),
    Difference("1/2 without brackets", lambda: canonicalize("1/2"), "1/2", "(1)/(2)",
               "one string for the forms that differ on the surface only"),
    Difference("the unit of an angle", lambda: canonicalize(r"\sin 30^\circ"), r"\sin 30", "sin(degree(30))",
               "an angle in degrees inside a sine is worth pi/180 of its number"),
    Difference("brackets of another form", lambda: verify("[1, 2]", "(1, 2)"), True, False,
               "an interval without its ends is not one with them"),
    Difference("50 for 50%", lambda: verify("50", r"50\%"), False, True,
               "a missing sign is a missing unit; the policy field `percent` refuses it"),
    Difference("an answer over the length of 2,000", lambda: verify("0.5" + "0" * 2_500, "1/2"), False, True,
               "the limit here is 4,000 characters"),
    Difference("code in an answer", lambda: verify("print(1)", "1"), "runs", False,
               "text is parsed to a tree of our own and never handed to an evaluator"),
)  # fmt: skip


@pytest.mark.parametrize("case", DIFFERENCES, ids=lambda case: case.what)
def test_difference(case: Difference) -> None:
    assert case.ask() == case.here != case.there, case.reason


def test_the_strict_reading_of_percent_is_the_documents() -> None:
    assert not verify("50", r"50\%", policy=Policy(percent="value"))
    assert verify("1/2", r"50\%", policy=Policy(percent="value"))
