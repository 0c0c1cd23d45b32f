"""Right and wrong verdicts on this project's own case tables, beside Math-Verify's, in one run.

The tables were written for this verifier and their failing lines were what it was mended by, so 100 % here says that
nothing has slipped back, not how good it is on what nobody has seen. Every fifth line is asked.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable

from test_cases import ALL, read_policy

from rlvr_math_reward import verify

PEER = """
import json, logging, sys
from math_verify import parse, verify
logging.disable(logging.CRITICAL)
for line in sys.stdin:
    gold, prediction = json.loads(line)
    try:
        same = bool(verify(parse(f"${gold}$"), parse(f"${prediction}$")))
    except Exception:
        same = False
    print(json.dumps(same), flush=True)
"""
EVERY = 5


def test_verdicts_on_our_tables(row: Callable[..., None], benchmark: object) -> None:
    plain = read_policy("@")
    cases = [case for case in ALL if case.policy == plain and case.sign in ("===", "=/=")][::EVERY]
    assert len(cases) > 300
    lines = "\n".join(json.dumps([case.gold, case.prediction]) for case in cases)
    peer = subprocess.run([sys.executable, "-c", PEER], input=lines, capture_output=True, text=True, check=True)
    theirs = [json.loads(line) for line in peer.stdout.splitlines()]
    ours = benchmark(lambda: [verify(case.prediction, case.gold) for case in cases])  # type: ignore[operator]
    assert len(theirs) == len(cases)
    for name, verdicts in (("rlvr_math_reward", ours), ("Math-Verify", theirs)):
        wanted = [case.sign == "===" for case in cases]
        pairs = list(zip(wanted, verdicts, strict=True))
        accepts = sum(got and not want for want, got in pairs)
        rejects = sum(want and not got for want, got in pairs)
        right = f"{100 * (1 - (accepts + rejects) / len(cases)):.1f} %"
        row("Verdicts on our own tables", ("grader", "cases", "right", "wrong accepts", "wrong rejects"),
            name, str(len(cases)), right, str(accepts), str(rejects))  # fmt: skip
