"""The parser's place in the tokens: look-ahead, expectation, errors with their span, and the bound on nesting."""

from __future__ import annotations

from rlvr_math_reward.policy import MAX_DEPTH
from rlvr_math_reward.tokenizer import ParseError, Token

__all__ = ["Cursor"]


LOOK_AHEAD = 6
"""End marks behind the tokens, so that no look-ahead needs to ask where the text ends."""


class Cursor:
    """Tokens with a position, and what the surrounding brackets change about reading them."""

    def __init__(self, tokens: list[Token], length: int, unit_letters: bool) -> None:
        self.tokens = [*tokens, *[Token("end", "", length, length, True)] * LOOK_AHEAD]
        self.unit_letters = unit_letters
        self.at = 0
        self.depth = 0
        self.bars = 0  # inside |...| or a set builder a bar closes and cannot open a factor
        self.colon_splits = True  # inside { } a colon is "such that"
        self.differential = False  # inside an integral `dx` ends the body
        self.angles = False  # inside <...> the sign > closes

    @property
    def token(self) -> Token:
        try:
            return self.tokens[self.at]
        except IndexError:  # further behind the end than its marks
            return self.tokens[-1]

    def is_at(self, *texts: str) -> bool:
        token = self.token
        return token.kind == "operator" and token.text in texts

    def take(self, *texts: str) -> bool:
        if self.is_at(*texts):
            self.at += 1
            return True
        return False

    def expect(self, *texts: str) -> str:
        token = self.token
        if not self.take(*texts):
            raise self.error(f"expected {' or '.join(texts)}")
        return token.text

    def error(self, reason: str) -> ParseError:
        token = self.token
        where = "at the end" if token.kind == "end" else f"at {token.text!r}"
        return ParseError(f"{reason} {where}", (token.start, max(token.end, token.start + 1)))

    def enter(self) -> None:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise self.error(f"nested deeper than {MAX_DEPTH}")
