"""Answer text to tree: a precedence-climbing parser over the tokens, whole string or nothing.

From loosest to tightest: lists (`,` `;` and, or), relations, set operations, ratios, sums, products (written or
implied), signs, powers and postfixes, atoms. English that is no formula becomes `Words`; a formula that does not parse
to its end is refused, so no part of it is ever read for the whole.
"""

from __future__ import annotations

from rlvr_math_reward.parser import measures, wording
from rlvr_math_reward.parser.arithmetic import Arithmetic
from rlvr_math_reward.parser.building import listed
from rlvr_math_reward.parser.cursor import has_words
from rlvr_math_reward.parser.literals import plain_value
from rlvr_math_reward.parser.vocabulary import ORDINALS, QUALIFIERS
from rlvr_math_reward.policy import MAX_ITEMS, MAX_TREE_DEPTH
from rlvr_math_reward.tokenizer import ParseError, tokenize
from rlvr_math_reward.tree import (
    MINUS_ONE,
    Apply,
    Constant,
    Number,
    Product,
    Quantity,
    Quotient,
    Ratio,
    Relation,
    Sequence,
    Symbol,
    Tree,
    children,
)

__all__ = ["ParseError", "parse"]

_ENDS = (")", "]", "}", "}}", ">>", ".")
"""What ends a list, so that a comma before it separates nothing."""
_SUFFIXES = frozenset("€$£¥¢/(")
"""Signs that may begin what belongs to an expression as a whole; words and commands may too."""
RELATIONS = frozenset(("=", "!=", "<", "<=", ">", ">=", "in", "~", "==", "->"))
SET_OPERATIONS = {"cup": "union", "cap": "intersection", "setminus": "difference"}
CURRENCIES = {
    "$": "dollar",
    "€": "euro",
    "£": "pound",
    "¥": "yen",
    "₹": "rupee",
    "USD": "dollar",
    "US": "dollar",
    "EUR": "euro",
}
NAMING = frozenset(("f", "g", "h", "p", "q", "d", "Pr"))
"""Beside capitals, what names a function before a relation: `P(5) = 36`, `d(A, B) = 5`, `Pr(A) = 1/2`."""
MAX_HEAD = 14
"""Tokens of such a name."""
MAX_NAME_WORDS = 4
"""Words before an equals sign that name an answer."""


def parse(text: str, *, unit_letters: bool = False) -> Tree:
    """The tree of one bare answer.

    Args:
        text: an answer in LaTeX, Unicode or calculator notation, or plain words; no extraction is done.
        unit_letters: read a single letter apart after a number as its unit (`60 m/s`), not as a variable.

    Raises:
        ParseError: nothing to read, a size limit, or a notation that is not read here; with reason and span.

    Example:
        >>> from rlvr_math_reward.tree import render
        >>> render(parse(r"\\frac{1}{2}x^2"))
        '(1)/(2)*x**2'
    """
    plain = plain_value(text)
    if plain is not None:
        return plain
    tokens = tokenize(text)
    if not tokens:
        raise ParseError("there is no answer in it", (0, len(text)))
    excepted = None
    if has_words(tokens):
        tokens = wording.without_announcement(tokens)
        known = wording.fixed_phrase(tokens)
        if known is not None:
            return known
        tokens = wording.without_universe(wording.without_quantifier(tokens))
        excepted = wording.exception(tokens)
    try:
        if excepted is not None:
            return _without(excepted[0], _Parser(tokens[excepted[1] :], len(text), unit_letters).whole())
        tree = _Parser(tokens, len(text), unit_letters).whole()
        if len(tokens) > MAX_TREE_DEPTH:  # fewer tokens make no deeper tree
            _check_depth(tree, len(text))
        return tree
    except ParseError:
        words = wording.words(tokens, text)
        if words is None:
            raise
        return words


def _check_depth(tree: Tree, length: int) -> None:
    """Chains such as `5!!!!` and `x/2/2/2` nest without brackets; what walks the tree later recurses."""
    level = [tree]
    for _ in range(MAX_TREE_DEPTH):
        level = [child for node in level for child in children(node)]
        if not level:
            return
    raise ParseError(f"nested deeper than {MAX_TREE_DEPTH}", (0, length))


def _without(whole: Tree, values: Tree) -> Tree:
    """A set without some values: "all real numbers except 0 and 1"."""
    items = values.items if isinstance(values, Sequence) and not values.opening else (values,)
    items = tuple(item.operands[1] if isinstance(item, Relation) else item for item in items)
    return Apply("difference", (whole, Sequence("{", items, "}")))


class _Parser(Arithmetic):
    """Recursive descent with one token of look-ahead. Each `_name` method reads one level of the grammar."""

    # -- lists and relations -------------------------------------------------------------------------------------------
    def whole(self) -> Tree:
        self.take("=>")
        continued = self.take("=")
        tree = self._answer()
        if continued and isinstance(tree, Relation) and set(tree.operators) == {"="}:
            distinct = tuple(dict.fromkeys(tree.operands))  # "= 4 = 4" goes on from a left side that was left out
            tree = distinct[0] if len(distinct) == 1 else Relation(("=",) * (len(distinct) - 1), distinct)
        while self.take(",", ".", ";"):
            pass
        if self.token.kind != "end":
            raise self.error("not read to its end: stopped")
        return tree

    def _answer(self) -> Tree:
        """One statement, or several as a Sequence without brackets."""
        first = self._statement()
        if self.is_at("over", "choose"):
            name = self.expect("over", "choose")
            rest = self._statement()
            return Quotient(first, rest) if name == "over" else Apply("binomial", (first, rest))
        items, joiners = [first], []
        while (found := self._separator()) is not None:
            joiners.append(found)
            items.append(self._statement())
            if len(items) > MAX_ITEMS:
                raise self.error(f"more than {MAX_ITEMS} items")
        return items[0] if len(items) == 1 else listed(items, joiners)

    def _separator(self) -> str | None:
        start, found = self.at, None
        if self.signs[start] in _ENDS or self.tokens[start].kind == "end":
            return None
        if self.take(",", ";", "newline") or (self.is_at("(") and self.tokens[self.at + 2].text == "in"):
            found = ","
        if self.has_words and wording.is_declaration(self.tokens, self.at):
            self.at += 1
            return ","
        token = self.token
        if token.text.lower() in ("and", "or") and token.kind in ("word", "run", "operator"):
            self.at += 1
            found = token.text.lower()
        if self.token.kind == "end" or self.is_at(*_ENDS):
            self.at = start  # a trailing comma separates nothing
            return None
        return found

    def _statement(self) -> Tree:
        named = self._function_head() or self._named_in_words()
        operands, operators = [named or self._side()], []
        while (sign := self.signs[self.at]) in RELATIONS and not (self.angles and sign == ">"):
            operators.append(sign)
            self.at += 1
            operands.append(self._function_head() or self._side())
        if self.signs[self.at] == "(" and self.signs[self.at + 1] == "~":
            self.at += 2
            operators.append("~")
            operands.append(self._side())
            self.expect(")")
        if not operators:
            return operands[0]
        return Relation(tuple(operators), tuple(operands))

    def _named_in_words(self) -> Tree | None:
        """`Area =`, `total cost =`: a name of a few words before an equals sign."""
        if not self.has_words:
            return None
        end = self.at
        while self.tokens[end].kind in ("word", "run") and end - self.at < MAX_NAME_WORDS:
            end += 1
        names = self.tokens[self.at : end]
        if not names or self.tokens[end].text != "=" or not all(len(token.text) > 2 for token in names):
            return None
        if any(token.text.lower() in QUALIFIERS for token in names):
            return None
        self.at = end
        return Symbol(" ".join(token.text.lower() for token in names))

    def _function_head(self) -> Tree | None:
        """`P(x)` before a relation sign: a name, not a product."""
        if self.tokens[self.at].kind not in ("letter", "function") or self.signs[self.at + 1] not in ("(", "["):
            return None
        window = self.tokens[self.at : self.at + 5]
        if window[2].kind in ("letter", "name") and window[3].text == ")" and window[4].text in RELATIONS:
            self.at += 4
            return Apply(window[0].text, (Symbol(window[2].text),))
        if window[0].text not in NAMING and not window[0].text.isupper():
            return None
        end = self.at + 2
        while self.tokens[end].text not in (")", "]", "=") and end < self.at + MAX_HEAD:
            if self.tokens[end].kind == "end":
                return None
            end += 1
        if self.tokens[end].text not in (")", "]") or self.tokens[end + 1].text != "=":
            return None
        name = "".join(token.text for token in self.tokens[self.at : end + 1])
        self.at = end + 1
        return Symbol(name)

    def _side(self) -> Tree:
        """An expression with what belongs to it as a whole: a currency sign before, a unit or modulus behind."""
        self.take("~")
        start = self.at
        first = self.tokens[start]
        if self.has_words and (declared := self._integer_declaration()) is not None:
            return declared
        negative = first.text == "-" and self.tokens[start + 1].text in CURRENCIES
        sign = self.tokens[start + negative]
        currency = CURRENCIES.get(sign.text) if sign.kind in ("operator", "run", "word") else None
        if currency is not None:
            self.at += 1 + negative
            if currency == "dollar" and self.is_at("$"):  # `US$120`
                self.at += 1
        value = self._set_expression()
        value = Product((MINUS_ONE, value)) if negative and currency else value
        return self._suffix(value, currency)

    def _integer_declaration(self) -> Tree | None:
        """`n is an integer`, `k an integer`, `any integer k`: as `n in Z`."""
        name, count = wording.integer_declaration(self.tokens, self.at)
        self.at += count
        return Relation(("in",), (Symbol(name), Constant("Z"))) if count else None

    def _suffix(self, value: Tree, currency: str | None) -> Tree:
        token = self.tokens[self.at]
        if token.kind == "end" or (token.kind == "operator" and token.text not in _SUFFIXES):
            return value if currency is None else Quantity(value, currency)
        if self.take("€", "$", "£", "¥"):
            currency = CURRENCIES[self.tokens[self.at - 1].text]
        elif self.take("¢"):
            currency = "cent"
        value, count = measures.scale(self.tokens, self.at, value)
        self.at += count
        unit = self._unit(value)
        if currency is not None:
            value = Quantity(value, currency + measures.beside_currency(unit or ""))
        elif unit is not None:
            value = Quantity(value, unit) if unit else value
        if self.token.text.lower() == "base" and self.token.kind in ("run", "word") and isinstance(value, Number):
            self.at += 1
            return self._in_base(value)
        if self.token.text == "pmod" and self.token.kind == "command":
            self.at += 1
            return Apply("mod", (value, self._argument()))
        if self.token.text in ("mod", "bmod") and self.token.kind in ("command", "run"):
            self.at += 1
            return Apply("remainder", (value, self._power()))
        if self.is_at("(") and self.tokens[self.at + 1].text in ("mod", "bmod"):
            self.at += 2
            value = Apply("mod", (value, self._power()))
            self.expect(")")
        return value

    def _unit(self, value: Tree) -> str | None:
        """The unit or counted noun behind a value; with "th" before it behind an ordinal, which counts one thing."""
        start = self.at
        unit, count = measures.unit_phrase(self.tokens, start, value)
        self.at += count
        if unit == "":
            noun, count = measures.unit_phrase(self.tokens, self.at, value)
            self.at += count
            return f"th {noun}" if noun else ""
        raised = any(token.text in ORDINALS for token in self.tokens[max(0, start - 2) : start])  # `12^{th}`
        return f"th {unit}" if unit and raised else unit

    def _set_expression(self) -> Tree:
        left = self._ratio()
        while (sign := self.signs[self.at]) in SET_OPERATIONS:
            name = SET_OPERATIONS[sign]
            self.at += 1
            left = Apply(name, (left, self._ratio()))
        return left

    def _ratio(self) -> Tree:
        parts = [self._sum()]
        while self.colon_splits and (self.signs[self.at] == ":" or (self.has_words and self._ratio_word())):
            self.at += 1
            parts.append(self._sum())
        return parts[0] if len(parts) == 1 else Ratio(tuple(parts))

    def _ratio_word(self) -> bool:
        spelled = self.token.kind in ("word", "run") and self.token.text == "to"
        return spelled and self.tokens[self.at + 1].kind == "number"
