"""No stdin, stdout or stderr: the next files that are opened get their numbers, and must not be taken for them."""

import contextlib
import os
import sys

report = os.dup(1)
for stream in (0, 1, 2):
    os.close(stream)
sys.stdin = sys.stdout = sys.stderr = None  # type: ignore[assignment]

import questions  # noqa: E402

os.set_inheritable(report, False)
questions.expect(questions.ask(questions.PYTHAGORAS, questions.ONE, questions.ENOUGH), True)
for stream in (1, 2):
    with contextlib.suppress(OSError):  # closed, as it should be
        os.write(stream, b"printed by a library in C\n")
questions.check()
os.write(report, b"ok\n")
