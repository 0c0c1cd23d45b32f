"""What hypothesis draws from: texts, TeX soup, a grammar of answers of every kind, mutations of them, and trees.

An answer is drawn as the text that a model could write. Trees are drawn for the comparison with SymPy: values that
both sides define, of a size that SymPy decides in milliseconds.
"""

from __future__ import annotations

from fractions import Fraction

from hypothesis import strategies as st

from rlvr_math_reward.tree import Apply, Constant, Number, Power, Product, Quotient, Sum, Symbol, Tree, children

__all__ = [
    "PIECES", "answers", "closed_trees", "completions", "equations", "intervals", "matrices", "mutated", "open_trees",
    "quantities", "rewritten", "scalars", "several", "sets", "soup", "texts", "tuples", "words",
]  # fmt: skip

PIECES = (
    r"\frac", r"\frac{1}{2}", r"\dfrac12", r"\sqrt", r"\sqrt[3]{", r"\sqrt2", r"\binom{", r"\begin{pmatrix}",
    r"\end{pmatrix}", r"\begin{array}{cc}", r"\end{array}", r"\left(", r"\right)", r"\left[", r"\right]", r"\{", r"\}",
    r"\text{", r"\mathrm{", r"\mathbf{", r"\operatorname{", r"\overline{", r"\pm", r"\mp", r"\cup", r"\cap", r"\infty",
    r"\in", r"\mathbb{R}", r"\emptyset", r"\pi", r"\theta", r"\sin", r"\cos^2", r"\log_2", r"\ln", r"\sum_{k=1}^{3}",
    r"\int_0^1", r"\lim_{x\to0}", r"\cdot", r"\times", r"\div", r"\le", r"\ge", r"\ne", r"\approx", r"\equiv",
    r"\pmod{7}", r"\circ", r"^\circ", r"\%", r"\$", r"\\", r"\,", r"\!", r"\quad", r"\ldots", r"\angle", r"\boxed{",
    r"\phantom{", r"\color{red}", r"\unknown", "{", "}", "(", ")", "[", "]", "<", ">", "|", "$", "$$", "%", "&", "#",
    "^", "_", "=", "+", "-", "*", "/", "!", ",", ";", ":", ".", "'", "~", " ", "\n", "0", "1", "7", "12",
    "3.14", "1,234", "0.333...", "0.\\overline{3}", "1e5", "x", "y", "e", "i", "n", "AB", "f(x)", "sqrt(2)", "pi",
    "oo", "cm", "m/s^2", "dollars", "percent", "and", "or", "not", "mod", "to", "seven", "twenty", "half", "p.m.", "th",
    "(A)", "²", "½", "√", "−", "×", "π", "∞", "∪", "≤", "°", "℃", "①", "٣", "é", "\u200b", "\u2028", "\x00", "\ud800",
)  # fmt: skip
"""Pieces of answers, whole and broken; also what no answer holds."""

soup = st.lists(st.sampled_from(PIECES), max_size=25).map("".join)
texts = st.one_of(st.text(max_size=60), soup)
completions = st.one_of(
    texts,
    st.tuples(texts, texts, texts).map(lambda t: f"{t[0]}\\boxed{{{t[1]}}}{t[2]}"),
    st.tuples(texts, texts).map(lambda t: f"{t[0]}\n#### {t[1]}"),
    st.tuples(texts, texts).map(lambda t: f"<think>{t[0]}</think><answer>{t[1]}</answer>"),
    st.tuples(texts, texts).map(lambda t: f"{t[0]} The answer is {t[1]}."),
)

# -- a grammar of answers ----------------------------------------------------------------------------------------------
whole = st.integers(0, 60).map(str)
letters = st.sampled_from(("x", "y", "a", "b", "n", "t", r"\theta", "x_1"))
numbers = st.one_of(
    whole,
    st.integers(-20, -1).map(str),
    st.tuples(st.integers(0, 99), st.integers(0, 999)).map(lambda t: f"{t[0]}.{t[1]:03d}"),
    st.tuples(st.integers(1, 9), st.integers(0, 999)).map(lambda t: f"{t[0]},{t[1]:03d}"),
    st.tuples(st.integers(1, 30), st.integers(1, 30)).map(lambda t: rf"\frac{{{t[0]}}}{{{t[1]}}}"),
    st.tuples(st.integers(1, 30), st.integers(1, 30)).map(lambda t: f"{t[0]}/{t[1]}"),
    st.tuples(st.integers(1, 9), st.integers(1, 4), st.integers(5, 9)).map(lambda t: rf"{t[0]}\frac{t[1]}{t[2]}"),
    st.integers(1, 9).map(lambda n: rf"0.\overline{{{n}}}"),
)
constants = st.sampled_from(
    (r"\pi", "e", "i", r"\sqrt2", r"\sqrt{3}", r"\sqrt[3]{2}", r"\ln 2", r"\sin 1", r"\log_2 3")
)


def _larger(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    pairs = st.tuples(inner, inner)
    return st.one_of(
        pairs.map(lambda t: f"{t[0]}+{t[1]}"),
        pairs.map(lambda t: f"{t[0]} - ({t[1]})"),
        pairs.map(lambda t: rf"{t[0]} \cdot ({t[1]})"),
        pairs.map(lambda t: rf"\frac{{{t[0]}}}{{{t[1]}}}"),
        pairs.map(lambda t: rf"\left({t[0]}\right)\left({t[1]}\right)"),
        st.tuples(inner, st.integers(-3, 5)).map(lambda t: f"({t[0]})^{{{t[1]}}}"),
        st.tuples(inner, st.integers(2, 4)).map(lambda t: rf"\sqrt[{t[1]}]{{{t[0]}}}"),
        inner.map(lambda text: rf"\sqrt{{{text}}}"),
        inner.map(lambda text: f"-({text})"),
        inner.map(lambda text: f"|{text}|"),
        st.tuples(st.sampled_from((r"\sin", r"\cos", r"\ln", r"\tan")), inner).map(lambda t: f"{t[0]}({t[1]})"),
    )


scalars = st.recursive(st.one_of(numbers, constants, letters), _larger, max_leaves=5)
short = st.one_of(numbers, constants, st.sampled_from((r"2\sqrt3", r"\frac{\pi}{6}", "-x", "3x+1", "x^2", "1-i")))
reals = st.one_of(numbers, st.sampled_from((r"\sqrt2", r"\pi", r"-\frac{\pi}{2}", r"2\sqrt{5}")))


def _listed(opening: str, closing: str, least: int) -> st.SearchStrategy[str]:
    return st.lists(short, min_size=least, max_size=4).map(lambda items: opening + ", ".join(items) + closing)


def _ordered(pair: tuple[str, str], low: int, high: int) -> str:
    return f"{pair[0]}{min(low, high)}, {max(low, high) + 1}{pair[1]}"


tuples = st.one_of(_listed("(", ")", 2), _listed(r"\left(", r"\right)", 2), _listed(r"\langle ", r"\rangle", 2))
sets = st.one_of(_listed(r"\{", r"\}", 1), _listed("", "", 2), st.just(r"\emptyset"))
several = st.one_of(
    tuples, sets,
    st.lists(short, min_size=2, max_size=3).map(" and ".join),
    st.tuples(short, short).map(lambda t: rf"{t[0]} \pm {t[1]}"),
    st.tuples(short, short).map(lambda t: f"x = {t[0]}, y = {t[1]}"),
    st.tuples(short, short).map(lambda t: rf"x={t[0]} \text{{ or }} x={t[1]}"),
    st.lists(tuples, min_size=2, max_size=3).map(", ".join),
)  # fmt: skip
_piece = st.one_of(
    st.builds(_ordered, st.sampled_from((("(", ")"), ("[", "]"), ("(", "]"), ("[", ")"))),
              st.integers(-30, 30), st.integers(-30, 30)),
    st.tuples(st.sampled_from("(["), reals).map(lambda t: rf"{t[0]}{t[1]}, \infty)"),
    st.tuples(reals, st.sampled_from(")]")).map(lambda t: rf"(-\infty, {t[0]}{t[1]}"),
)  # fmt: skip
intervals = st.one_of(
    _piece,
    st.tuples(_piece, _piece).map(r" \cup ".join),
    st.tuples(st.sampled_from(("x", "y", "t")), st.sampled_from((r"\le", "<", ">", r"\ge", r"\ne")), reals).map(
        " ".join
    ),
    st.tuples(st.integers(-9, 0), st.integers(1, 9)).map(lambda t: rf"{t[0]} < x \le {t[1]}"),
    st.tuples(st.integers(-9, 0), st.integers(1, 9)).map(lambda t: rf"x < {t[0]} \text{{ or }} x > {t[1]}"),
    st.sampled_from((r"\mathbb{R}", r"x \in \mathbb{R}", r"\mathbb{R} \setminus \{0\}", r"\{x \mid x > 3\}")),
)
_rows = st.tuples(st.integers(1, 3), st.integers(1, 3)).flatmap(
    lambda shape: st.lists(st.lists(short, min_size=shape[1], max_size=shape[1]).map(" & ".join), min_size=shape[0],
                           max_size=shape[0]).map(r" \\ ".join))  # fmt: skip
matrices = st.tuples(st.sampled_from(("pmatrix", "bmatrix")), _rows).map(
    lambda t: rf"\begin{{{t[0]}}} {t[1]} \end{{{t[0]}}}"
)
equations = st.one_of(
    st.tuples(letters, scalars).map(lambda t: f"{t[0]} = {t[1]}"),
    st.tuples(scalars, scalars).map(lambda t: f"{t[0]} = {t[1]}"),
    st.tuples(st.integers(1, 9), st.integers(-9, 9), st.integers(0, 30)).map(lambda t: f"{t[0]}x + {t[1]}y = {t[2]}"),
    st.tuples(st.integers(0, 9), st.integers(10, 20)).map(lambda t: rf"x \equiv {t[0]} \pmod{{{t[1]}}}"),
    st.tuples(scalars, scalars).map(lambda t: rf"{t[0]} \le {t[1]}"),
)
quantities = st.one_of(
    st.tuples(numbers, st.sampled_from((r"\text{ cm}", r"\,\mathrm{m/s^2}", " dollars", r"^\circ", r"\%", "%", " ducks",
                                        r"\text{ square units}", r" \text{ p.m.}"))).map("".join),
    numbers.map(lambda text: rf"\${text}"),
    st.tuples(whole, whole).map(":".join),
    st.tuples(st.integers(10, 77), st.sampled_from((8, 9, 16))).map(lambda t: f"{t[0]}_{{{t[1]}}}"),
)  # fmt: skip
words = st.sampled_from((
    "B", "(C)", r"\text{(D)}", r"\textbf{(A)}\ 25", "parabola", r"\text{an ellipse}", "Evelyn", r"\text{odd}", "LQSX",
    "no solution", "yes", "Alice and Bob", "seven", r"\text{twenty-one}", "12th", "DNE",
))  # fmt: skip
answers = st.one_of(scalars, several, intervals, matrices, equations, quantities, words)


# -- mutations ---------------------------------------------------------------------------------------------------------
@st.composite
def mutated(draw: st.DrawFn, source: st.SearchStrategy[str], most: int = 4) -> str:
    """A text of `source` after a few edits: a piece put in, cut out, doubled, or swapped with what follows it."""
    text = draw(source)
    for _ in range(draw(st.integers(1, most))):
        start = draw(st.integers(0, len(text)))
        end = draw(st.integers(start, min(len(text), start + 6)))
        part = text[start:end]
        edit = draw(st.sampled_from(("insert", "cut", "double", "swap")))
        if edit == "insert":
            text = text[:start] + draw(st.sampled_from(PIECES)) + text[start:]
        elif edit == "cut":
            text = text[:start] + text[end:]
        elif edit == "double":
            text = text[:end] + part + text[end:]
        else:
            text = text[:start] + text[end : end + len(part)] + part + text[end + len(part) :]
    return text


# -- trees -------------------------------------------------------------------------------------------------------------
def number(value: int | Fraction) -> Number:
    return Number(Fraction(value))


integers = st.integers(-7, 12).map(number)
fractions = st.tuples(st.integers(-9, 9), st.integers(2, 6)).map(lambda t: number(Fraction(*t)))
radicals = st.integers(2, 30).map(lambda n: Apply("sqrt", (number(n),)))
cube_roots = st.integers(2, 20).map(lambda n: Apply("root", (number(n), number(3))))
named = st.sampled_from((Constant("pi"), Constant("e"), Constant("i")))
angles = st.tuples(
    st.sampled_from(("sin", "cos", "tan")), st.integers(-12, 12), st.sampled_from((1, 2, 3, 4, 5, 6, 7, 12))
).map(lambda t: Apply(t[0], (Product((number(Fraction(t[1], t[2])), Constant("pi"))),)))
logarithms = st.integers(2, 12).map(lambda n: Apply("log", (number(n),)))
variables = st.sampled_from("xy").map(Symbol)


def _combined(inner: st.SearchStrategy[Tree]) -> st.SearchStrategy[Tree]:
    return st.one_of(
        st.lists(inner, min_size=2, max_size=3).map(lambda parts: Sum(tuple(parts))),
        st.lists(inner, min_size=2, max_size=3).map(lambda parts: Product(tuple(parts))),
        st.tuples(inner, inner).map(lambda pair: Quotient(*pair)),
        st.tuples(inner, st.integers(-2, 4)).map(lambda t: Power(t[0], number(t[1]))),
        inner.map(lambda tree: Apply("sqrt", (tree,))),
        inner.map(lambda tree: Apply("abs", (tree,))),
    )


closed_trees = st.recursive(
    st.one_of(integers, integers, fractions, radicals, cube_roots, named, angles, logarithms), _combined, max_leaves=6
)
open_trees = st.recursive(st.one_of(integers, fractions, variables, variables, radicals), _combined, max_leaves=6)


@st.composite
def rewritten(draw: st.DrawFn, tree: Tree) -> Tree:
    """A tree of the same value: rules of algebra applied from the leaves up, by lot."""
    match tree:
        case Sum(parts):
            tree = Sum(tuple(draw(st.permutations([draw(rewritten(part)) for part in parts]))))
        case Product((Sum(terms), *rest)) if draw(st.booleans()):
            tree = Sum(tuple(Product((term, *rest)) for term in terms))
        case Product(parts):
            tree = Product(tuple(draw(st.permutations([draw(rewritten(part)) for part in parts]))))
        case Quotient(top, bottom):
            top, bottom = draw(rewritten(top)), draw(rewritten(bottom))
            tree = Product((Power(bottom, number(-1)), top)) if draw(st.booleans()) else Quotient(top, bottom)
        case Power(base, Number(exponent)) if exponent > 1 and draw(st.booleans()):
            tree = Product((draw(rewritten(base)),) * int(exponent))
        case Apply("sqrt", (inner,)):
            tree = draw(st.sampled_from((Apply("root", (inner, number(2))), Power(inner, number(Fraction(1, 2))))))
        case Apply(name, args):
            tree = Apply(name, tuple(draw(rewritten(arg)) for arg in args))
    added = draw(st.sampled_from((None, None, number(3), Apply("sqrt", (number(2),)), Constant("pi"))))
    if added is None or draw(st.booleans()):
        return tree
    if draw(st.booleans()):
        return Sum((added, tree, Product((number(-1), added))))
    return Quotient(Product((tree, added)), added)


def size(tree: Tree) -> int:
    return 1 + sum(size(child) for child in children(tree))
