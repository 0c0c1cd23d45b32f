"""Dataset rows -> `{"prompt", "solution"}`, the two columns that GRPOTrainer and the reward functions read.

Reads the files that `files` reads, folders with one such file a split, and datasets of the Hugging Face hub. Knows
the columns of GSM8K and MATH; others are named by the caller.

The gold stays as it is published (`#### 72`, a whole solution with a box, a bare answer): the verifier reads all of
these, so that what is trained on is what is evaluated. Whether a gold can be graded is not looked at here.

Errors: everything that is wrong with a dataset is a `DataError` of one line that names the file, and the row where
there is one. Importing this module loads no `datasets` and no `pyarrow`.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias, TypedDict

from rlvr_math_reward.files import SUFFIXES, Chunk, DataError, Row, chunked, extra, find_files, read_chunks

if TYPE_CHECKING:
    from datasets import Dataset

__all__ = [
    "DATASET_GOLD_COLUMNS", "PROMPT_STYLES", "QUESTION_COLUMNS", "DataError", "Message", "Problem", "Prompt", "Row",
    "load_problems", "pick_column", "read_rows", "read_source", "to_dataset", "to_prompt",
]  # fmt: skip

logger = logging.getLogger(__name__)

QUESTION_COLUMNS = ("problem", "question", "prompt")
"""Where the question stands, first present wins: MATH, GSM8K, rows made for TRL."""
DATASET_GOLD_COLUMNS = ("answer", "solution", "ground_truth", "gold")
"""Where the gold of a published dataset stands, first present wins. MATH rows with both a bare `answer` and a worked
`solution` give the answer: a worked solution may hold more boxes than its last. `rewards.GOLD_COLUMNS` are the same
names with `solution` first, since that is the column that TRL's datasets, and `to_dataset`, put the gold into."""
KEPT_COLUMNS = ("level", "subject", "type")
"""Columns of MATH that are kept: for evaluation by level and subject, and for reward functions of one's own. TRL logs
none of them: its table has the prompt, the completion, rewards, what rewards log, and the advantage. Any other column
is left out, since GRPOTrainer passes every column to the reward functions and reads some itself (`image`, `tools`)."""


class Message(TypedDict):
    role: str
    content: str


Prompt: TypeAlias = "str | list[Message]"


@dataclass(frozen=True, slots=True)
class Problem:
    """One question with its gold.

    Attributes:
        question: the text, or the messages where the dataset holds messages.
        gold: the gold as published, or a list of accepted ones.
        extras: the columns of `KEPT_COLUMNS` that the row has.
    """

    question: str | Sequence[Message]
    gold: str | Sequence[str]
    extras: Mapping[str, object]


# -- where rows come from ---------------------------------------------------------------------------------------------
def read_rows(source: str, split: str = "train", config: str | None = None) -> tuple[str, list[Row]]:
    """The rows of a local file, of a folder's file for `split`, or of a dataset on the hub.

    Args:
        source: a path, or a name on the hub such as `openai/gsm8k`.
        split: which file of a folder (`train.jsonl`) or which split on the hub. A single file is read whole.
        config: the configuration of a hub dataset, e.g. `main` for `openai/gsm8k`.

    Returns:
        The name to use in messages, and the rows.

    Raises:
        DataError: the source is not there, cannot be reached or is not what its suffix says.

    Example:
        >>> read_rows("/no/such/file.jsonl")
        Traceback (most recent call last):
        rlvr_math_reward.files.DataError: /no/such/file.jsonl: no such file or folder
    """
    path = Path(source).expanduser()
    if path.is_dir():
        path = _file_of_split(path, split)
    name = str(path) if _is_local(source, path) else f"{source} ({split})"
    chunks = read_source(str(path) if _is_local(source, path) else source, split, config)
    return name, [record.row for chunk in chunks for record in chunk.records()]


def read_source(source: str, split: str = "train", config: str | None = None) -> Iterator[Chunk]:
    """The rows of a local file, of all files of a folder, or of a dataset on the hub, in a stream.

    Args:
        source, split, config: see `read_rows`; a folder is read whole here, its files by name.

    Raises:
        DataError: as `read_rows`; what is wrong with a row, after the rows before it.
    """
    path = Path(source).expanduser()
    if not _is_local(source, path):
        yield from _read_hub(source, split, config)
        return
    pieces = find_files(path)
    for index, piece in enumerate(pieces):
        for chunk in read_chunks(piece):
            yield replace(chunk, fraction=(index + chunk.fraction) / len(pieces))


def _is_local(source: str, path: Path) -> bool:
    """Whether a path is meant: what is there, or looks like a path or a file's name."""
    try:
        there = path.exists()
    except OSError:
        there = True
    return there or path.is_absolute() or source.startswith(".") or path.name.removesuffix(".gz").endswith(SUFFIXES)


def _file_of_split(folder: Path, split: str) -> Path:
    found = sorted(path.name for path in folder.iterdir())
    for suffix in SUFFIXES:
        for name in (split + suffix, split + suffix + ".gz"):
            if name in found:
                return folder / name
    listed = ", ".join(found[:10]) or "nothing"
    raise DataError(f"{folder}: no file {split}.jsonl, .json, .csv or .parquet; the folder holds {listed}")


def _read_hub(name: str, split: str, config: str | None) -> Iterator[Chunk]:
    with extra("train", f"{name}: no such file, and a dataset of the hub needs `datasets`"):
        from datasets import load_dataset
    try:
        rows = load_dataset(name, config, split=split)
    except (OSError, ValueError, RuntimeError) as error:
        said = " ".join(str(error).split())[:300]
        raise DataError(f"{name}: no such file, and not read from the hub ({type(error).__name__}: {said})") from None
    yield from chunked(f"{name} ({split})", "row", iter(enumerate(rows, 1)))


# -- rows to problems ------------------------------------------------------------------------------------------------
def load_problems(
    source: str,
    split: str = "train",
    *,
    config: str | None = None,
    question_column: str | None = None,
    gold_column: str | None = None,
) -> list[Problem]:
    """The problems of a dataset, without the rows that have no gold; a warning says how many those are.

    Args:
        source, split, config: see `read_rows`.
        question_column: the column of the question, or None for the first of `QUESTION_COLUMNS`.
        gold_column: the column of the gold, or None for the first of `DATASET_GOLD_COLUMNS`.

    Raises:
        DataError: as `read_rows`; also a missing column, a row without a question, or no row with a gold.
    """
    name, rows = read_rows(source, split, config)
    if not rows:
        raise DataError(f"{name}: no rows")
    asked = pick_column(name, rows[0], question_column, QUESTION_COLUMNS, "question")
    told = pick_column(name, rows[0], gold_column, DATASET_GOLD_COLUMNS, "gold")
    problems, without = [], []
    for number, row in enumerate(rows, 1):
        question, gold = row.get(asked), _gold(row.get(told))
        if not question or not isinstance(question, str | list):
            raise DataError(f"{name}, row {number}: no question in column {asked!r}; its columns: {_names(row)}")
        if gold:
            extras = {column: row[column] for column in KEPT_COLUMNS if column in row}
            problems.append(Problem(question, gold, extras))
        else:
            without.append(number)
    if not problems:
        raise DataError(f"{name}: no row has a gold in column {told!r}")
    if without:
        told_of = f"left out {len(without)} of {len(rows)} rows, which have no gold in column {told!r}"
        logger.warning("%s: %s; the first is row %d", name, told_of, without[0])
    return problems


def pick_column(name: str, row: Row, column: str | None, known: tuple[str, ...], what: str) -> str:
    """The column that is named, or else the first known one that the row has.

    Args:
        name: the dataset, or the row, for the message.
        row: the row to look at.
        column: the column named by the user, or None.
        known: the columns that are usual.
        what: what is looked for, for the message.

    Example:
        >>> pick_column("f.jsonl", {"question": "", "answer": "#### 4"}, None, DATASET_GOLD_COLUMNS, "gold")
        'answer'
    """
    expected = (column,) if column else known
    for candidate in expected:
        if candidate in row:
            return candidate
    wanted = " or ".join(map(repr, expected))
    raise DataError(f"{name}: no column for the {what}; columns found: {_names(row)}; expected {wanted}")


def _names(row: Row) -> str:
    return ", ".join(map(repr, row)) or "none"


def _gold(value: object) -> str | list[str]:
    """The gold as text (numbers keep their digits), or as a list of accepted ones; empty where there is none."""
    if value is None:
        return ""
    if isinstance(value, list | tuple):
        return [text for text in map(_gold, value) if isinstance(text, str) and text]
    return str(value).strip()


# -- prompts ---------------------------------------------------------------------------------------------------------
PROMPT_STYLES: dict[str, str] = {
    "question": "",
    "boxed": "Reason step by step, and put the final answer within \\boxed{}.",
    "think": "Reason between <think> and </think> first, then state the final answer between <answer> and </answer>.",
}
"""What is said after the question. `question` adds nothing; `think` suits a base model together with
`think_answer_format_reward`, which looks at the answer too (TRL's `think_format_reward` does not); models that were
trained to think open and close the tags by themselves."""


def to_prompt(question: str | Sequence[Message], style: str = "boxed", *, conversational: bool) -> Prompt:
    """The question as GRPOTrainer takes it.

    Args:
        question: the text; messages are used as they are.
        style: a key of `PROMPT_STYLES`.
        conversational: whether the tokenizer has a chat template, which then wraps the messages.

    Example:
        >>> to_prompt("What is 3 + 4?", "question", conversational=True)
        [{'role': 'user', 'content': 'What is 3 + 4?'}]
        >>> to_prompt("What is 3 + 4?", "question", conversational=False)
        'What is 3 + 4?\\n'
    """
    if not isinstance(question, str):
        return list(question)
    text = "\n\n".join(part for part in (question.strip(), PROMPT_STYLES[style]) if part)
    return [{"role": "user", "content": text}] if conversational else text + "\n"


def to_dataset(problems: Sequence[Problem], style: str = "boxed", *, conversational: bool) -> Dataset:
    """A `datasets.Dataset` with the columns `prompt`, `solution` and those of `KEPT_COLUMNS` that the problems have."""
    from datasets import Dataset

    several = any(not isinstance(problem.gold, str) for problem in problems)
    return Dataset.from_list([
        {
            "prompt": to_prompt(problem.question, style, conversational=conversational),
            # Arrow columns hold one type: where one gold is a list, all are.
            "solution": [problem.gold] if several and isinstance(problem.gold, str) else problem.gold,
            **problem.extras,
        }
        for problem in problems
    ])  # fmt: skip
