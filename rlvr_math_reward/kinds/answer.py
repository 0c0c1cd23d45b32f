"""What the kinds share: an answer as text and tree, the result of a match, and the comparer that is passed in."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from rlvr_math_reward.policy import Policy
from rlvr_math_reward.tree import Apply, Number, Product, Relation, Sequence, Symbol, Tree, render

__all__ = [
    "Answer", "Comparer", "Match", "all_of", "forward", "is_name", "name_of", "named_value", "no", "yes",
]  # fmt: skip


class Answer(NamedTuple):
    """One side of a comparison: the text as it was extracted, and its tree."""

    text: str
    tree: Tree


@dataclass(frozen=True, slots=True)
class Match:
    """Whether a prediction is the gold; `equal` is None where that could not be decided.

    Attributes:
        rung: the rung of the ladder that decided, the weakest one where several parts were compared.
        reason: one sentence.
        parts: `(parts that match, parts of the gold)` where the gold has several.
    """

    equal: bool | None
    rung: str
    reason: str
    parts: tuple[int, int] | None = None


class Comparer(Protocol):
    """Compares under one policy. `scalar` climbs the ladder; `answer` classifies the gold first and asks its kind."""

    @property
    def policy(self) -> Policy: ...

    def scalar(self, gold: Tree, prediction: Tree) -> Match: ...

    def answer(self, gold: Tree, prediction: Tree) -> Match: ...


RUNGS = ("text", "exact", "numeric", "symbolic")


def yes(reason: str, rung: str = "exact") -> Match:
    return Match(True, rung, reason)


def no(reason: str, rung: str = "exact") -> Match:
    return Match(False, rung, reason)


def all_of(matches: Iterable[Match], reason: str) -> Match:
    """Equal when every part is, different when any part is, else undecided; the weakest rung of the parts decides."""
    found = list(matches)
    parts = (sum(match.equal is True for match in found), len(found))
    for match in found:
        if match.equal is False:
            return Match(False, match.rung, match.reason, parts)
    for match in found:
        if match.equal is None:
            return Match(None, match.rung, match.reason, parts)
    rung = max((match.rung for match in found), key=RUNGS.index, default="text")
    return Match(True, rung, reason, parts)


def is_name(tree: Tree) -> bool:
    """A letter, `f(x)`, `AB` or a segment: what may stand before `=` as the name of an answer."""
    match tree:
        case Symbol():
            return True
        case Apply("abs" | "det", (Symbol(name),)):
            return name.isupper()  # the size of a set, a determinant; `|x| = 5` is an equation
        case Apply("abs", (inner,)) | Sequence("[", (inner,), "]"):
            return isinstance(inner, Product) and is_name(inner)
        case Apply("conjugate", (Symbol(),)):
            return True
        case Apply(name, args):
            return len(name.rstrip("'^-1")) == 1 and all(isinstance(arg, _NAMED) or _is_call(arg) for arg in args)
        case Product(factors) if len(factors) in (2, 3):
            capitals = all(isinstance(factor, Symbol) and factor.name.isupper() for factor in factors)
            angle = any(isinstance(factor, Symbol) and factor.name.startswith("angle") for factor in factors)
            return capitals or angle
    return False


_NAMED = (Symbol, Number)


def _is_call(tree: Tree) -> bool:
    """`g(3)` inside `f(g(3))`."""
    return isinstance(tree, Apply) and len(tree.name.rstrip("'^-1")) == 1 and is_name(tree)


def forward(tree: Tree) -> Tree:
    """`12 = x` as `x = 12`."""
    match tree:
        case Relation(("=",), (left, right)) if is_name(right) and not is_name(left):
            return Relation(("=",), (right, left))
        case Relation(("==",), (Apply() as left, right)) if is_name(left) and not isinstance(right, Apply):
            return Relation(("=",), (left, right))  # "identically equal"
    return tree


def name_of(tree: Tree) -> str | None:
    """The name on the left of `name = value`, else None."""
    match tree:
        case Relation(("=", *_), (left, *_)) if is_name(left):
            return render(left)
    return None


def named_value(tree: Tree) -> Tree:
    """`tree` without the name of a single `name = value`."""
    match tree:
        case Relation(("=",), (left, right)) if is_name(left):
            return right
    return tree
