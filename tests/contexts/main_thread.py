"""The main thread of a plain script. Also run with `python -O`, without a writable home, and the like."""

import questions

if __name__ == "__main__":
    questions.check()
    print("ok")
