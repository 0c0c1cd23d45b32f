"""Every compiled pattern of the package against texts that repeat a piece and then break off.

A pattern that can read one text in many ways tries them all when the end does not fit: with each repeat twice as many.
Prints the pattern it is at, so that whoever kills this process knows which one never ended.
"""

import importlib
import pkgutil
import re
from itertools import product

import rlvr_math_reward

REPEATS = 40
PIECES = (
    *" \n\t*_$\\{}()[]<>#.,;:=-+/|&'`\"~!?a1x%^", "and ", "or ", "so ", "the ", "is ", "not ", "answer ", "Answer: ",
    "(a)", " a)", "x = ", " x =  ", "\\text{", "1,234", "1.5 ", "$1$ ", "\\(1\\) ", "**a** ", "Step 1: ", "<<", ">>",
    "but ", "no, ", "wait ", "if ", "were ", "of ", "it ", "one ", "A.", "p.m. ", "...", "\\quad ", "{1}",
    "\\boxed{1}", "cm ", "1 ", "1/2 ", "hm", "\n\n", "\n- ", "\n1. ",
)  # fmt: skip
AROUND = (("", "\x00"), ("answer is ", ""), ("1 ", " ?"))


def patterns() -> dict[str, re.Pattern[str]]:
    found = {}
    for info in pkgutil.walk_packages(rlvr_math_reward.__path__, "rlvr_math_reward."):
        if info.name.endswith(("__main__", "_sympy_child")):
            continue
        try:
            module = importlib.import_module(info.name)
        except ImportError:  # an extra that is not installed
            continue
        found |= {f"{info.name}.{name}": value for name, value in vars(module).items() if isinstance(value, re.Pattern)}
    return found


def main() -> None:
    tried = patterns()
    for name, pattern in tried.items():
        print(name, flush=True)
        for piece, (before, after) in product(PIECES, AROUND):
            text = before + piece * REPEATS + after
            pattern.search(text)
            pattern.match(text)
            pattern.fullmatch(text)
    print(len(tried))


if __name__ == "__main__":
    main()
