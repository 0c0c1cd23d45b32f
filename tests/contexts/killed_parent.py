"""A parent with one idle child and one at work, which then waits to be killed."""

import threading
import time

import questions

from rlvr_math_reward.symbolic import ask

if __name__ == "__main__":
    threading.Thread(target=ask, args=(questions.SUM_OF_ROOTS, questions.SAME_NESTED, 600.0), daemon=True).start()
    questions.expect(ask(questions.PYTHAGORAS, questions.ONE, questions.ENOUGH), True)
    print(*questions.sympy_children(), flush=True)
    time.sleep(600)
