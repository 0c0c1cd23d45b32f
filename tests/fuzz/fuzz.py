"""Fuzzing with coverage: texts that atheris mutates, until the time is over or an invariant breaks.

    python tests/fuzz/fuzz.py                  # 60 seconds; make fuzz
    python tests/fuzz/fuzz.py --seconds 300
    python tests/fuzz/fuzz.py CRASH_FILE       # one input again, with what it was read as

Invariants, for any two texts, one as the completion and one as the gold:

1. nothing raises, and no verdict comes from the one broad `except`;
2. a verdict returns within `BOUND_SECONDS`;
3. `canonicalize` is idempotent;
4. a gold that is read equals itself;
5. a plainly wrong answer, mangled by a few edits, is not paid: where both sides are plain decimal numbers, they are
   accepted exactly where they are equal; and an answer without any digit earns nothing from a gold of digits;
6. a value that is paid for another has, evaluated to 15 digits, the same value.

What it finds is a line for `tests/cases/fuzzed.cases` once it is mended. A run of another kind of fuzzer, over a
grammar and not over bytes, is `tests/test_properties.py`. atheris has wheels for Linux
alone; without it the same invariants run over mutations by lot, without coverage.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from fractions import Fraction
from pathlib import Path

try:
    import atheris
except ImportError:
    atheris = None

if atheris is not None:
    with atheris.instrument_imports(include=["rlvr_math_reward"]):
        import rlvr_math_reward.comparing
        import rlvr_math_reward.grading
else:
    import rlvr_math_reward.comparing
    import rlvr_math_reward.grading

from rlvr_math_reward import Outcome, Policy, canonicalize, extract_answer, grade, parse
from rlvr_math_reward.golds import BadGold, read_gold
from rlvr_math_reward.numeric import value
from rlvr_math_reward.parser import ParseError

BOUND_SECONDS = 2.0
POLICY = Policy(rel_tol=None, timeout=0.3)
SPLIT = "\x1f"
"""Between the completion and the gold of one input: the unit separator, which no answer holds."""
CASES = Path(__file__).parent.parent / "cases"
SIGN = re.compile(r" (?:===|=/=|=\?=|=~=) ")
DECIMAL = re.compile(r"-?[0-9]{1,12}(?:\.[0-9]{1,6})?")
DIGITS = re.compile(r"[0-9]")
VULGAR = re.compile(r"[^\x00-\x7f]|[A-Za-z\\]")
"""What may write a number without its digits: words, functions, letters of other scripts."""


# -- invariants --------------------------------------------------------------------------------------------------------
class Broken(Exception):
    """An invariant does not hold."""


def check(completion: str, gold: str) -> None:
    """All invariants on one pair.

    Raises:
        Broken: one does not hold; the message names it and both texts.
    """
    for text in (completion, gold):
        _check_text(text)
    started = time.perf_counter()
    verdict = grade(completion, gold, policy=POLICY)
    boxed = grade(rf"\boxed{{{completion}}}", gold, policy=POLICY)
    took = time.perf_counter() - started
    if took > BOUND_SECONDS:
        raise Broken(f"{took:.1f} s for {completion!r} with the gold {gold!r}")
    for found in (verdict, boxed):
        if "grading failed" in found.reason:
            raise Broken(f"{found.reason} for {completion!r} with the gold {gold!r}")
        if found.correct and (found.score != 1.0 or found.outcome is not Outcome.CORRECT):
            raise Broken(f"a verdict at odds with itself for {completion!r} with the gold {gold!r}")
        if found.correct and _plainly_wrong(found.prediction or "", found.gold):
            raise Broken(f"a wrong answer is paid: {found.prediction!r} for {found.gold!r}")
        if found.correct and found.kind == "scalar" and _other_value(found.prediction or "", found.gold):
            raise Broken(f"another value is paid: {found.prediction!r} for {found.gold!r}")


def _check_text(text: str) -> None:
    with suppress(ParseError):
        parse(text)
    extract_answer(text)
    once = canonicalize(text)
    if canonicalize(once) != once:
        raise Broken(f"canonicalize is not idempotent: {text!r}, {once!r}, {canonicalize(once)!r}")
    gold = read_gold(text)
    if isinstance(gold, BadGold):
        return
    started = time.perf_counter()
    verdict = rlvr_math_reward.grading.judge(gold.answer.text, text, POLICY)
    if not verdict.correct:
        raise Broken(f"a gold is not itself: {text!r}: {verdict.reason}")
    if time.perf_counter() - started > BOUND_SECONDS:
        raise Broken(f"slow with itself: {text!r}")


def _plainly_wrong(prediction: str, gold: str) -> bool:
    """Without any of our code: two decimals of different value, or an answer with nothing that could write the gold."""
    prediction, gold = prediction.strip(), gold.strip()
    if not DECIMAL.fullmatch(gold) or Fraction(gold) == 0:
        return False
    if DECIMAL.fullmatch(prediction):
        return Fraction(prediction) != Fraction(gold)
    return not DIGITS.search(prediction) and not VULGAR.search(prediction)


def _other_value(prediction: str, gold: str) -> bool:
    """By evaluation alone; where one side has no value, or is a percentage, nothing is said."""
    try:
        left, right = value(parse(gold)), value(parse(prediction))
    except ParseError:
        return False
    if left is None or right is None or "%" in gold + prediction or "percent" in gold + prediction:
        return False
    if left.imag or right.imag:  # of (-8)^(1/3), evaluation takes the complex root and exact arithmetic the real one
        return False
    return abs(left - right) > 1e-12 * max(1.0, abs(left))


# -- inputs ------------------------------------------------------------------------------------------------------------
def seeds() -> list[str]:
    """The case tables, as inputs: every prediction with its gold."""
    found = []
    for path in sorted(CASES.glob("*.cases")):
        for line in path.read_text(encoding="utf-8").splitlines():
            parts = SIGN.split(line)
            if len(parts) == 2 and not line.startswith(("#", "%", "@")) and len(line) < 200:
                found.append(parts[1] + SPLIT + parts[0])
    if len(found) < 1_000:
        raise SystemExit("the case tables were not found")
    return found


def pieces() -> list[str]:
    """Commands and words of the tables: what a byte-wise mutation would not find."""
    counted: dict[str, int] = {}
    for text in seeds():
        for piece in re.findall(r"\\[A-Za-z]+\{?|\\.|[A-Za-z]+|[^\x00-\x7f]|\S", text):
            counted[piece] = counted.get(piece, 0) + 1
    return sorted(piece for piece, count in counted.items() if count > 2)


def mutated(data: bytes, most: int, seed: int, known: list[str], inputs: list[str]) -> bytes:
    """A few edits by pieces, and now and then another input's gold: half of all mutations; bytes are the other half."""
    lot = random.Random(seed)
    text = data.decode("utf-8", "surrogateescape")
    for _ in range(lot.randint(1, 4)):
        at = lot.randrange(len(text) + 1)
        end = min(len(text), at + lot.randint(0, 8))
        edit = lot.randrange(6)
        if edit == 0:
            text = text[:at] + text[end:]
        elif edit == 1:
            text = text[:at] + text[at:end] * lot.randint(2, 20) + text[end:]
        elif edit == 2 and inputs:
            other = lot.choice(inputs)
            start = lot.randrange(len(other))
            text = text[:at] + other[start : start + lot.randint(1, 30)] + text[at:]
        elif edit == 3 and inputs:
            text = text.partition(SPLIT)[0] + SPLIT + lot.choice(inputs).partition(SPLIT)[2]
        else:
            text = text[:at] + lot.choice(known) + text[at:]
    return text.encode("utf-8", "surrogateescape")[:most]


def run_one(data: bytes) -> None:
    completion, _, gold = data.decode("utf-8", "replace").partition(SPLIT)
    check(completion, gold)


# -- running -----------------------------------------------------------------------------------------------------------
def with_coverage(seconds: int, folder: Path) -> None:
    known, inputs = pieces(), seeds()
    corpus = folder / "corpus"
    corpus.mkdir(parents=True, exist_ok=True)
    for index, text in enumerate(inputs):
        (corpus / f"case{index}").write_text(text, encoding="utf-8")

    def mutator(data: bytes, most: int, seed: int) -> bytes:
        if seed % 2:
            return mutated(data, most, seed, known, inputs)
        return bytes(atheris.Mutate(data, most))

    options = [f"-max_total_time={seconds}", "-max_len=400", "-timeout=20", "-rss_limit_mb=4096", "-verbosity=0"]
    atheris.Setup([sys.argv[0], *options, f"-artifact_prefix={folder}/", str(corpus)], run_one, custom_mutator=mutator)
    atheris.Fuzz()


def by_lot(seconds: int, seed: int) -> None:
    known, inputs = pieces(), seeds()
    started, count = time.monotonic(), 0
    for data in _lots(seed, known, inputs):
        if time.monotonic() - started > seconds:
            break
        run_one(data)
        count += 1
    print(f"{count} inputs, every invariant held")


def _lots(seed: int, known: list[str], inputs: list[str]) -> Iterator[bytes]:
    lot = random.Random(seed)
    while True:
        yield mutated(lot.choice(inputs).encode(), 400, lot.getrandbits(32), known, inputs)


def main() -> None:
    parser = argparse.ArgumentParser(description="Fuzz the verifier for a bounded time.")
    parser.add_argument("input", nargs="?", type=Path, help="one input to run again")
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--folder", type=Path, default=Path("runs/fuzz"), help="corpus and crashing inputs")
    parser.add_argument("--seed", type=int, default=0, help="without atheris: the seed of the lots")
    parser.add_argument("--by-lot", action="store_true", help="do without atheris")
    options = parser.parse_args()
    if options.input:
        run_one(options.input.read_bytes())
        print("every invariant holds")
    elif atheris is None or options.by_lot:
        by_lot(options.seconds, options.seed)
    else:
        with_coverage(options.seconds, options.folder)


if __name__ == "__main__":
    main()
