"""The caller has an alarm of its own running, a handler that raises, SIGPIPE set to kill, and SIGCHLD ignored."""

import signal
import sys

import questions

from rlvr_math_reward.symbolic import ask


class CallerTimeoutError(Exception):
    """What a trainer's own alarm raises."""


def ring(number: int, frame: object) -> None:
    raise CallerTimeoutError


def main() -> None:
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    signal.signal(signal.SIGALRM, ring)
    questions.check()
    questions.expect(signal.getsignal(signal.SIGALRM), ring)
    for _ in range(3):
        signal.setitimer(signal.ITIMER_REAL, 0.3)
        try:
            ask(questions.SUM_OF_ROOTS, questions.SAME_NESTED, 20.0)
        except CallerTimeoutError:
            # The child that was being asked still thinks about roots: its answer must not reach the next question.
            questions.expect(ask(questions.PYTHAGORAS, questions.number(2), questions.ENOUGH), False)
            continue
        sys.exit("the caller's alarm was lost")
    questions.expect(len(questions.sympy_children()), 1)
    print("ok")


if __name__ == "__main__":
    main()
