"""The short way for plain numbers and fractions gives what the long way gives: it may only be faster."""

from __future__ import annotations

from itertools import product

import pytest

from rlvr_math_reward import Policy, grade, parse
from rlvr_math_reward.golds import BadGold, Gold, read_gold
from rlvr_math_reward.parser.literals import plain_value

INTEGERS = ("0", "3", "03", "8", "24", "123456789012345")
PLAIN = (
    *INTEGERS, *(f"-{n}" for n in INTEGERS), "0.5", "-0.50", "2.375", "0.0", "0.333", "3.0", "-0.0", "-12.3450",
    "00.10", "0.545454545454545454", "3.141592653589793238462643383279",
    *(rf"{sign}{bar % (upper, lower)}" for sign in ("", "-") for upper, lower in product(INTEGERS[:5], repeat=2)
      for bar in (r"\frac{%s}{%s}", r"\dfrac{%s}{%s}", "%s/%s")),
    *(rf"{sign}{whole}{part}" for sign in ("", "-") for whole in ("0", "1", "12", "03") for part in (
        r"\frac{3}{8}", r" \dfrac{2}{4}", " 3/8", r"\frac{0}{3}", " 24/123456789012345", " 0999/1000")),
    "1,234", "-1,234", "12,345,678", "10{,}000", "-3{,}250",
)  # fmt: skip
NOT_PLAIN = (
    "", "-", "--3", "+3", "3.", ".5", "1e3", "3/", "/3", "1/2/3", r"\frac12", r"\frac{1}2",
    r"\frac{1}{x}", r"\frac{-1}{2}", r"\cfrac{1}{2}", "x", "1/2x", "3%", "3:4", "1234567890123456",
    "1/1234567890123456", "0.1234567890123456789012345678901", "\u0663", "3\n", "1/2\n",
    r"1\frac{3}{2}", "1 3/2", "1  1/2", "1.5 1/2", "1 100/200", "10 000/3", r"1 \frac12", r"1\frac{x}{2}",
    r"1\frac{1}{0}", "1,23", "1,2345", "1234,567", "1, 234", "1,234{,}567", "1,234.5", "12,34,567",
)  # fmt: skip
POLICIES = (Policy(), Policy(rel_tol=1e-2), Policy(rel_tol=1e-2, tolerance="all"), Policy(require_evaluated=True))


def test_the_short_way_reads_all_of_these() -> None:
    assert [text for text in PLAIN if plain_value(text) is None] == []


@pytest.mark.parametrize("text", NOT_PLAIN)
def test_the_short_way_leaves_these_to_the_parser(text: str) -> None:
    assert plain_value(text) is None


def test_the_parser_reads_them_alike() -> None:
    """A space at the end is nothing to the parser, and too much for the short way."""
    assert [
        text for text in PLAIN if plain_value(text + " ") is not None or parse(text + " ") != plain_value(text)
    ] == []


def test_golds_are_read_alike() -> None:
    for text in PLAIN:
        short, long = read_gold(text), read_gold(text + " ")
        assert type(short) is type(long), text
        if isinstance(short, Gold) and isinstance(long, Gold):
            assert (short.answer.tree, short.kind, short.canonical, short.numeric) == (
                long.answer.tree, long.kind, long.canonical, long.numeric), text  # fmt: skip
    assert isinstance(read_gold("3/0"), BadGold)


@pytest.mark.parametrize("policy", POLICIES, ids=str)
def test_verdicts_are_alike(policy: Policy) -> None:
    """A full stop after the prediction changes nothing but the way that it goes."""
    wrong = []
    for gold, prediction in product(PLAIN[::3], PLAIN[::2]):
        short, long = (grade(rf"\boxed{{{text}}}", gold, policy=policy) for text in (prediction, prediction + "."))
        if (short.outcome, short.score, short.prediction_canonical) != (
            long.outcome, long.score, long.prediction_canonical):  # fmt: skip
            wrong.append((gold, prediction, short, long))
    assert wrong == []
