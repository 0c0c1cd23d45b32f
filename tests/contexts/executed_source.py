"""Source run by `exec` in a bare namespace, as notebooks do: no `__file__`, and a `__main__` that is not a file."""

SOURCE = """
import questions
questions.check()
print("ok")
"""

exec(compile(SOURCE, "<cell 1>", "exec"), {"__name__": "__main__"})  # noqa: S102  # our own text
