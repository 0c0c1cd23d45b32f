"""`rlvr-math` and `python -m rlvr_math_reward`: the command line, or one line on what it lacks."""

from __future__ import annotations

import sys

__all__ = ["main"]


def main() -> None:
    try:
        from rlvr_math_reward.cli import app
    except ModuleNotFoundError as error:
        if error.name not in ("rich", "typer"):
            raise
        print(f"rlvr-math: {error.name} is missing; pip install 'rlvr_math_reward[cli]'", file=sys.stderr)
        raise SystemExit(2) from None
    app()


if __name__ == "__main__":
    main()
