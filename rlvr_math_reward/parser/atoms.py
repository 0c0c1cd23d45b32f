"""The tightest level of the grammar: numbers, letters, words and brackets."""

from __future__ import annotations

from fractions import Fraction

from rlvr_math_reward.parser import measures
from rlvr_math_reward.parser.building import FUNCTION_LETTERS, bracketed, named
from rlvr_math_reward.parser.commands import Commands
from rlvr_math_reward.parser.literals import number_literal, repeating_decimal
from rlvr_math_reward.tokenizer import ParseError, Token
from rlvr_math_reward.tree import (
    Apply,
    Based,
    Constant,
    Matrix,
    Number,
    Product,
    Sequence,
    SetBuilder,
    Symbol,
    Tree,
)

__all__ = ["Atoms"]

CLOSERS = {
    "(": (")", "]", "["), "[": ("]", ")", "["), "]": ("[", "]"), "{{": ("}}",), "<<": (">>",), "<": (">",), "{": ("}",),
}  # fmt: skip
"""`]0, 1[` is how much of Europe writes the open interval."""
BIG_OPERATORS = frozenset(("sum", "prod", "int", "lim"))
COUNTS = frozenset("CP")
DIGITS = frozenset("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")
"""Digits of the bases up to 36."""
_ENDS_NUMBER = frozenset("+-*/^,)}]=")
"""Signs that belong to no numeral."""
SHAPES = frozenset(("angle", "triangle", "segment"))


class Atoms(Commands):
    """Reads one atom. What may stand inside an atom is read by the levels above, which `parser` adds."""

    def _script_argument(self) -> Tree:
        """A braced group, or one atom; `x^2y` raises to 2 alone."""
        return self._group("{") if self.is_at("{") else self._atom()

    def _atom(self) -> Tree:
        token = self.tokens[self.at]
        match token.kind:
            case "number":
                return self._number()
            case "letter":
                self.at += 1
                return self._called_letter(token.text) or self._subscripted(token.text)
            case "name":
                self.at += 1
                return self._subscripted(token.text)
            case "run" | "word":
                return self._run()
            case "function":
                return self._function()
            case "command":
                return self._command()
            case "operator":
                return self._operator_atom()
        raise self.error("something is missing")

    def _called_letter(self, letter: str) -> Tree | None:
        """`f(17)`, `f'(x)`, `f^{-1}(x)`: a letter that names a function, with its arguments."""
        if letter not in FUNCTION_LETTERS:
            return self._count(letter) if letter in COUNTS and self.is_at("(") else None
        start, name = self.at, letter
        while self.take("'"):
            name += "'"
        if [token.text for token in self.tokens[self.at : self.at + 5]] == ["^", "{", "-", "1", "}"]:
            self.at += 5
            name += "^-1"
        if not self.is_at("(") or self.token.spaced:
            self.at = start
            return None
        inner = self._group("(")
        return Apply(name, inner.items if isinstance(inner, Sequence) else (inner,))

    def _count(self, letter: str) -> Tree | None:
        """`C(10, 3)` and `P(10, 3)` of two numbers."""
        start = self.at
        match self._group("("):
            case Sequence("(", (Symbol() as n, Number() as k), ")", _) if letter == "C" and k.value >= 0:
                return Apply("binomial", (n, k))
            case Sequence("(", (Number() as n, Number() as k), ")", _) if n.value >= k.value >= 0:
                count = Apply("binomial", (n, k))
                return count if letter == "C" else Product((count, Apply("factorial", (k,))))
        self.at = start
        return None

    def _operator_atom(self) -> Tree:
        text = self.token.text
        if text in CLOSERS:
            inner = self._group(text)
            if text == "(" and self.is_at("_") and isinstance(inner, Number):  # `(3421)_5`
                return self._based(str(inner.value))
            return inner
        if text == "|":
            return self._bars()
        if text in ("lfloor", "lceil"):
            self.at += 1
            inner = self._sum()
            self.expect("rfloor" if text == "lfloor" else "rceil")
            return Apply("floor" if text == "lfloor" else "ceil", (inner,))
        if text == "...":
            self.at += 1
            return Constant("...")
        raise self.error("something is missing")

    def _number(self) -> Tree:
        token, after = self.tokens[self.at : self.at + 2]
        self.at += 1
        if (sign := self.signs[self.at]) in _ENDS_NUMBER or after.kind == "end":
            return number_literal(token)
        if sign == "_":
            return self._based(token.text)
        if token.text.endswith(".") and after.kind in ("run", "letter", "word") and not after.spaced:
            raise self.error("letters behind a point: stopped")
        index_follows = self.tokens[self.at + 1].text == "_"
        if not after.spaced and after.kind == "letter" and after.text.isupper() and index_follows:
            start = self.at
            self.at += 1
            try:
                return self._based(token.text + after.text)
            except ParseError:
                self.at = start
        repeating = repeating_decimal(token, self.tokens, self.at)
        if repeating is not None:
            value, count = repeating
            self.at += count
            return Number(value)
        if token.text == ".":
            raise self.error("a point without digits: stopped")
        return number_literal(token)

    def _based(self, digits: str) -> Tree:
        self.expect("_")
        return self._numeral(digits.replace(",", "").replace(" ", ""), self._script_argument())

    def _in_base(self, value: Number) -> Tree:
        """`3421 base 5`."""
        return self._numeral(str(value.value), self._atom())

    def _numeral(self, digits: str, base: Tree) -> Tree:
        match base:
            case Number(value, False, _) if value.denominator == 1 and 2 <= value <= 36:
                if all(d == "." or (d in DIGITS and int(d, 36) < value) for d in digits.removeprefix("-")):
                    return Based(digits, int(value))
        raise self.error("not a numeral in that base")

    def _subscripted(self, name: str) -> Tree:
        if self.signs[self.at] == "_":
            self.at += 1
            return Symbol(f"{name}_{self._index_text()}")
        return named(name)

    def _index_text(self) -> str:
        """The text of an index: one token, or all that its braces hold."""
        if not self.take("{"):
            if self.token.kind in ("end", "operator", "command"):
                raise self.error("an index is missing")
            self.at += 1
            return self.tokens[self.at - 1].text
        start = self.at
        while not self.is_at("}"):
            if self.token.kind in ("end", "command") or self.is_at("{"):
                raise self.error("an index that is no letter, word or number: stopped")
            self.at += 1
        self.at += 1
        return "".join(token.text for token in self.tokens[start : self.at - 1])

    def _run(self) -> Tree:
        token = self.token
        if len(token.text) == 1:
            self.at += 1
            return self._subscripted(token.text)
        if token.text in BIG_OPERATORS and self.tokens[self.at + 1].text == "(":
            return self._operator_call(token.text)
        if token.text in SHAPES and self.tokens[self.at + 1].kind in ("run", "word", "letter"):
            self.at += 2
            return Symbol(f"{token.text} {self.tokens[self.at - 1].text}")
        value, count = measures.number_words(self.tokens, self.at)
        if count:
            self.at += count
            return Number(Fraction(value))
        if token.kind == "word" or not measures.splits_into_letters(self.tokens, self.at):
            raise self.error("a word where a value should stand")
        letters = [Token("letter", letter, token.start, token.end, False) for letter in token.text]
        self.put(self.at, self.at + 1, letters)  # a power or an index then binds to the last letter alone
        return self._atom()

    def _group(self, opening: str) -> Tree:
        if opening == "{" and self.signs[self.at + 2] == "}" and self.tokens[self.at + 1].kind == "number":
            self.at += 3  # `{12}`, as most arguments and exponents are
            return number_literal(self.tokens[self.at - 2])
        self.enter()
        self.at += 1
        saved = self.bars, self.colon_splits, self.differential, self.angles
        self.bars, self.colon_splits, self.differential = int(opening == "{{"), opening != "{{", False
        self.angles = opening == "<"
        if opening == "{{" and self.take("}}"):
            tree: Tree = Constant("empty")
        else:
            inner = self._answer()
            if opening == "{{" and (self.take("mid", "|") or self.take(":")):
                inner = SetBuilder(inner, self._answer())
            closing = self.expect(*CLOSERS[opening])
            if closing in ("[", "]") and opening in ("[", "]") and (opening, closing) != ("[", "]"):
                opening, closing = {"]": "("}.get(opening, opening), {"[": ")"}.get(closing, closing)
            tree = bracketed(opening, inner, closing)
        self.bars, self.colon_splits, self.differential, self.angles = saved
        self.depth -= 1
        return tree

    def _bars(self) -> Tree:
        self.enter()
        self.at += 1
        saved, self.bars = self.bars, 1
        inner = self._sum()
        self.expect("|")
        self.bars = saved
        self.depth -= 1
        return Apply("det", (inner,)) if isinstance(inner, Matrix) else Apply("abs", (inner,))
