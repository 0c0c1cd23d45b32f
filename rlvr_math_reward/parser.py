"""Answer text to tree: a precedence-climbing parser over the tokens, whole string or nothing.

From loosest to tightest: lists (`,` `;` and, or), relations, set operations, ratios, sums, products (written or
implied), signs, powers and postfixes, atoms. English that is no formula becomes `Words`; a formula that does not parse
to its end is refused, so no part of it is ever read for the whole.
"""

from __future__ import annotations

import re
from fractions import Fraction

from rlvr_math_reward import wording
from rlvr_math_reward.literals import number_literal, plain_number, repeating_decimal
from rlvr_math_reward.policy import MAX_DEPTH, MAX_ITEMS, MAX_MATRIX_ENTRIES
from rlvr_math_reward.tokenizer import ParseError, Token, tokenize
from rlvr_math_reward.tree import (
    Apply, Based, BigOperator, Constant, Matrix, Number, Power, Product, Quantity, Quotient, Ratio, Relation,
    Sequence, SetBuilder, Sum, Symbol, Tree,
)  # fmt: skip

__all__ = ["ParseError", "parse"]

RELATIONS = frozenset(("=", "!=", "<", "<=", ">", ">=", "in", "~", "==", "->"))
SET_OPERATIONS = {"cup": "union", "cap": "intersection", "setminus": "difference"}
NUMBER_SETS = {"RR": "R", "QQ": "Q", "ZZ": "Z", "NN": "N", "CC": "C"}
CLOSERS = {"(": (")", "]"), "[": ("]", ")"), "{{": ("}}",), "<<": (">>",), "{": ("}",)}
CURRENCIES = {"$": "dollar", "€": "euro", "£": "pound", "¥": "yen"}
INVERSES = {name: "arc" + name for name in ("sin", "cos", "tan", "cot", "sec", "csc", "sinh", "cosh", "tanh")}
SYNONYMS = {
    "asin": "arcsin", "acos": "arccos", "atan": "arctan", "asinh": "arcsinh", "acosh": "arccosh", "atanh": "arctanh",
    "Re": "re", "Im": "im", "sign": "sgn", "sqrt": "sqrt", "lg": "log",
}  # fmt: skip
FUNCTION_LETTERS = frozenset("fghFGHPQ")
"""Letters that name a function when brackets follow and a relation comes after: `f(x) = 2x`, but `x(x+1)`."""
SHAPES = frozenset(("angle", "triangle", "segment"))
TEMPERATURES = {"C": "celsius", "F": "fahrenheit", "Celsius": "celsius", "Fahrenheit": "fahrenheit"}
_PLAIN_NUMBER = re.compile(r"-?[0-9]{1,15}(?:\.[0-9]{1,15})?")
MINUS_ONE = Number(Fraction(-1))


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
    if _PLAIN_NUMBER.fullmatch(text):  # most answers of GSM8K, at a tenth of the time
        return plain_number(text)
    tokens = tokenize(text)
    if not tokens:
        raise ParseError("there is no answer in it", (0, len(text)))
    tokens = wording.without_announcement(tokens)
    known = wording.fixed_phrase(tokens)
    if known is not None:
        return known
    try:
        return _Parser(tokens, len(text), unit_letters).whole()
    except ParseError:
        words = wording.words(tokens, text)
        if words is None:
            raise
        return words


class _Parser:
    """Recursive descent with one token of look-ahead. Each `_name` method reads one level of the grammar."""

    def __init__(self, tokens: list[Token], length: int, unit_letters: bool) -> None:
        self.tokens = [*tokens, Token("end", "", length, length, True)]
        self.unit_letters = unit_letters
        self.at = 0
        self.depth = 0
        self.bars = 0  # inside |...| or a set builder a bar closes and cannot open a factor
        self.colon_splits = True  # inside { } a colon is "such that"
        self.differential = False  # inside an integral `dx` ends the body

    # -- token access --------------------------------------------------------------------------------------------------
    @property
    def token(self) -> Token:
        return self.tokens[self.at]

    def _is(self, *texts: str) -> bool:
        token = self.tokens[self.at]
        return token.kind == "operator" and token.text in texts

    def _take(self, *texts: str) -> bool:
        if self._is(*texts):
            self.at += 1
            return True
        return False

    def _expect(self, *texts: str) -> str:
        token = self.token
        if not self._take(*texts):
            raise self._error(f"expected {' or '.join(texts)}")
        return token.text

    def _error(self, reason: str) -> ParseError:
        token = self.token
        where = "at the end" if token.kind == "end" else f"at {token.text!r}"
        return ParseError(f"{reason} {where}", (token.start, max(token.end, token.start + 1)))

    def _enter(self) -> None:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise self._error(f"nested deeper than {MAX_DEPTH}")

    # -- lists and relations -------------------------------------------------------------------------------------------
    def whole(self) -> Tree:
        continued = self._take("=")
        tree = self._answer()
        if continued and isinstance(tree, Relation) and set(tree.operators) == {"="}:
            distinct = tuple(dict.fromkeys(tree.operands))  # "= 4 = 4" goes on from a left side that was left out
            tree = distinct[0] if len(distinct) == 1 else Relation(("=",) * (len(distinct) - 1), distinct)
        while self._take(",", ".", ";"):
            pass
        if self.token.kind != "end":
            raise self._error("not read to its end: stopped")
        return tree

    def _answer(self) -> Tree:
        """One statement, or several as a Sequence without brackets."""
        first = self._statement()
        if self._is("over", "choose"):
            name = self._expect("over", "choose")
            rest = self._statement()
            return Quotient(first, rest) if name == "over" else Apply("binomial", (first, rest))
        items, joiner = [first], ","
        while (found := self._separator()) is not None:
            joiner = found if found in ("and", "or") else joiner
            items.append(self._statement())
            if len(items) > MAX_ITEMS:
                raise self._error(f"more than {MAX_ITEMS} items")
        return items[0] if len(items) == 1 else Sequence("", tuple(items), "", joiner)

    def _separator(self) -> str | None:
        start, found = self.at, None
        if self._take(",", ";"):
            found = ","
        token = self.token
        if token.text.lower() in ("and", "or") and token.kind in ("word", "run", "operator"):
            self.at += 1
            found = token.text.lower()
        if self.token.kind == "end" or self._is(")", "]", "}", "}}", ">>", "."):
            self.at = start  # a trailing comma separates nothing
            return None
        return found

    def _statement(self) -> Tree:
        named = self._function_head()
        operands, operators = [named or self._side()], []
        while self.token.kind == "operator" and self.token.text in RELATIONS:
            operators.append(self.token.text)
            self.at += 1
            operands.append(self._function_head() or self._side())
        if not operators:
            return operands[0]
        return Relation(tuple(operators), tuple(operands))

    def _function_head(self) -> Tree | None:
        """`f(x)` before a relation sign: a name, not a product."""
        window = self.tokens[self.at : self.at + 5]
        if len(window) < 5 or [t.text for t in window[1:4:2]] != ["(", ")"] or window[0].kind != "letter":
            return None
        if window[2].kind not in ("letter", "name") or window[4].text not in RELATIONS:
            return None
        self.at += 4
        return Apply(window[0].text, (Symbol(window[2].text),))

    def _side(self) -> Tree:
        """An expression with what belongs to it as a whole: a currency sign before, a unit or modulus behind."""
        self._take("~")
        start = self.at
        negative = self._is("-") and self.tokens[self.at + 1].text in CURRENCIES
        self.at += negative
        currency = CURRENCIES.get(self.token.text) if self.token.kind == "operator" else None
        self.at += currency is not None
        if currency is None:
            self.at = start
        value = self._set_expression()
        value = Product((MINUS_ONE, value)) if negative and currency else value
        return self._suffix(value, currency)

    def _suffix(self, value: Tree, currency: str | None) -> Tree:
        if self._take("€", "$", "£", "¥"):
            currency = CURRENCIES[self.tokens[self.at - 1].text]
        elif self._take("¢"):
            currency = "cent"
        value, count = wording.scale(self.tokens, self.at, value)
        self.at += count
        unit, count = wording.unit_phrase(self.tokens, self.at, value)
        self.at += count
        if currency is not None:
            value = Quantity(value, currency)
        elif unit is not None:
            value = Quantity(value, unit) if unit else value
        if self.token.kind == "command" and self.token.text in ("pmod", "mod", "bmod"):
            self.at += 1
            return Apply("mod", (value, self._argument()))
        if self.token.kind == "run" and self.token.text == "mod":
            self.at += 1
            return Apply("mod", (value, self._power()))
        if self._is("(") and self.tokens[self.at + 1].text == "mod":
            self.at += 2
            value = Apply("mod", (value, self._power()))
            self._expect(")")
        return value

    def _set_expression(self) -> Tree:
        left = self._ratio()
        while self.token.kind == "operator" and self.token.text in SET_OPERATIONS:
            name = SET_OPERATIONS[self.token.text]
            self.at += 1
            left = Apply(name, (left, self._ratio()))
        return left

    def _ratio(self) -> Tree:
        parts = [self._sum()]
        while self.colon_splits and (self._is(":") or self._ratio_word()):
            self.at += 1
            parts.append(self._sum())
        return parts[0] if len(parts) == 1 else Ratio(tuple(parts))

    def _ratio_word(self) -> bool:
        return self.token.kind in ("word", "run") and self.token.text == "to" and self.tokens[self.at + 1].kind == "number"

    # -- arithmetic ----------------------------------------------------------------------------------------------------
    def _sum(self) -> Tree:
        terms = [self._signed()]
        while self._is("+", "-", "+-", "-+"):
            terms.append(self._signed())
        return terms[0] if len(terms) == 1 else Sum(tuple(terms))

    def _signed(self) -> Tree:
        """A product with its signs. Runs of signs are read in a loop: `---4` nests nothing."""
        negative, marked = False, None
        while self._is("+", "-", "+-", "-+"):
            sign = self._expect("+", "-", "+-", "-+")
            negative ^= sign == "-"
            marked = "plusminus" if sign == "+-" else "minusplus" if sign == "-+" else marked
        value = self._product()
        if negative:
            value = negate(value)
        return Apply(marked, (value,)) if marked else value

    def _product(self) -> Tree:
        value = self._implied()
        while self._is("*", "/"):
            divide = self._expect("*", "/") == "/"
            factor = self._signed_factor()
            value = Quotient(value, factor) if divide else _times(value, factor)
        return value

    def _signed_factor(self) -> Tree:
        if self._is("-", "+"):
            return self._signed_once()
        return self._implied()

    def _signed_once(self) -> Tree:
        negative = self._expect("-", "+") == "-"
        value = self._implied()
        return negate(value) if negative else value

    def _implied(self) -> Tree:
        """Factors side by side, a mixed number, and a percent sign that closes the whole."""
        first = self._power()
        mixed = self._mixed(first)
        factors = [mixed if mixed is not None else first]
        while self._starts_factor(factors[-1]):
            factors.append(self._power())
        value = factors[0] if len(factors) == 1 else Product(tuple(factors))
        while self._take("%"):
            value = Apply("percent", (value,))
            if self._starts_factor(value) or self.token.kind == "number":
                raise self._error("a percent sign in the middle")
        return value

    def _mixed(self, whole: Tree) -> Tree | None:
        """`4\\frac23`, `4 2/3`: a whole number and a proper fraction side by side."""
        if not (isinstance(whole, Number) and whole.value.denominator == 1 and not whole.decimal):
            return None
        start = self.at
        if self.tokens[start - 1].kind != "number":
            return None
        if self.token.kind == "command" and self.token.text in ("frac", "dfrac", "tfrac", "cfrac"):
            part: Tree = self._power()
        elif self.token.kind == "number" and self.token.spaced and self.tokens[start + 1].text == "/":
            top = self._power()
            self.at += 1
            part = Quotient(top, self._power()) if self.token.kind == "number" else top
        else:
            return None
        match part:
            case Quotient(Number(top, False, _), Number(bottom, False, _)) if 0 <= top < bottom:
                return _fraction(whole.value + top / bottom)
        self.at = start
        return None

    def _starts_factor(self, previous: Tree) -> bool:
        token = self.token
        match token.kind:
            case "letter":
                if self.unit_letters and wording.is_unit_letter(self.tokens, self.at, previous):
                    return False
                return not (self.differential and token.text == "d")
            case "run":
                return wording.is_product_run(self.tokens, self.at, previous, self.differential)
            case "name":
                return token.text != "..."
            case "function":
                return True
            case "command":
                return token.text not in ("end", "pmod", "mod", "bmod")
            case "number":  # `\sqrt{2}3`, `(x+1)2`; never `x2`, and `2 3` is no product
                return isinstance(previous, Apply | Sum) and not token.spaced
            case "operator":
                if token.text == "|":
                    return not self.bars
                if token.text == "(" and self.tokens[self.at + 1].text == "mod":
                    return False
                return token.text in ("(", "{", "lfloor", "lceil") or (token.text == "[" and not token.spaced)
        return False

    def _power(self) -> Tree:
        base = self._atom()
        while True:
            if self._is("^"):
                self.at += 1
                base = self._raised(base)
            elif self._is("!"):
                self.at += 1
                base = Apply("factorial", (base,))
            elif self._take("°"):
                base = self._degrees(base)
            elif self._is("'") and isinstance(base, Symbol):
                self.at += 1
                base = Symbol(base.name + "'")
            else:
                return base

    def _raised(self, base: Tree) -> Tree:
        if self._take("°"):
            return self._degrees(base)
        if wording.is_ordinal_suffix(self.tokens, self.at):
            self.at += 3 if self._is("{") else 1
            return base
        if self._is("{") and self.tokens[self.at + 1].text == "°" and self.tokens[self.at + 2].text == "}":
            self.at += 3
            return self._degrees(base)
        if self._is("-", "+"):  # `5^-1`
            negative = self._expect("-", "+") == "-"
            exponent = self._script_argument()
            return Power(base, negate(exponent) if negative else exponent)
        exponent = self._script_argument()
        if self._is("^"):  # towers bind to the right
            self.at += 1
            self._enter()
            exponent = self._raised(exponent)
            self.depth -= 1
        return Power(base, exponent)

    def _degrees(self, value: Tree) -> Tree:
        scale = TEMPERATURES.get(self.token.text) if self.token.kind in ("letter", "word") else None
        self.at += scale is not None
        return Apply(scale or "degree", (value,))

    def _script_argument(self) -> Tree:
        """A braced group, or one atom; `x^2y` raises to 2 alone."""
        return self._group("{") if self._is("{") else self._atom()

    # -- atoms ---------------------------------------------------------------------------------------------------------
    def _atom(self) -> Tree:
        token = self.token
        match token.kind:
            case "number":
                return self._number()
            case "letter":
                self.at += 1
                return self._subscripted(token.text)
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
        raise self._error("something is missing")

    def _operator_atom(self) -> Tree:
        text = self.token.text
        if text in CLOSERS:
            return self._group(text)
        if text == "|":
            return self._bars()
        if text in ("lfloor", "lceil"):
            self.at += 1
            inner = self._sum()
            self._expect("rfloor" if text == "lfloor" else "rceil")
            return Apply("floor" if text == "lfloor" else "ceil", (inner,))
        if text == "...":
            self.at += 1
            return Constant("...")
        raise self._error("something is missing")

    def _number(self) -> Tree:
        token = self.token
        self.at += 1
        if self._is("_"):
            return self._based(token.text)
        after = self.token
        if not after.spaced and after.kind == "letter" and self.tokens[self.at + 1].text == "_" and after.text.isupper():
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
        return number_literal(token)

    def _based(self, digits: str) -> Tree:
        self._expect("_")
        base = self._script_argument()
        match base:
            case Number(value, False, _) if value.denominator == 1 and 2 <= value <= 36:
                if all(d == "." or int(d, 36) < value for d in digits):
                    return Based(digits, int(value))
        raise self._error("not a numeral in that base")

    def _subscripted(self, name: str) -> Tree:
        if self._is("_"):
            self.at += 1
            start = self.at
            self._script_argument()
            index = "".join(token.text for token in self.tokens[start : self.at] if token.text not in "{}")
            return Symbol(f"{name}_{index}")
        return named(name)

    def _run(self) -> Tree:
        token = self.token
        if len(token.text) == 1:
            self.at += 1
            return self._based(token.text) if self._is("_") and token.text.isdigit() else self._subscripted(token.text)
        if token.text in SHAPES and self.tokens[self.at + 1].kind in ("run", "word", "letter"):
            self.at += 2
            return Symbol(f"{token.text} {self.tokens[self.at - 1].text}")
        value, count = wording.number_words(self.tokens, self.at)
        if count:
            self.at += count
            return Number(Fraction(value))
        if token.kind == "word" and self.tokens[self.at + 1].text == "_" and token.text.isalnum() and token.text.isupper():
            self.at += 1
            return self._based(token.text)
        if token.kind == "word" or not wording.splits_into_letters(self.tokens, self.at):
            raise self._error("a word where a value should stand")
        letters = [Token("letter", letter, token.start, token.end, False) for letter in token.text]
        self.tokens[self.at : self.at + 1] = letters  # a power or an index then binds to the last letter alone
        return self._atom()

    def _group(self, opening: str) -> Tree:
        self._enter()
        self.at += 1
        saved = self.bars, self.colon_splits, self.differential
        self.bars, self.colon_splits, self.differential = int(opening == "{{"), opening != "{{", False
        if opening == "{{" and self._take("}}"):
            tree: Tree = Constant("empty")
        else:
            inner = self._answer()
            if opening == "{{" and (self._take("mid", "|") or self._take(":")):
                inner = SetBuilder(inner, self._answer())
            closing = self._expect(*CLOSERS[opening])
            tree = bracketed(opening, inner, closing)
        self.bars, self.colon_splits, self.differential = saved
        self.depth -= 1
        return tree

    def _bars(self) -> Tree:
        self._enter()
        self.at += 1
        saved, self.bars = self.bars, 1
        inner = self._sum()
        self._expect("|")
        self.bars = saved
        self.depth -= 1
        return Apply("det", (inner,)) if isinstance(inner, Matrix) else Apply("abs", (inner,))

    # -- functions and commands ----------------------------------------------------------------------------------------
    def _function(self) -> Tree:
        written = self.token.text
        name = SYNONYMS.get(written, written)
        self.at += 1
        base = exponent = None
        while self._is("^", "_"):
            if self._expect("^", "_") == "_":
                base = self._script_argument()
            else:
                exponent = self._script_argument()
        args = self._function_arguments()
        if exponent == MINUS_ONE and name in INVERSES:
            name, exponent = INVERSES[name], None
        call = _call(name, args, base)
        return call if exponent is None else Power(call, exponent)

    def _function_arguments(self) -> tuple[Tree, ...]:
        if self._is("(", "{", "{{", "["):
            inner = self._group(self.token.text)
            if isinstance(inner, Sequence):
                return inner.items
            return (inner,)
        self._enter()
        negative = self._take("-")
        factors = [self._power()]
        while self.token.kind != "function" and self._starts_factor(factors[-1]) and not self._is("("):
            factors.append(self._power())
        self.depth -= 1
        value = factors[0] if len(factors) == 1 else Product(tuple(factors))
        return (negate(value) if negative else value,)

    def _argument(self, *, first: bool = True) -> Tree:
        """The argument of a command: a group, one digit of a number, or one atom."""
        if self._is("{"):
            return self._group("{")
        token = self.token
        if token.kind == "number" and token.text.isdigit() and len(token.text) > 1:
            if not first:  # `\\frac123` is 1/23; one digit, then all that is left
                self.at += 1
                return Number(Fraction(int(token.text)))
            self.tokens[self.at] = Token("number", token.text[1:], token.start + 1, token.end, False)
            return Number(Fraction(int(token.text[0])))
        return self._atom()

    def _command(self) -> Tree:
        name = self.token.text
        self._enter()
        self.at += 1
        tree = self._command_body(name)
        self.depth -= 1
        return tree

    def _command_body(self, name: str) -> Tree:
        match name:
            case "frac" | "dfrac" | "tfrac" | "cfrac" | "nicefrac" | "sfrac":
                return Quotient(self._argument(), self._argument(first=False))
            case "binom" | "dbinom" | "tbinom":
                return Apply("binomial", (self._argument(), self._argument()))
            case "sqrt":
                return self._root()
            case "overline" | "bar" | "widebar":
                return self._overline()
            case "mathbb":
                letter = self._raw_group()
                return Constant(letter) if letter in NUMBER_SETS.values() else named(letter)
            case "operatorname":
                return self._operator_name()
            case "begin":
                return self._environment()
            case "sum" | "prod" | "int" | "lim":
                return self._big_operator(name)
            case "angle" | "triangle" | "overrightarrow":
                return Symbol(f"{name} {self._raw_group()}")
        raise self._error(f"\\{name} has no meaning here")

    def _root(self) -> Tree:
        index: Tree | None = None
        if self._is("["):
            self.at += 1
            index = self._sum()
            self._expect("]")
        inner = self._argument()
        return Apply("sqrt", (inner,)) if index is None else Apply("root", (inner, index))

    def _overline(self) -> Tree:
        inner = self._argument()
        segment = isinstance(inner, Product) and all(isinstance(f, Symbol) and f.name.isupper() for f in inner.factors)
        return Symbol("segment " + "".join(f.name for f in inner.factors)) if segment else Apply("conjugate", (inner,))  # type: ignore[union-attr]

    def _raw_group(self) -> str:
        """The letters of a braced group or of the next token, as they stand."""
        if not self._take("{"):
            self.at += 1
            return self.tokens[self.at - 1].text
        start = self.at
        while not self._is("}"):
            if self.token.kind not in ("letter", "run", "word", "name", "function"):
                raise self._error("expected letters")
            self.at += 1
        self.at += 1
        return "".join(token.text for token in self.tokens[start : self.at - 1])

    def _operator_name(self) -> Tree:
        start, name = self.at, self._raw_group()
        self.at -= 1
        self.tokens[self.at] = self.tokens[start]._replace(kind="function", text=name, end=self.token.end)
        return self._function()

    def _environment(self) -> Tree:
        name = self._raw_group().rstrip("*")
        if name == "array" and self._is("{"):
            while not self._take("}"):
                self.at += 1
                if self.token.kind == "end":
                    raise self._error("an open array")
        if name not in ("pmatrix", "bmatrix", "Bmatrix", "vmatrix", "matrix", "smallmatrix", "array"):
            raise self._error(f"no answer is read from {name}")
        rows = self._rows()
        if self._raw_group().rstrip("*") != name:
            raise self._error("environments that cross")
        if any(len(row) != len(rows[0]) for row in rows):
            raise self._error("rows of different lengths")
        matrix = Matrix(tuple(rows))
        return Apply("det", (matrix,)) if name == "vmatrix" else matrix

    def _rows(self) -> list[tuple[Tree, ...]]:
        rows: list[tuple[Tree, ...]] = []
        row: list[Tree] = []
        while not (self.token.kind == "command" and self.token.text == "end"):
            row.append(self._sum())
            if len(row) + sum(map(len, rows)) > MAX_MATRIX_ENTRIES:
                raise self._error(f"more than {MAX_MATRIX_ENTRIES} entries")
            if self._take("&"):
                continue
            rows.append(tuple(row))
            row = []
            if not self._take("newline"):
                break
        if not (self.token.kind == "command" and self.token.text == "end") or row or not rows:
            raise self._error("a matrix that does not end")
        self.at += 1
        return rows

    def _big_operator(self, name: str) -> Tree:
        lower = upper = None
        while self._is("^", "_"):
            script = self._expect("^", "_")
            bound = self._scripted_bound()
            lower, upper = (bound, upper) if script == "_" else (lower, bound)
        variable, lower = _index(name, lower)
        if name != "int":
            return BigOperator(name, variable, lower, upper, self._product())
        saved, self.differential = self.differential, True
        body = self._sum()
        self.differential = saved
        return BigOperator(name, self._differential_variable(), lower, upper, body)

    def _scripted_bound(self) -> Tree:
        if not self._is("{"):
            return self._signed_once() if self._is("-", "+") else self._atom()
        self._enter()
        self.at += 1
        bound = self._statement()
        self._expect("}")
        self.depth -= 1
        return bound

    def _differential_variable(self) -> str:
        token = self.token
        self.at += 1
        if token.kind == "run" and len(token.text) == 2 and token.text[0] == "d":
            return token.text[1]
        if token.kind == "letter" and token.text == "d" and self.token.kind in ("letter", "name"):
            self.at += 1
            return self.tokens[self.at - 1].text
        self.at -= 1
        raise self._error("an integral without its differential")


# -- building nodes ----------------------------------------------------------------------------------------------------
def named(name: str) -> Tree:
    """A letter or name by itself: a constant where it is one."""
    if name in ("pi", "e", "i", "oo", "empty", "..."):
        return Constant(name)
    return Constant(NUMBER_SETS[name]) if name in NUMBER_SETS else Symbol(name)


def negate(value: Tree) -> Tree:
    match value:
        case Number(number, decimal, grouped):
            return Number(-number, decimal, grouped)
        case Quotient(Number(number, decimal, grouped), bottom):
            return Quotient(Number(-number, decimal, grouped), bottom)
        case Product(factors):
            return Product((MINUS_ONE, *factors))
        case Based(digits, base) if not digits.startswith("-"):
            return Based("-" + digits, base)
    return Product((MINUS_ONE, value))


def bracketed(opening: str, inner: Tree, closing: str) -> Tree:
    """What brackets around `inner` mean: grouping around one value, else a Sequence that keeps them."""
    if isinstance(inner, SetBuilder):
        return inner
    bare = isinstance(inner, Sequence) and not inner.opening
    if not bare and (opening == "{" or (opening, closing) == ("(", ")")):
        return inner
    opening, closing = _BRACKETS.get(opening, opening), _BRACKETS.get(closing, closing)
    if isinstance(inner, Sequence) and bare:
        return Sequence(opening, inner.items, closing, inner.joiner)
    return Sequence(opening, (inner,), closing)


_BRACKETS = {"{{": "{", "}}": "}", "<<": "<", ">>": ">"}


def _fraction(value: Fraction) -> Tree:
    if value.denominator == 1:
        return Number(value)
    return Quotient(Number(Fraction(value.numerator)), Number(Fraction(value.denominator)))


def _times(left: Tree, right: Tree) -> Tree:
    front = left.factors if isinstance(left, Product) else (left,)
    return Product((*front, *(right.factors if isinstance(right, Product) else (right,))))


def _call(name: str, args: tuple[Tree, ...], base: Tree | None) -> Tree:
    match name, args:
        case "log", (x,):
            return Apply("log", (x, base if base is not None else Number(Fraction(10))))
        case "ln", (x,):
            return Apply("log", (x,))
        case "exp", (x,):
            return Power(Constant("e"), x)
        case "cbrt", (x,):
            return Apply("root", (x, Number(Fraction(3))))
    if base is not None:
        return Apply(f"{name}_sub", (*args, base))
    return Apply(name, args)


def _index(name: str, lower: Tree | None) -> tuple[str, Tree | None]:
    """The index of `k=1` or `x->0` beneath an operator."""
    match lower:
        case Relation(("=",) | ("->",), (Symbol(variable), start)) if name != "int":
            return variable, start
    return "", lower
