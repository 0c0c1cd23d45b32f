"""Answers that hang, grow or crash a careless verifier: small texts of large values, and large texts of small ones."""

from __future__ import annotations

__all__ = ["BOMBS", "PRIMES", "matrix"]


def matrix(count: int, width: int, entry: str = "1") -> str:
    """A matrix of equal entries."""
    body = r" \\ ".join(" & ".join([entry] * width) for _ in range(count))
    return rf"\begin{{pmatrix}} {body} \end{{pmatrix}}"


def joined(sign: str, terms: list[str]) -> str:
    return sign.join(terms)


PRIMES = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47)
BOMBS: dict[str, str] = {
    "a tower of powers": "9^{9^{9^{9^9}}}",
    "a power": "9^{999999999}",
    "a tower modulo": r"7^{7^{7^7}} \mod 10",
    "a small power of a large one": r"\left(\frac{12345}{67891}\right)^{\frac{9999}{10000}}",
    "the root of 3,900 digits": r"\sqrt[3]{" + "7" * 3_900 + "}",
    "the logarithm of 3,900 digits": r"\ln{" + "7" * 3_900 + "}",
    "a repeating decimal": r"0.\overline{" + "142857" * 600 + "}",
    "a factorial of factorials": "((9!)!)!",
    "factorials": "5" + "!" * 100,
    "percent signs": "5" + "%" * 400,
    "bars without brackets": "x" + "/2" * 300,
    "degrees": "5" + r"^\circ" * 300,
    "unions": "(0,1)" + r"\cup(0,1)" * 300,
    "a binomial": r"\binom{1000000}{500000}",
    "a binomial of binomials": r"\binom{\binom{1000}{500}}{\binom{999}{333}}",
    "a harmonic sum": r"\sum_{k=1}^{999} \frac{1}{k}",
    "a sum of roots": r"\sum_{k=1}^{999} \sqrt{k}",
    "a sum in a sum in a sum": r"\sum_{a=1}^{999} \sum_{b=1}^{999} \sum_{c=1}^{999} abc",
    "sines in a sum in a sum": r"\sum_{a=1}^{100} \sum_{b=1}^{100} \sin(ab)",
    "a product of sums": r"\prod_{k=1}^{999} (x+k)",
    "a product of sines": r"\prod_{k=1}^{50} \sin\frac{k\pi}{101}",
    "powers in a sum": r"\sum_{k=1}^{999} k^k",
    "an infinite sum": r"\sum_{k=1}^{\infty} \frac{\sin k}{k^3}",
    "a wild integral": r"\int_0^1 \sin\left(\frac{1}{x}\right) dx",
    "integrals in an integral": r"\int_0^1 \int_0^1 \int_0^1 e^{xyz} \, dx \, dy \, dz",
    "a limit": r"\lim_{x \to 0} \frac{\sin(\tan x) - \tan(\sin x)}{x^7}",
    "roots in roots": r"\sqrt{2+" * 14 + "3" + "}" * 14,
    "cube roots in roots": r"\sqrt[3]{2+" * 14 + "3" + "}" * 14,
    "a sum of square roots": joined("+", [rf"\sqrt{{{p}}}" for p in PRIMES]),
    "a product of square roots": joined("", [rf"(1+\sqrt{{{p}}})" for p in PRIMES]),
    "one over that": r"\frac{1}{" + joined("", [rf"(1+\sqrt{{{p}}})" for p in PRIMES]) + "}",
    "200 roots": joined(", ", [rf"\sqrt{{{k}}}" for k in range(2, 200)]),
    "200 sums of roots": r"\{" + joined(", ", [rf"\sqrt{{{k}}}+\sqrt{{{k + 1}}}" for k in range(2, 190)]) + r"\}",
    "a power of four letters": "(w+x+y+z)^{60}",
    "two powers": "(x+1)^{399}(x+2)^{399}",
    "powers of powers": "((((x+1)^{9}+1)^{9}+1)^{9}+1)^{9}",
    "ten factors": joined("", [f"(a_{k}+b_{k})" for k in range(10)]),
    "forty factors": joined("", [f"(x_{k}+y_{k})" for k in range(40)]),
    "fractions in x": joined("+", [rf"\frac{{1}}{{x+{k}}}" for k in range(40)]),
    "fractions of many letters": joined("+", [rf"\frac{{1}}{{x_{{{k}}}}}" for k in range(100)]),
    "a continued fraction": r"1+\frac{1}{" * 50 + "x" + "}" * 50,
    "sines in sines": r"\sin(" * 28 + "x" + ")" * 28,
    "sines in sines beside themselves": (r"\sin(" * 28 + "x" + ")" * 28 + "-") * 2 + "1",
    "tangents in tangents": (r"\tan(" * 14 + "x" + ")" * 14 + "-") * 2 + "1",
    "hyperbolic sines in a list": (r"\sinh(" * 28 + "x" + ")" * 28 + ", ") * 2 + "1",
    "cosines": joined("", [rf"\cos({k}x)" for k in range(1, 20)]),
    "arctangents": joined("+", [rf"\arctan\frac{{1}}{{{k}}}" for k in range(2, 40)]),
    "roots of unity": joined("+", [rf"\cos\frac{{{k}\pi}}{{97}}" for k in range(1, 49)]),
    "exponentials": "e^{" * 12 + "x" + "}" * 12,
    "a complex power": "(3+4i)^{9999}",
    "a determinant": r"\begin{vmatrix}" + r"\\".join("&".join(f"x_{{{9 * i + j}}}" for j in range(8)) for i in range(8))
                     + r"\end{vmatrix}",
    "a matrix of sums": matrix(20, 20, "x+1"),
    "signs": "1" + r"\pm 1" * 30,
    "bars": "|" * 59 + "x",
    "floors": r"\lfloor " * 30 + "x" + r"\rfloor " * 30,
    "inequalities": joined(" < ", [str(k) for k in range(200)]),
    "intervals": joined(r"\cup", [f"({k},{k + 1})" for k in range(190)]),
    "an equation of many roots": joined("", [f"(x-{k})" for k in range(40)]) + "=0",
    "an equation of roots": r"\sqrt{x}+\sqrt{x+1}+\sqrt{x+2}=3",
    "a chain of equations": joined("=", [rf"\sqrt{{{k}}}" for k in range(300)]),
    "a ratio": joined(":", [str(k) for k in range(300)]),
    "a numeral in base 36": "z" * 300 + "_{36}",
    "a numeral in base 2": "1" * 3_000 + "_2",
    "mixed numbers": "1 1/2" * 300,
    "superscripts": "x" + "²" * 1_000,
    "brackets": "(" * 1_900 + ")" * 1_900,
    "a call": "__import__('os').system('true')",
}  # fmt: skip
