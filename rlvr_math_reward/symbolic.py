"""`ask(gold, prediction, seconds)`: what SymPy says about two trees, from a child process that can be killed.

SymPy may never return and cannot be interrupted: signals only reach the main thread, threads cannot be stopped,
`multiprocessing` runs the user's script again or forks after CUDA breaks it. So each question goes to one of a few
plain child processes over a socket; a child that is late is killed, and started anew for the next question. Nothing
here touches signals, standard streams, the working directory or the user's import path, and nothing is pickled.

Error model: a question without an answer, for whatever reason, is None and never an exception. The one exception
that passes is one that the caller raises into us from a signal handler, such as KeyboardInterrupt; the child asked
at that moment is killed, so that no later question meets its answer.

For POSIX systems; elsewhere every question is undecided.
"""

from __future__ import annotations

import atexit
import json
import os
import socket
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from fractions import Fraction
from functools import cache, reduce
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING

from rlvr_math_reward.tree import Apply, Number, Power, Product, Quotient, Symbol, Tree, children, to_json

if TYPE_CHECKING:
    import subprocess  # 15 ms of import, which only a process that asks has to pay

__all__ = ["MAX_CHILDREN", "ask", "ask_patiently"]

# -- limits: what, unit, why -----------------------------------------------------------------------------------------
MAX_CHILDREN = 2
"""Child processes of one process. Fewer than one in a hundred comparisons gets here; each child holds 60 MB."""
START_SECONDS = 20.0
"""Seconds a child may take to import SymPy: 0.3 on an idle machine, many times that on one whose ranks all start."""
WAIT_SECONDS = 60.0
"""Seconds to wait for a child that other threads are asking. Long, so that load alone decides no verdict."""
REAP_SECONDS = 1.0
"""Seconds to wait for a killed child; the kernel takes milliseconds unless the disk is gone."""
MAX_LATE = 1
"""Deadlines that slow answers may take together before SymPy gets a rest. A batch of them is an attack."""
SLOW = 0.2
"""Share of the deadline from which an answer counts as slow. An honest integral takes a hundredth."""
REST_SECONDS = 3.0
"""Seconds of that rest: longer than a batch is graded, shorter than the step of training that follows it."""
MAX_REQUEST_BYTES = 1 << 20
"""Bytes of one question. An answer of 4,000 characters makes some 100 kB."""

_CHILD = os.path.join(os.path.dirname(os.path.abspath(__file__)), "_sympy_child.py")
_ANSWERS = {b"equal": True, b"different": False}
# What a child is given of the environment: where the interpreter's own libraries are, and no secrets. Hashes are
# fixed, because SymPy's results depend on the order of sets.
_KEPT_VARIABLES = ("PATH", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "PYTHONHOME", "LANG", "LC_ALL")
_SET_VARIABLES = {"PYTHONHASHSEED": "0"}


def ask(gold: Tree, prediction: Tree, seconds: float) -> bool | None:
    """Whether SymPy proves two expressions equal (True) or different (False); None where it does neither in time.

    Args:
        gold: one tree.
        prediction: the other; the answer does not depend on the order.
        seconds: wall-clock time that the child may think. Its start, and the wait for a free child, are bounded
            apart, so that a loaded machine does not turn every first question into None.

    Example:
        >>> x = Symbol("x")
        >>> ask(Power(Apply("sin", (x,)), Number(Fraction(2))), Apply("sin", (x,)), seconds=5.0)
        False
    """
    return _asked(gold, prediction, seconds)[0]


def _asked(gold: Tree, prediction: Tree, seconds: float) -> tuple[bool | None, float]:
    """The answer, and the seconds that the child thought about it."""
    try:
        question = {
            "gold": to_json(gold),
            "prediction": to_json(prediction),
            "positive": _positive(gold, prediction),
            "seconds": seconds,
        }
        request = json.dumps(question, separators=(",", ":")).encode() + b"\n"
    except (RecursionError, ValueError):  # deeper, or with longer integers, than any parsed answer
        return None, 0.0
    if len(request) > MAX_REQUEST_BYTES or os.name != "posix" or not sys.executable:
        return None, 0.0
    reply, thought = _pool.answer(request, seconds)
    return None if reply is None else _ANSWERS.get(reply), thought


# -- patience --------------------------------------------------------------------------------------------------------
class _Patience:
    """Whether to ask, and how long to wait: slow answers share `MAX_LATE` deadlines, then nobody is asked for a while.

    A batch that holds 64 different expressions on which SymPy hangs then costs a second and not a minute. What is not
    asked is undecided, as what is asked and late would be.
    """

    def __init__(self) -> None:
        self._slow: list[tuple[float, float]] = []  # when, and what share of its deadline it took
        self._rest_until = 0.0

    def ask(self, gold: Tree, prediction: Tree, seconds: float) -> bool | None:
        asked = time.monotonic()
        if asked < self._rest_until:
            return None
        answer, thought = _asked(gold, prediction, min(seconds, seconds * self._left(asked)))
        share = thought / seconds
        if share >= SLOW:
            self._slow.append((asked, share))
            if self._left(asked) < SLOW:  # too little for another one
                self._slow, self._rest_until = [], time.monotonic() + REST_SECONDS
        return answer

    def _left(self, now: float) -> float:
        """What the slow answers of the last seconds have left, in deadlines."""
        self._slow = [(when, share) for when, share in self._slow if when > now - REST_SECONDS]
        return MAX_LATE - sum(share for _, share in self._slow)


_patience = _Patience()


def ask_patiently(gold: Tree, prediction: Tree, seconds: float) -> bool | None:
    """`ask`, which is left out for a while after answers that were late; see `_Patience`."""
    return _patience.ask(gold, prediction, seconds)


# -- the children ----------------------------------------------------------------------------------------------------
class _Child:
    """One SymPy process, started at its first question and again after each kill; used by one thread at a time."""

    def __init__(self) -> None:
        self._running: tuple[subprocess.Popen[bytes], socket.socket] | None = None
        self._ready = False  # it has said so; SymPy is imported
        self._failed = False  # the last start did not come to that: no other is tried before it is needed

    def answer(self, request: bytes, seconds: float) -> tuple[bytes | None, float]:
        """The reply, or None when there is none in time and the process is dead; and the seconds it thought."""
        reply, asked = None, None
        try:
            channel = self._started()
            asked = time.monotonic()
            deadline = asked + seconds
            channel.settimeout(max(seconds, 1e-6))
            channel.sendall(request)
            reply = _line(channel, deadline)
        except OSError:  # late, dead, or not started
            pass
        finally:
            if reply is None:
                self.kill()
        thought = 0.0 if asked is None else time.monotonic() - asked
        if reply is None and not self._failed:
            with suppress(OSError):  # the next question then need not wait for the import of SymPy
                self._running, self._ready = _start(), False
        return reply, thought

    def _started(self) -> socket.socket:
        try:
            if self._running is None or self._running[0].poll() is not None:
                self.kill()
                self._running, self._ready = _start(), False
            if not self._ready and _line(self._running[1], time.monotonic() + START_SECONDS) != b"ready":
                raise ConnectionError("it said something else than that it is ready")
        except OSError as error:
            self._failed = True
            _report(f"{sys.executable} {_CHILD}: {error or type(error).__name__}")
            raise
        self._ready, self._failed = True, False
        return self._running[1]

    def kill(self) -> None:
        """End the process and leave neither a zombie nor an open file."""
        running, self._running = self._running, None
        if running is None:
            return
        import subprocess

        process, channel = running
        channel.close()
        process.kill()
        with suppress(subprocess.TimeoutExpired):  # else subprocess reaps it when it next starts something
            process.wait(REAP_SECONDS)

    def forget(self) -> None:
        """In a forked process: let go of the parent's child without harming it."""
        running, self._running = self._running, None
        if running is not None:
            running[0].returncode = 0  # not ours to wait for
            running[1].close()


def _start() -> tuple[subprocess.Popen[bytes], socket.socket]:
    import subprocess

    # A socket and not two pipes: writing to a dead child is then an error even where the caller has SIGPIPE kill him.
    ours, theirs = map(_above_standard_streams, socket.socketpair())
    with theirs:
        process = subprocess.Popen(
            [sys.executable, "-S", _CHILD, str(os.getpid()), *_library_paths()],
            stdin=theirs.fileno(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd="/",  # the caller's may be deleted, or hold a `sympy.py`
            env={name: os.environ[name] for name in _KEPT_VARIABLES if name in os.environ} | _SET_VARIABLES,
        )
    return process, ours


def _above_standard_streams(end: socket.socket) -> socket.socket:
    """Where the caller has closed stdin or stdout, a new file takes its number, and any `print` then writes to it."""
    if end.fileno() > 2:
        return end
    import fcntl

    with end:
        return socket.socket(fileno=fcntl.fcntl(end.fileno(), fcntl.F_DUPFD_CLOEXEC, 3))


def _library_paths() -> list[str]:
    """Where SymPy is installed, going by its metadata: a `sympy.py` beside the caller's script has none."""
    from importlib.metadata import PackageNotFoundError, distribution

    try:
        return sorted({str(distribution(name).locate_file("")) for name in ("sympy", "mpmath")})
    except PackageNotFoundError:
        return [path for path in sys.path if os.path.isabs(path)]


def _line(channel: socket.socket, deadline: float) -> bytes:
    """One line, without its end. OSError when it is late or the child is gone."""
    received = b""
    while not received.endswith(b"\n"):
        channel.settimeout(max(deadline - time.monotonic(), 1e-6))
        part = channel.recv(4096)
        if not part:
            raise ConnectionError("it ended")
        received += part
    return received[:-1]


@cache  # once for each reason, not at each of a batch's questions
def _report(reason: str) -> None:
    import logging

    logging.getLogger(__name__).warning("no SymPy process, so hard comparisons stay undecided: %s", reason)


class _Pool:
    """The children of this process. A C queue hands them out: it cannot be left locked by a signal handler."""

    def __init__(self) -> None:
        self._children = [_Child() for _ in range(MAX_CHILDREN)]
        self._unstarted: SimpleQueue[_Child] = SimpleQueue()
        self._free: SimpleQueue[_Child] = SimpleQueue()
        for child in self._children:
            self._unstarted.put(child)

    def answer(self, request: bytes, seconds: float) -> tuple[bytes | None, float]:
        try:
            child = self._take()
        except Empty:
            return None, 0.0
        try:
            return child.answer(request, seconds)
        finally:
            self._free.put(child)

    def _take(self) -> _Child:
        with suppress(Empty):
            return self._free.get_nowait()
        with suppress(Empty):
            return self._unstarted.get_nowait()
        return self._free.get(timeout=WAIT_SECONDS)

    def close(self) -> None:
        for child in self._children:
            child.kill()

    def forget(self) -> None:
        """In a forked process: let go of the parent's children."""
        for child in self._children:
            child.forget()


_pool = _Pool()


def _close() -> None:
    _pool.close()


def _start_over() -> None:
    """In a forked process, where threads that held a child are gone, and children belong to the parent."""
    global _pool  # noqa: PLW0603  # the one piece of state; it is rebuilt by nothing else
    _pool.forget()
    _pool = _Pool()


atexit.register(_close)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_start_over)


# -- what the two sides say about the sign of their symbols ----------------------------------------------------------
def _positive(gold: Tree, prediction: Tree) -> list[str]:
    """Symbols that are read as positive: alone under a root on one side, and under a root on the other as well.

    So `sqrt(x) sqrt(y)` is `sqrt(xy)`, but `|x| + 0 sqrt(x)` is not `x`, because nothing in `x` asks for x >= 0. The
    one point 0 is left out, as removable points are elsewhere.
    """
    sides = [list(_under_roots(gold)), list(_under_roots(prediction))]
    alone = {name for side in sides for names in side if len(names) == 1 for name in names}
    return sorted(name for name in alone if all(any(name in names for names in side) for side in sides))


def _under_roots(tree: Tree) -> Iterator[frozenset[str]]:
    """For each even root or logarithm of a monomial: the symbols whose signs decide whether it is real."""
    match tree:
        case Apply("sqrt" | "log" | "ln", (inside, *_)):
            yield _signs(inside)
        case (
            Power(inside, Quotient(_, Number(degree)))
            | Power(inside, Number(Fraction(denominator=degree)))
            | Apply("root", (inside, Number(degree)))
        ) if degree % 2 == 0:
            yield _signs(inside)
    for part in children(tree):
        yield from _under_roots(part)


def _signs(tree: Tree) -> frozenset[str]:
    """The symbols with an odd power in `6 x^3 y^2 / z`: x and z. None of them for anything but such a monomial."""
    match tree:
        case Symbol(name):
            return frozenset((name,))
        case Power(Symbol(name), Number(Fraction(numerator=power, denominator=1))):
            return frozenset((name,) if power % 2 else ())
        case Product(parts) if all(_is_monomial(part) for part in parts):
            return reduce(frozenset.symmetric_difference, map(_signs, parts))
        case Quotient(top, bottom) if _is_monomial(top) and _is_monomial(bottom):
            return _signs(top) ^ _signs(bottom)
    return frozenset()


def _is_monomial(tree: Tree) -> bool:
    match tree:
        case Number(value):
            return value > 0
        case Symbol() | Power(Symbol(), Number(Fraction(denominator=1))):
            return True
        case Product() | Quotient():
            return all(map(_is_monomial, children(tree)))
    return False
