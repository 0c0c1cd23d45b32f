"""A process forked while the parent has one idle child and one at work: each side then asks children of its own."""

import os
import threading
import warnings

import questions

from rlvr_math_reward.symbolic import ask


def main() -> None:
    # Python 3.12 warns of what is meant here: other threads run at the fork.
    warnings.filterwarnings("ignore", category=DeprecationWarning, message=".*multi-threaded, use of fork")
    busy = threading.Thread(target=ask, args=(questions.SUM_OF_ROOTS, questions.SAME_NESTED, 5.0))
    busy.start()
    questions.expect(ask(questions.PYTHAGORAS, questions.ONE, questions.ENOUGH), True)
    before = questions.sympy_children()
    questions.expect(len(before), 2)
    forked = os.fork()
    if forked == 0:
        questions.check()
        questions.expect(len(questions.sympy_children()), 1)
        raise SystemExit(0)
    questions.expect(os.waitpid(forked, 0)[1], 0)
    questions.expect(ask(questions.PYTHAGORAS, questions.ONE, questions.ENOUGH), True)
    questions.expect(questions.sympy_children() <= before, True)
    busy.join()
    print("ok")


if __name__ == "__main__":
    main()
