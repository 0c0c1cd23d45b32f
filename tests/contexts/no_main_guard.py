"""A training script without `if __name__ == "__main__"`: a child that imported it would print once more."""

import questions

questions.check()
print("ok")
