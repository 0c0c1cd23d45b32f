"""What a command or a character of LaTeX, Unicode and calculator notation stands for: the tables of the tokenizer."""

from __future__ import annotations

__all__ = [
    "CHARACTERS",
    "COMMANDS",
    "FOLD",
    "FUNCTIONS",
    "MATH_FONTS",
    "NAMES",
    "OPERATORS",
    "PLAIN_NAMES",
    "SET_WORDS",
    "SPACES",
    "SUBSCRIPTS",
    "SUPERSCRIPTS",
    "TEXT_FONTS",
    "TEXT_FUNCTIONS",
    "UNITS_LIKE_FUNCTIONS",
    "UNIT_LETTERS",
    "VULGAR",
]

OPERATORS: dict[str, str] = {
    r"\cdot": "*", r"\times": "*", r"\ast": "*", r"\cdotp": "*", r"\div": "/", r"\slash": "/",
    r"\pm": "+-", r"\mp": "-+",
    r"\le": "<=", r"\leq": "<=", r"\leqslant": "<=", r"\leqq": "<=", r"\ge": ">=", r"\geq": ">=", r"\geqslant": ">=",
    r"\geqq": ">=", r"\lt": "<", r"\gt": ">", r"\ne": "!=", r"\neq": "!=", r"\in": "in", r"\approx": "~",
    r"\thickapprox": "~", r"\simeq": "~", r"\equiv": "==", r"\cup": "cup", r"\cap": "cap", r"\setminus": "setminus",
    r"\smallsetminus": "setminus", r"\backslash": "setminus", r"\bigcup": "cup", r"\mid": "mid", r"\vert": "|",
    r"\lvert": "|", r"\rvert": "|", r"\colon": ":", r"\{": "{{", r"\}": "}}", r"\lbrace": "{{", r"\rbrace": "}}",
    r"\lbrack": "[", r"\rbrack": "]", r"\langle": "<<", r"\rangle": ">>", r"\lfloor": "lfloor", r"\rfloor": "rfloor",
    r"\lceil": "lceil", r"\rceil": "rceil", r"\%": "%", r"\$": "$", r"\to": "->", r"\rightarrow": "->",
    r"\longrightarrow": "->", r"\implies": "=>", r"\Rightarrow": "=>", r"\coloneqq": "=",
    r"\\": "newline", r"\cr": "newline", r"\over": "over", r"\choose": "choose", r"\prime": "'", r"\land": "and",
    r"\wedge": "and", r"\lor": "or", r"\vee": "or", r"\#": "#", r"\&": "&", r"\pounds": "£",
    r"\textdollar": "$", r"\euro": "€",
    r"\star": "star", r"\neg": "not", r"\lnot": "not", r"\degree": "°", r"\circ": "°", r"\textdegree": "°",
    "**": "^", "<=": "<=", ">=": ">=", "!=": "!=", "==": "=", ":=": "=", "...": "...", "..": "..", "->": "->",
    "+-": "+-", "+/-": "+-",
}  # fmt: skip
CHARACTERS: dict[str, str] = {
    "≤": "<=", "⩽": "<=", "≥": ">=", "⩾": ">=", "≠": "!=", "≈": "~", "≡": "==", "∈": "in", "∪": "cup", "∩": "cap",
    "∖": "setminus", "±": "+-", "∓": "-+", "×": "*", "⋅": "*", "·": "*", "∙": "*", "•": "*", "∗": "*", "÷": "/",
    "∕": "/", "⁄": "/", "→": "->", "…": "...", "⋯": "...", "∧": "and", "∨": "or", "⟨": "<<", "⟩": ">>", "⌊": "lfloor",
    "⌋": "rfloor", "⌈": "lceil", "⌉": "rceil", "∣": "mid", "′": "'", "’": "'", "º": "°",
}  # fmt: skip
_GREEK = (
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi rho sigma tau upsilon phi chi psi omega "
    "Gamma Delta Theta Lambda Xi Pi Sigma Upsilon Phi Psi Omega"
).split()
NAMES: dict[str, str] = {
    **{"\\" + name: name for name in _GREEK},
    r"\top": "top", r"\intercal": "top", r"\pi": "pi", r"\infty": "oo",
    r"\infin": "oo", r"\varepsilon": "epsilon", r"\vartheta": "theta", r"\varphi": "phi",
    r"\emptyset": "empty", r"\varnothing": "empty", r"\ell": "ell", r"\hbar": "hbar", r"\ldots": "...", r"\dots": "...",
    r"\cdots": "...", r"\dotsc": "...", r"\dotsb": "...", r"\imath": "i", r"\Re": "Re", r"\Im": "Im",
    "π": "pi", "∞": "oo", "∅": "empty", "⌀": "empty", "ℝ": "RR", "ℤ": "ZZ", "ℚ": "QQ", "ℕ": "NN", "ℂ": "CC",
    **dict(zip("αβγδεζηθικλμνξρστυφχψωΓΔΘΛΞΠΣΥΦΨΩ", _GREEK, strict=True)),
    "ϕ": "phi", "ϵ": "epsilon",
}  # fmt: skip
PLAIN_NAMES: dict[str, str] = {
    **{name: name for name in _GREEK if name not in ("Pi", "Sigma")},
    "pi": "pi", "Pi": "pi", "PI": "pi", "infinity": "oo", "Infinity": "oo", "infty": "oo", "inf": "oo", "oo": "oo",
    "emptyset": "empty", "Reals": "RR", "Rationals": "QQ", "Integers": "ZZ", "Naturals": "NN", "Complexes": "CC",
}  # fmt: skip
SET_WORDS = {"U": "cup", "union": "cup", "intersection": "cap", "setminus": "setminus", "in": "in"}
UNIT_LETTERS = frozenset("mgslhLNJWVKdA")
"""Letters that may be a unit in text mode: metre, gram, second, litre, hour, newton, joule, watt, volt, kelvin, day and
ampere."""
UNITS_LIKE_FUNCTIONS = frozenset(("min", "deg", "percent", "degree"))
FUNCTIONS = frozenset(
    "sin cos tan cot sec csc arcsin arccos arctan arccot arcsec arccsc sinh cosh tanh coth sech csch arcsinh arccosh "
    "arctanh asin acos atan asinh acosh atanh ln log lg exp gcd lcm max min det cis sgn sign floor ceil abs sqrt cbrt "
    "Re Im arg deg root factorial binomial percent conjugate erf degree".split()
)
TEXT_FUNCTIONS = frozenset("sin cos tan cot sec csc arcsin arccos arctan ln log gcd lcm cis".split())
COMMANDS = frozenset(
    r"\frac \dfrac \tfrac \cfrac \nicefrac \sfrac \sqrt \binom \dbinom \tbinom \overline \bar \widebar \begin \end "
    r"\sum \prod \int \lim \pmod \bmod \mod \operatorname \mathbb \dot \overrightarrow \overset \underset \xrightarrow "
    r"\angle \measuredangle \triangle".split()
)
TEXT_FONTS = frozenset(
    r"\text \textbf \textit \textrm \textnormal \textup \textsf \texttt \textsc \mbox \hbox \mathrm \rm \emph "
    r"\mathop \operatorname*".split()
)
MATH_FONTS = frozenset(
    r"\mathbf \mathit \mathsf \mathtt \mathnormal \boldsymbol \bm \mathcal \mathfrak \mathscr \vec \pmb \hat \tilde "
    r"\underline \ensuremath \boxed \fbox \displaystyle \textstyle \scriptstyle \limits \nolimits \left \right \big "
    r"\Big \bigg \Bigg \bigl \bigr \Bigl \Bigr \biggl \biggr \bf \it \quad \qquad \enspace \thinspace \space "
    r"\, \; \: \! \/ "
    r"\tiny \small \normalsize \therefore \checkmark \blacksquare \newline \large \Large \LARGE \huge \Huge "
    r"\( \) \[ \] \nonumber \phantom".split()
) | {"\\ ", "\\\n", "\\-"}
SPACES = frozenset({r"\,", r"\;", r"\:", r"\quad", r"\qquad", r"\enspace", r"\thinspace", r"\space", "\\ ", "\\\n"})

SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁽⁾ⁿⁱ", "0123456789+-()ni")
SUBSCRIPTS = str.maketrans("₀₁₂₃₄₅₆₇₈₉₊₋", "0123456789+-")
VULGAR = {
    "½": (1, 2), "⅓": (1, 3), "⅔": (2, 3), "¼": (1, 4), "¾": (3, 4), "⅕": (1, 5), "⅖": (2, 5), "⅗": (3, 5), "⅘": (4, 5),
    "⅙": (1, 6), "⅚": (5, 6), "⅛": (1, 8), "⅜": (3, 8), "⅝": (5, 8), "⅞": (7, 8), "⅐": (1, 7), "⅑": (1, 9),
    "⅒": (1, 10),
}  # fmt: skip
# One character for one, so that spans stay true. Letters that merely look alike in another script are not here.
FOLD = str.maketrans(
    "−–—‒‐﹣－＋＊／＝＜＞（）［］｛｝，．；：！％＾＿｜～＄０１２３４５６７８９\u00a0\u2009\u202f\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u3000、，",
    "------" + "-+*/=<>()[]{},.;:!%^_|~$0123456789" + " " * 11 + ",,",
)  # fmt: skip
FOLD[ord("~")] = ord(" ")  # a TeX tie
