"""Extraction: the table of cases, what holds for any text, and that no text makes a search grow faster than itself."""

from __future__ import annotations

import re
import string
import time
from itertools import product
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rlvr_math_reward.extraction.boxes import boxed
from rlvr_math_reward.extraction.rules import FALLBACKS, RULES, extract

CASES = Path(__file__).parent / "cases" / "extraction.cases"
RESULT = re.compile(r"(?:∅|(?P<answer>.*) \[(?P<rule>\w+)\])")


class Case(NamedTuple):
    completion: str
    fallback: str
    answer: str | None
    rule: str | None


def load() -> list[object]:
    cases: list[object] = []
    fallback = "last_number"
    for number, line in enumerate(CASES.read_text(encoding="utf-8").splitlines(), 1):
        if not line or line.startswith("%"):
            continue
        if line.startswith("@fallback "):
            fallback = line.removeprefix("@fallback ")
            continue
        completion, _, result = line.rpartition(" -> ")
        expected = RESULT.fullmatch(result)
        assert expected is not None, f"{CASES.name}:{number}: not a case: {line}"
        case = Case(completion.replace("⏎", "\n"), fallback, expected["answer"], expected["rule"])
        cases.append(pytest.param(case, id=f"{CASES.name}:{number}"))
    assert len(cases) > 250, "the table was not read"
    return cases


@pytest.mark.parametrize("case", load())
def test_case(case: Case) -> None:
    found = extract(case.completion, case.fallback)
    assert (found.text, found.rule) == (case.answer, case.rule) if found else case.answer is None


def test_every_rule_and_fallback_has_cases() -> None:
    seen = {case.values[0].rule for case in load()}  # type: ignore[attr-defined]
    assert {name for name, _ in RULES} | set(FALLBACKS) - {"none"} <= seen


# -- properties ----------------------------------------------------------------------------------------------------
PIECES = (
    r"\boxed{", r"\boxed", r"\fbox{", "box", "{", "}", r"\{", r"\}", "\\", "\\\\", "$", "$$", r"\(", r"\)",
    r"\[", r"\]", "<think>", "</think>", "<answer>", "</answer>", "####", "#", "The answer is", "Answer:",
    "final answer", "not", "or", "and", "is", "could be", "?", "!", ".", ",", ":", ";", "=", "-", "+", "*",
    "**", "`", "```", "\n", " ", "\t", "\r", "4", "17", "1/2", "0.5", "1,234", "%", "x", "x=", "f(x)", "cm",
    "p.m.", "apples", "A", "(B)", r"\frac{1}{2}", r"\text{", r"\begin{aligned}", r"\end{aligned}", "&", "_",
    "^", "é", "−", "✅", "\u2028", "\x00", "\ud800", "①", "½", "٣",
    "❌", "答案是", "。", "<THINK>", "<!--", "-->", r"\phantom{", "wait", "negative",
)  # fmt: skip
soup = st.lists(st.sampled_from(PIECES), max_size=40).map("".join)
texts = st.one_of(st.text(max_size=200), soup)
answers = st.sampled_from(["17", "-3", r"\frac{1}{2}", "x = 4", r"\{1, 2\}", "(3, 4]", "12 cm", r"2\sqrt{3}", "B"])
prose = st.text(st.sampled_from("abcdefg hijkl\n.,;:!?$()0123456789"), max_size=120).filter(lambda t: "box" not in t)
fallbacks = st.sampled_from(sorted(FALLBACKS))


def letters(text: str) -> str:
    return "".join(c for c in text if c.isalnum())


BESIDE = (
    "", *string.printable, "−", "\\(", "\\)", "\\[", "\\]", "= -", "-$", "\\pm ", "2 ", "^2", "_5", "_{12}", "\\cdot",
)  # fmt: skip


@pytest.mark.parametrize("content", ["42", "x", "ab3"])
def test_the_short_way_for_plain_boxes_finds_what_the_long_way_finds(content: str) -> None:
    """A space in the box changes nothing but the way that it goes."""
    apart = []
    for before, after in product(BESIDE, repeat=2):
        short, long = (boxed(f"so {before}\\boxed{{{content}{space}}}{after}") for space in ("", " "))
        if short is None or long is None or short[0] != long[0]:
            apart.append((before, after, short, long))
    assert apart == []


@settings(max_examples=1500, deadline=None)
@given(texts, fallbacks)
def test_any_text_is_read_without_an_error_and_the_span_lies_in_it(text: str, fallback: str) -> None:
    found = extract(text, fallback)
    if found is None:
        return
    start, end = found.span
    assert found.text.strip()
    assert 0 <= start < end <= len(text)
    assert found.rule in {name for name, _ in RULES} | {fallback}
    # Unwrapping drops and joins; it never brings in a letter or digit that does not stand in the span. The names
    # before the boxes of a list (`a=\boxed{1}, b=\boxed{2}`) are the one thing that is taken from outside.
    if found.rule not in ("boxed", "answer_tag"):
        assert set(letters(found.text)) <= set(letters(text[start:end]))


@settings(max_examples=300, deadline=None)
@given(texts, texts, fallbacks)
def test_what_stands_in_the_thinking_is_never_read(thought: str, rest: str, fallback: str) -> None:
    alone = extract(rest, fallback)
    found = extract(f"<think>{thought}</think>{rest}", fallback) if "think>" not in rest else alone
    assert (found and found.text) == (alone and alone.text)


@settings(max_examples=300, deadline=None)
@given(texts, fallbacks)
def test_thinking_that_never_ends_states_nothing(thought: str, fallback: str) -> None:
    if "think>" not in thought:
        assert extract(f"<think>{thought}", fallback) is None


@settings(max_examples=300, deadline=None)
@given(prose, answers, prose, fallbacks)
def test_prose_around_a_box_changes_nothing(before: str, answer: str, after: str, fallback: str) -> None:
    found = extract(f"{before} so \\boxed{{{answer}}} {after}", fallback)
    assert found is not None
    assert (found.text, found.rule) == (answer, "boxed")


@settings(max_examples=300, deadline=None)
@given(prose, answers, answers, st.sampled_from([" or ", ", ", " and ", "\n", r" \text{ or } ", "$ or $", "; ", ""]))
def test_two_different_boxes_are_never_one_answer(before: str, one: str, two: str, between: str) -> None:
    found = extract(f"{before} so $\\boxed{{{one}}}{between}\\boxed{{{two}}}$")
    assert found is not None
    assert found.text == (one if one == two else f"{one}, {two}")


@settings(max_examples=300, deadline=None)
@given(prose, answers)
def test_a_box_that_is_cut_anywhere_states_nothing(before: str, answer: str) -> None:
    text = f"{before} so $\\boxed{{{answer}}}"
    for end in range(text.index("\\boxed") + len("\\boxed"), len(text)):
        assert extract(text[:end]) is None


# -- growth --------------------------------------------------------------------------------------------------------
HOSTILE = {
    "open boxes": r"\boxed{",
    "boxes in a row": r"\boxed{3} ",
    "boxes and words": r"\boxed{3} or ",
    "framed boxes": r"\fbox{3}",
    "the word box": "box ",
    "closing braces": "}",
    "opening braces": "{",
    "escaped braces": r"\}\{",
    "row breaks": "\\\\",
    "texts": r"\text{",
    "dollars": "$x ",
    "displays": r"\[",
    "inline openers": r"\(",
    "display list": r"\[5\] or ",
    "answers": "answer ",
    "ANSWERS": "ANSWER",
    "phrases": "answer is: ",
    "remarks": "The answer is correct. ",
    "headings": "#### Step 1 of the many that follow\nso\n",
    "hashes": "#",
    "tags": "<answer>4</answer> ",
    "open tags": "<answer>",
    "thoughts": "</think>",
    "think": "think> ",
    "spaces": " ",
    "lines": "\n",
    "tabs and lines": "\n \t",
    "stars": "*",
    "digits": "1",
    "numbers": "1 ",
    "thousands": "1,",
    "points": ". ",
    "decimals": "5.",
    "names": "a_",
    "equations": "x=",
    "letters": "a",
    "sentences": "lorem ipsum 4 dolor. ",
    "fences": "```\n",
    "notes": "5<<5>>",
    "emoji": "✅",
    "items": "- 4\n",
    "comments": "<!-- ",
    "phantoms": r"\phantom{",
    "percent lines": "\n \t%",
    "big tags": "<THINK> <ANSWER>",
    "Chinese": "答案是",
    "denials": "I do not think that the answer is so, ",
    "waits": "but wait, no, ",
    "announcements": "it is a total of ",
    "totals": "a grand total of the sum ",
    "minus signs": "- ",
    "fractions": r"\frac{1}",
    "emphases": "*a",
    "squares": r" $\square",
    "in words": "4 (forty ",
}
FRAMES = (
    "{}",
    "{}4",
    "answer: {}",
    "answer: {}4",
    "\\boxed{{4{}}}",
    "\\boxed{{4}}{}",
    "{}\\boxed{{4}}",
    "#### {}",
    "{}\nso 4.",
)


@pytest.mark.parametrize("frame", FRAMES)
@pytest.mark.parametrize("unit", HOSTILE.values(), ids=HOSTILE.keys())
def test_the_work_grows_no_faster_than_the_text(unit: str, frame: str) -> None:
    """300 kB take about a millisecond; a search that is quadratic in them takes minutes."""
    text = frame.format(unit * (300_000 // len(unit)))
    start = time.process_time()
    for fallback in FALLBACKS:
        extract(text, fallback)
    assert time.process_time() - start < 2.0
