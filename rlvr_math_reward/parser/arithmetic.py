"""Sums, products, signs and powers, written and implied; and where a factor ends and a unit begins."""

from __future__ import annotations

from fractions import Fraction

from rlvr_math_reward.parser import measures
from rlvr_math_reward.parser.atoms import Atoms
from rlvr_math_reward.parser.building import NUMBER_SETS, negate, rational_tree, times
from rlvr_math_reward.tree import (
    Apply,
    Constant,
    Number,
    Power,
    Product,
    Quotient,
    Sequence,
    Sum,
    Symbol,
    Tree,
)

__all__ = ["Arithmetic"]

_SIGNS = frozenset(("+", "-", "+-", "-+"))
_POSTFIXES = frozenset("^!°'")
_OPENING = frozenset(("(", "{", "[", "|", "lfloor", "lceil"))
"""Signs that may begin a factor behind another."""
TEMPERATURES = {"C": "celsius", "F": "fahrenheit", "Celsius": "celsius", "Fahrenheit": "fahrenheit"}


class Arithmetic(Atoms):
    """Each method reads one level, from sums down to powers."""

    def _sum(self) -> Tree:
        terms = [self._signed()]
        while self.signs[self.at] in _SIGNS:
            terms.append(self._signed())
        return terms[0] if len(terms) == 1 else Sum(tuple(terms))

    def _signed(self) -> Tree:
        """A product with its signs. Runs of signs are read in a loop: `---4` nests nothing."""
        negative, marked = False, None
        while (sign := self.signs[self.at]) in _SIGNS or (self.has_words and self._spelled_minus()):
            self.at += 1
            negative ^= sign in ("-", "")
            marked = "plusminus" if sign == "+-" else "minusplus" if sign == "-+" else marked
        value = self._product()
        if negative:
            value = negate(value)
        return Apply(marked, (value,)) if marked else value

    def _spelled_minus(self) -> bool:
        number = self.tokens[self.at + 1].kind in ("number", "command")
        return self.token.kind in ("word", "run") and self.token.text.lower() in ("negative", "minus") and number

    def _product(self) -> Tree:
        value = self._implied()
        while (sign := self.signs[self.at]) in ("*", "/") and not self._per_unit():
            self.at += 1
            divide = sign == "/"
            plain = divide and isinstance(value, Number) and self.token.kind == "number"
            factor = self._power() if plain else self._signed_factor()  # `1/2x` is a half of x
            value = Quotient(value, factor) if divide else times(value, factor)
            if plain and self._starts_factor(factor):
                value = times(value, self._implied())
        return value

    def _per_unit(self) -> bool:
        """`48/month`: a slash before a word belongs to the unit."""
        after = self.tokens[self.at + 1]
        return self.is_at("/") and after.kind in ("run", "word") and len(after.text) > 2

    def _signed_factor(self) -> Tree:
        if self.is_at("-", "+"):
            return self._signed_once()
        return self._implied()

    def _signed_once(self) -> Tree:
        negative = self.expect("-", "+") == "-"
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
        while self.signs[self.at] == "%":
            self.at += 1
            value = Apply("percent", (value,))
            if self._starts_factor(value) or self.token.kind == "number":
                raise self.error("a percent sign in the middle")
        return value

    def _mixed(self, whole: Tree) -> Tree | None:
        """`4\\frac23`, `4 2/3`: a whole number and a proper fraction side by side."""
        if not (isinstance(whole, Number) and whole.value.denominator == 1 and not whole.decimal):
            return None
        start = self.at
        if self.signs[start] or self.tokens[start - 1].kind != "number":
            return None
        token = self.tokens[start]
        if token.kind == "command" and token.text in ("frac", "dfrac", "tfrac", "cfrac"):
            part: Tree = self._atom()
        elif token.kind == "number" and token.spaced and self.signs[start + 1] == "/":
            top = self._atom()
            self.at += 1
            part = Quotient(top, self._atom()) if self.token.kind == "number" else top
        else:
            return None
        match part:
            case Quotient(Number() as top, Number() as bottom) if 0 <= top.value < bottom.value and not top.decimal:
                if (value := self._in_degrees(rational_tree(whole.value + top.value / bottom.value))) is not None:
                    return value
            case Quotient(Number() as top, Number() as bottom) if not (top.decimal or bottom.decimal):
                raise self.error("a whole number beside an improper fraction: stopped")
        self.at = start
        return None

    def _in_degrees(self, mixed: Tree) -> Tree | None:
        """A mixed number with the degree sign behind it, if there is one; any other exponent is the fraction's own."""
        if self.take("°"):
            return self._degrees(mixed)
        if self.signs[self.at] != "^":
            return mixed
        self.at += 1
        marked = self._marked(mixed)
        return marked if isinstance(marked, Apply) else None

    def _starts_factor(self, previous: Tree) -> bool:
        token = self.tokens[self.at]
        match token.kind:
            case "end":
                return False
            case "operator":
                return token.text in _OPENING and self._opens_factor(token.text)
            case "letter":
                if measures.is_unit_letter(self.tokens, self.at, previous, alone=self.unit_letters):
                    return False
                return not (self.differential and token.text == "d")
            case "run":
                return measures.is_product_run(self.tokens, self.at, previous, self.differential)
            case "name":
                return token.text != "..."
            case "function":
                return True
            case "command":
                return token.text not in ("end", "pmod", "mod", "bmod")
            case "number":  # `\sqrt{2}3`, `(x+1)2`; never `x2`, and `2 3` is no product
                if isinstance(previous, Constant):
                    return token.spaced
                if isinstance(previous, Apply) and previous.name == "factorial":
                    return True
                if isinstance(previous, Power) and self.signs[self.at + 1] == "^":  # `2^3 3^2`
                    return True
                if isinstance(previous, Power | Number):  # `2^{3}3` and `(2)3`, whose ends are written
                    ends = ("}", ")") if isinstance(previous, Power) else (")",)
                    return self.signs[self.at - 1] in ends and not token.spaced
                return isinstance(previous, Apply | Sum) and not token.spaced
        return False

    def _opens_factor(self, sign: str) -> bool:
        if sign == "|":
            return not self.bars
        if sign == "(":
            first, second = self.tokens[self.at + 1 : self.at + 3]
            return first.text not in ("mod", "bmod", "~") and second.text not in ("in", "mid")  # `(k in Z)` declares k
        return sign != "[" or self._opens_group()

    def _opens_group(self) -> bool:
        """A square bracket behind a factor groups, unless it closes a French interval."""
        after = self.tokens[self.at + 1]
        return not self.token.spaced and after.kind != "end" and after.text not in ("cup", "cap", ",", ";", ")", "}")

    def _power(self) -> Tree:
        base = self._atom()
        while (sign := self.signs[self.at]) in _POSTFIXES:
            self.at += 1
            if sign == "^":
                base = self._raised(base)
            elif sign == "!":
                base = Apply("factorial", (base,))
            elif sign == "°":
                base = self._degrees(base)
            elif isinstance(base, Symbol):
                base = Symbol(f"{base.name}'")
            else:
                self.at -= 1
                break
        return base

    def _raised(self, base: Tree) -> Tree:
        if self.tokens[self.at + (self.signs[self.at] == "{")].kind != "number":
            marked = self._marked(base)
            if marked is not None:
                return marked
        exponent = self._script_argument()
        if self.signs[self.at] == "^":  # towers bind to the right
            self.at += 1
            self.enter()
            exponent = self._raised(exponent)
            self.depth -= 1
        return Power(base, exponent)

    def _marked(self, base: Tree) -> Tree | None:
        """What stands raised and is no exponent (degrees, `12^{th}`, `R^+`), and `5^-1`."""
        if self._degree_letter():
            self.at += 3 if self.is_at("{") else 1
            return self._degrees(base)
        if isinstance(base, Constant) and (half := self._half_line(base)) is not None:
            return half
        if self.take("°"):
            return self._degrees(base)
        if measures.is_ordinal_suffix(self.tokens, self.at):
            self.at += 3 if self.is_at("{") else 1
            return base
        if self.is_at("{") and self.tokens[self.at + 1].text == "°" and self.tokens[self.at + 2].text == "}":
            self.at += 3
            return self._degrees(base)
        if self.is_at("-", "+"):  # `5^-1`
            negative = self.expect("-", "+") == "-"
            exponent = self._script_argument()
            return Power(base, negate(exponent) if negative else exponent)
        return None

    def _degree_letter(self) -> bool:
        """`72^o`: the letter that stands for the circle of degrees."""
        first, second, third = self.tokens[self.at : self.at + 3]
        braced = (first.text, second.text, third.text) == ("{", "o", "}")
        return braced or (first.kind in ("letter", "word") and first.text == "o")

    def _half_line(self, base: Constant) -> Tree | None:
        """`R^+`, `R^{-}`, `Z^+`."""
        braced = self.is_at("{")
        sign = self.tokens[self.at + braced].text
        if base.name not in NUMBER_SETS.values() or sign not in ("+", "-"):
            return None
        self.at += 3 if braced else 1
        infinity: Tree = Constant("oo")
        if base.name != "R":
            return Apply("positive" if sign == "+" else "negative", (base,))
        ends = (Number(Fraction(0)), infinity) if sign == "+" else (negate(infinity), Number(Fraction(0)))
        return Sequence("(", ends, ")")

    def _degrees(self, value: Tree) -> Tree:
        scale = TEMPERATURES.get(self.token.text) if self.token.kind in ("letter", "word") else None
        self.at += scale is not None
        return Apply(scale or "degree", (value,))
