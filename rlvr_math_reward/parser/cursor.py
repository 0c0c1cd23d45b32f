"""The parser's place in the tokens: look-ahead, expectation, errors with their span, and the bound on nesting."""

from __future__ import annotations

from rlvr_math_reward.policy import MAX_DEPTH
from rlvr_math_reward.tokenizer import ParseError, Token

__all__ = ["Cursor", "has_words"]


LOOK_AHEAD = 6
"""End marks behind the tokens, so that no look-ahead needs to ask where the text ends. No rule reads over the first."""


def has_words(tokens: list[Token]) -> bool:
    """Whether letters stand together in it: without any, no rule about words needs to be asked."""
    return any(token.kind in ("run", "word") for token in tokens)


def _signs(tokens: list[Token]) -> list[str]:
    return [token.text if token.kind == "operator" else "" for token in tokens]


class Cursor:
    """Tokens with a position, and what the surrounding brackets change about reading them.

    `signs` holds the text of each token that is an operator, and an empty text for the others: most questions that the
    parser asks are about the sign it stands at.
    """

    def __init__(self, tokens: list[Token], length: int, unit_letters: bool) -> None:
        self.tokens = [*tokens, *[Token("end", "", length, length, True)] * LOOK_AHEAD]
        self.signs = _signs(self.tokens)
        self.has_words = has_words(tokens)
        self.unit_letters = unit_letters
        self.at = 0
        self.depth = 0
        self.bars = 0  # inside |...| or a set builder a bar closes and cannot open a factor
        self.colon_splits = True  # inside { } a colon is "such that"
        self.differential = False  # inside an integral `dx` ends the body
        self.angles = False  # inside <...> the sign > closes

    @property
    def token(self) -> Token:
        return self.tokens[self.at]

    def is_at(self, *texts: str) -> bool:
        return self.signs[self.at] in texts

    def take(self, *texts: str) -> bool:
        if self.is_at(*texts):
            self.at += 1
            return True
        return False

    def put(self, start: int, end: int, tokens: list[Token]) -> None:
        """Reads other tokens in the place of those from `start` to `end`."""
        self.tokens[start:end] = tokens
        self.signs[start:end] = _signs(tokens)

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
