"""Functions and LaTeX commands with arguments: fractions, roots, environments, sums and integrals.

`Commands` reads one construction; what stands in its arguments is read by the levels above, which `atoms` and `parser`
add.
"""

from __future__ import annotations

from fractions import Fraction

from rlvr_math_reward.parser.building import NUMBER_SETS, called, index_of, named, negate
from rlvr_math_reward.parser.cursor import Cursor
from rlvr_math_reward.policy import MAX_MATRIX_ENTRIES
from rlvr_math_reward.tokenizer import Token
from rlvr_math_reward.tree import (
    MINUS_ONE,
    Apply,
    BigOperator,
    Constant,
    Matrix,
    Number,
    Power,
    Product,
    Quotient,
    Relation,
    Sequence,
    SetBuilder,
    Symbol,
    Tree,
    Words,
    renamed,
)

__all__ = ["Commands"]

INVERSES = {name: "arc" + name for name in ("sin", "cos", "tan", "cot", "sec", "csc", "sinh", "cosh", "tanh")}
SYNONYMS = {
    "asin": "arcsin", "acos": "arccos", "atan": "arctan", "asinh": "arcsinh", "acosh": "arccosh", "atanh": "arctanh",
    "Re": "re", "Im": "im", "sign": "sgn", "lg": "log",
}  # fmt: skip
SYSTEMS = frozenset(("cases", "aligned", "align", "gathered", "gather", "split"))


class Commands(Cursor):
    """Reads what a function name or a command begins."""

    def _answer(self) -> Tree:
        raise NotImplementedError

    def _statement(self) -> Tree:
        raise NotImplementedError

    def _sum(self) -> Tree:
        raise NotImplementedError

    def _product(self) -> Tree:
        raise NotImplementedError

    def _signed_once(self) -> Tree:
        raise NotImplementedError

    def _power(self) -> Tree:
        raise NotImplementedError

    def _starts_factor(self, previous: Tree) -> bool:
        raise NotImplementedError

    def _atom(self) -> Tree:
        raise NotImplementedError

    def _group(self, opening: str) -> Tree:
        raise NotImplementedError

    def _script_argument(self) -> Tree:
        raise NotImplementedError

    def _function(self) -> Tree:
        written = self.token.text
        name = SYNONYMS.get(written, written)
        self.at += 1
        base = exponent = None
        while self.is_at("^", "_"):
            if self.expect("^", "_") == "_":
                base = self._argument() if self._is_base_and_argument() else self._script_argument()
            else:
                exponent = self._script_argument()
        args = self._function_arguments()
        if exponent == MINUS_ONE and name in INVERSES:
            name, exponent = INVERSES[name], None
        call = called(name, args, base)
        return call if exponent is None else Power(call, exponent)

    def _is_base_and_argument(self) -> bool:
        """`\\log_23`: TeX takes one digit for the base, and nothing else is there to take the logarithm of."""
        token, after = self.token, self.tokens[self.at + 1]
        alone = after.kind == "end" or (after.kind == "operator" and after.text not in ("(", "{", "["))
        return token.kind == "number" and len(token.text) > 1 and token.text.isdigit() and alone

    def _function_arguments(self) -> tuple[Tree, ...]:
        if self.is_at("(", "{", "{{", "["):
            opening = self.token.text
            inner = self._group(opening)
            if isinstance(inner, Sequence) and inner.opening in ("", opening[0]):
                return inner.items
            return (inner,)
        self.enter()
        negative = self.take("-")
        factors = [self._power()]
        while self.token.kind != "function" and self._starts_factor(factors[-1]) and not self.is_at("("):
            factors.append(self._power())
        self.depth -= 1
        value = factors[0] if len(factors) == 1 else Product(tuple(factors))
        return (negate(value) if negative else value,)

    def _argument(self, *, first: bool = True) -> Tree:
        """The argument of a command: a group, one digit of a number, or one atom."""
        if self.is_at("{"):
            return self._group("{")
        token = self.token
        if token.kind == "number" and token.text.isdigit() and len(token.text) > 1:
            if not first:  # `\\frac123` is 1/23; one digit, then all that is left
                self.at += 1
                return Number(Fraction(int(token.text)))
            self.put(self.at, self.at + 1, [Token("number", token.text[1:], token.start + 1, token.end, False)])
            return Number(Fraction(int(token.text[0])))
        return self._atom()

    def _command(self) -> Tree:
        name = self.token.text
        self.enter()
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
            case "√":
                return Apply("sqrt", (self._atom(),))
            case "∛" | "∜":
                return Apply("root", (self._atom(), Number(Fraction(3 if name == "∛" else 4))))
            case "overline" | "bar" | "widebar":
                return self._overline()
            case "mathbb":
                letter = self._raw_group()
                if letter == "R" and self.is_at("_"):
                    return self._condition_below()
                return Constant(letter) if letter in NUMBER_SETS.values() else named(letter)
            case "operatorname":
                return self._operator_name()
            case "begin":
                return self._environment()
            case "sum" | "prod" | "int" | "lim":
                return self._big_operator(name)
            case "angle" | "measuredangle":
                return Symbol(f"angle {self._raw_group()}")
            case "triangle" | "overrightarrow":
                return Symbol(f"{name} {self._raw_group()}")
        raise self.error(f"\\{name} has no meaning here")

    def _root(self) -> Tree:
        index: Tree | None = None
        if self.is_at("["):
            self.at += 1
            index = self._sum()
            self.expect("]")
        inner = self._argument()
        return Apply("sqrt", (inner,)) if index is None else Apply("root", (inner, index))

    def _overline(self) -> Tree:
        inner = self._argument()
        if isinstance(inner, Number):
            raise self.error("a bar over a number means several things: stopped")
        segment = isinstance(inner, Product) and all(isinstance(f, Symbol) and f.name.isupper() for f in inner.factors)
        return Symbol("segment " + "".join(f.name for f in inner.factors)) if segment else Apply("conjugate", (inner,))  # type: ignore[union-attr]

    def _raw_group(self) -> str:
        """The letters of a braced group or of the next token, as they stand."""
        if not self.take("{"):
            if self.token.kind == "end":
                raise self.error("expected letters")
            self.at += 1
            return self.tokens[self.at - 1].text
        start = self.at
        while not self.is_at("}"):
            if self.token.kind not in ("letter", "run", "word", "name", "function"):
                raise self.error("expected letters")
            self.at += 1
        self.at += 1
        return "".join(token.text for token in self.tokens[start : self.at - 1])

    def _condition_below(self) -> Tree:
        """`R_{>0}`, `R_{\\ge 0}`: the reals with a condition, as a set."""
        self.at += 1
        self.expect("{")
        sign = self.expect(">", "<", ">=", "<=", "!=")
        condition = Relation((sign,), (Symbol("x"), self._sum()))
        self.expect("}")
        return SetBuilder(Symbol("x"), condition)

    def _operator_name(self) -> Tree:
        start, name = self.at, self._raw_group()
        self.at -= 1
        self.put(self.at, self.at + 1, [self.tokens[start]._replace(kind="function", text=name, end=self.token.end)])
        return self._function()

    def _environment(self) -> Tree:
        name = self._raw_group().rstrip("*")
        if name in SYSTEMS:
            return self._system(name)
        if name == "array" and self.is_at("{"):
            while not self.take("}"):
                self.at += 1
                if self.token.kind == "end":
                    raise self.error("an open array")
        if name not in ("pmatrix", "bmatrix", "Bmatrix", "vmatrix", "matrix", "smallmatrix", "array"):
            raise self.error(f"no answer is read from {name}")
        rows = self._rows()
        if self._raw_group().rstrip("*") != name:
            raise self.error("environments that cross")
        if any(len(row) != len(rows[0]) for row in rows):
            raise self.error("rows of different lengths")
        matrix = Matrix(tuple(rows))
        return Apply("det", (matrix,)) if name == "vmatrix" else matrix

    def _system(self, name: str) -> Tree:
        """Statements on lines of their own; in `aligned` a line that starts with `=` goes on from the one before."""
        if name != "cases":
            self.put(self.at, len(self.tokens), [token for token in self.tokens[self.at :] if token.text != "&"])
        elif self._has_conditions():
            return self._cases()
        statements: list[Tree] = []
        while True:
            goes_on = self.is_at("=") and statements
            self.take("=")
            statement = self._answer()
            if goes_on:
                before = statements.pop()
                chain = before if isinstance(before, Relation) else Relation((), (before,))
                statement = Relation((*chain.operators, "="), (*chain.operands, statement))
            statements.append(statement)
            self.take(",")
            if not self.take("newline") or self.token.text == "end":
                break
        self._end_of(name)
        return statements[0] if len(statements) == 1 else Sequence("", tuple(statements), "")

    def _end_of(self, name: str) -> None:
        if self.token.kind != "command" or self.token.text != "end":
            raise self.error("a system that does not end")
        self.at += 1
        if self._raw_group().rstrip("*") != name:
            raise self.error("environments that cross")

    def _has_conditions(self) -> bool:
        """Whether the environment holds values with conditions behind `&`, rather than equations."""
        for token in self.tokens[self.at :]:
            if token.text == "&" or (token.kind == "command" and token.text == "end"):
                return token.text == "&"
        return False

    def _cases(self) -> Tree:
        """`value & condition` on each line, as `cases(value, condition, ...)`."""
        parts: list[Tree] = []
        while True:
            parts.append(self._sum())
            self.take(",")
            self.expect("&")
            parts.append(self._condition())
            self.take(",", ".")
            if not self.take("newline") or self.token.text == "end":
                break
        self._end_of("cases")
        return Apply("cases", tuple(parts))

    def _condition(self) -> Tree:
        while self.token.kind in ("word", "run") and self.token.text.lower() in ("if", "for", "when", "where"):
            self.at += 1
        if self.token.kind in ("word", "run") and self.token.text.lower() in ("otherwise", "else"):
            self.at += 1
            return Words("otherwise", "otherwise")
        parts, joiner = [self._statement()], ","
        while self.token.text.lower() in ("and", "or"):
            joiner = self.token.text.lower()
            self.at += 1
            parts.append(self._statement())
        return parts[0] if len(parts) == 1 else Sequence("", tuple(parts), "", joiner)

    def _rows(self) -> list[tuple[Tree, ...]]:
        rows: list[tuple[Tree, ...]] = []
        row: list[Tree] = []
        while not (self.token.kind == "command" and self.token.text == "end"):
            row.append(self._sum())
            if len(row) + sum(map(len, rows)) > MAX_MATRIX_ENTRIES:
                raise self.error(f"more than {MAX_MATRIX_ENTRIES} entries")
            if self.take("&"):
                continue
            rows.append(tuple(row))
            row = []
            if not self.take("newline"):
                break
        if not (self.token.kind == "command" and self.token.text == "end") or row or not rows:
            raise self.error("a matrix that does not end")
        self.at += 1
        return rows

    def _big_operator(self, name: str) -> Tree:
        lower = upper = None
        while self.is_at("^", "_"):
            script = self.expect("^", "_")
            bound = self._scripted_bound()
            lower, upper = (bound, upper) if script == "_" else (lower, bound)
        variable, lower = index_of(name, lower)
        if name != "int":
            body = self._product()
            body = renamed(body, "i", "i") if variable == "i" else body  # an index, not the imaginary unit
            return BigOperator(name, variable, lower, upper, body)
        saved, self.differential = self.differential, True
        body = self._sum()
        self.differential = saved
        return BigOperator(name, self._differential_variable(), lower, upper, body)

    def _operator_call(self, name: str) -> Tree:
        """`sum(k^2, k, 1, 9)` in calculator notation."""
        self.at += 1
        match self._group("("):
            case Sequence("(", (body, Symbol(variable), *bounds), ")", _) if len(bounds) <= 2:
                lower, upper = (*bounds, None, None)[:2]
                return BigOperator(name, variable, lower, upper, body)
        raise self.error(f"{name} of something else: stopped")

    def _scripted_bound(self) -> Tree:
        if not self.is_at("{"):
            return self._signed_once() if self.is_at("-", "+") else self._atom()
        self.enter()
        self.at += 1
        bound = self._statement()
        self.expect("}")
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
        raise self.error("an integral without its differential")
