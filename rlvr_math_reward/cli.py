"""The command `rlvr-math`: explain a verdict, score a file, check golds, compare verdicts, measure speed, report a run.

Exit codes: 0 done; 1 done, and there are findings (bad golds, disagreements); 2 a usage error or bad input, with one
line on standard error; 130 interrupted. With `--json`, standard output is one JSON document.
"""

from __future__ import annotations

import functools
import json
import sys
from collections.abc import Callable, Iterator
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn, ParamSpec

import typer

from rlvr_math_reward.policy import Policy

if TYPE_CHECKING:
    from rlvr_math_reward.files import Chunk
    from rlvr_math_reward.scoring.local import Columns, Task
    from rlvr_math_reward.scoring.peers import Judge

__all__ = ["app"]

FINDINGS, BAD_INPUT, INTERRUPTED = 1, 2, 130

# Without rich's markup the help is there in half the time, and a traceback shows no local variables, which hold text.
app = typer.Typer(
    help="Grades maths answers exactly, and says why.",
    no_args_is_help=True, add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False,
)  # fmt: skip
Parameters = ParamSpec("Parameters")


class EngineName(str, Enum):
    """Where rows are graded: by processes of this machine, or by Ray's workers."""

    LOCAL = "local"
    RAY = "ray"


Source = Annotated[
    str, typer.Argument(metavar="FILE", help="JSONL, JSON, CSV, Parquet (.gz too), a folder, or a hub dataset")
]
GoldColumn = Annotated[str | None, typer.Option(help="default: answer, solution, ground_truth or gold")]
CompletionColumn = Annotated[str | None, typer.Option(help="default: completion, response, generation or output")]
PromptColumn = Annotated[str | None, typer.Option(help="default: problem, question or prompt, where there is one")]
PolicyFields = Annotated[
    list[str] | None, typer.Option("--policy", metavar="FIELD=VALUE", help="a field of Policy; may be repeated")
]
Split = Annotated[str, typer.Option(help="split of a hub dataset")]
Config = Annotated[str | None, typer.Option(help="configuration of a hub dataset")]
AsJson = Annotated[bool, typer.Option("--json", help="print one JSON document")]


def _reported(command: Callable[Parameters, None]) -> Callable[Parameters, None]:
    """Bad input, a full disk and Ctrl-C end the command with one line and an exit code."""

    @functools.wraps(command)
    def run(*args: Parameters.args, **named: Parameters.kwargs) -> None:
        from rlvr_math_reward.files import DataError

        try:
            command(*args, **named)
        except DataError as error:
            _fail(str(error), BAD_INPUT)
        except BrokenPipeError:
            raise  # `| head` has seen enough; typer ends quietly
        except OSError as error:
            _fail(f"{error.filename or 'standard output'}: {error.strerror or error}", BAD_INPUT)
        except KeyboardInterrupt:
            _fail("interrupted", INTERRUPTED)

    return run


def _fail(message: str, code: int) -> NoReturn:
    from rlvr_math_reward.terminal import visible

    print(f"rlvr-math: {visible(message)}", file=sys.stderr)
    raise typer.Exit(code)


def _print_json(value: object) -> None:
    print(json.dumps(value, indent=2))


_AS_JSON = {"True": "true", "False": "false", "None": "null"}
"""How Python writes what JSON writes otherwise: both are meant alike."""


def _policy(fields: list[str] | None) -> Policy:
    """The policy that `--policy rel_tol=1e-4 --policy percent=value` asks for."""
    values: dict[str, Any] = {}
    for pair in fields or []:
        name, equals, text = pair.partition("=")
        if not equals or name not in Policy.__dataclass_fields__:
            known = ", ".join(Policy.__dataclass_fields__)
            raise typer.BadParameter(f"{pair!r}; expected FIELD=VALUE, with a field of: {known}", param_hint="--policy")
        try:
            values[name] = json.loads(_AS_JSON.get(text, text))
        except ValueError:
            values[name] = text
    try:
        return Policy(**values)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--policy") from None


def _opened(
    source: str, split: str, config: str | None, gold: str | None, completion: str | None, prompt: str | None
) -> tuple[Iterator[Chunk], Columns]:
    """The rows, and the columns that their first row has."""
    from itertools import chain

    from rlvr_math_reward.data import read_source
    from rlvr_math_reward.files import DataError
    from rlvr_math_reward.scoring.local import find_columns

    chunks = read_source(source, split, config)
    first = next(chunks, None)
    if first is None:
        raise DataError(f"{source}: no rows")
    return chain([first], chunks), find_columns(next(first.records()), gold, completion, prompt)


@app.command()
@_reported
def explain(
    gold: Annotated[list[str], typer.Option(help="the gold; several are accepted answers")],
    completion: Annotated[str | None, typer.Option(help="the model's text; default: standard input")] = None,
    prompt: Annotated[str | None, typer.Option(help="the problem, which the answer must not just repeat")] = None,
    policy: PolicyFields = None,
    as_json: AsJson = False,
) -> None:
    """Grade one completion and show each step. Exit code 1 where the gold cannot be read."""
    from rlvr_math_reward.grading import grade
    from rlvr_math_reward.terminal import visible
    from rlvr_math_reward.verdict import Outcome

    if completion is None:
        if sys.stdin.isatty():
            print("reading the completion from standard input, up to Ctrl-D", file=sys.stderr)
        completion = sys.stdin.buffer.read().decode("utf-8", "replace")
    verdict = grade(completion, gold[0] if len(gold) == 1 else gold, prompt=prompt, policy=_policy(policy))
    if as_json:
        _print_json(verdict.to_dict())
    else:
        for line in verdict.explain(completion).split("\n"):
            print(visible(line))
    if verdict.outcome is Outcome.BAD_GOLD:
        raise typer.Exit(FINDINGS)


@app.command()
@_reported
def score(
    source: Source,
    gold_column: GoldColumn = None,
    completion_column: CompletionColumn = None,
    prompt_column: PromptColumn = None,
    out: Annotated[Path | None, typer.Option(help="scored rows: .jsonl, .jsonl.gz, .csv or .parquet")] = None,
    workers: Annotated[int | None, typer.Option(min=1, help="processes; default: one a core, if that pays")] = None,
    engine: Annotated[
        EngineName, typer.Option(help="ray needs the extra `ray` and files that all workers see")
    ] = EngineName.LOCAL,
    resume: Annotated[bool, typer.Option("--resume", help="go on after the rows that an earlier run wrote")] = False,
    policy: PolicyFields = None,
    split: Split = "train",
    config: Config = None,
    as_json: AsJson = False,
) -> None:
    """Grade every completion of a file: accuracy, outcomes, and the rows with their verdicts."""
    from rlvr_math_reward.scoring.local import Task, score_file
    from rlvr_math_reward.terminal import print_tables, progress_bar, summary_table

    _check_output(source, out, resume=resume)  # before reading: in a folder, what an earlier run left would be read
    chunks, columns = _opened(source, split, config, gold_column, completion_column, prompt_column)
    task = Task(columns, _policy(policy), keep=out is not None)
    try:
        with progress_bar("grading") as progress:
            if engine is EngineName.RAY:
                from rlvr_math_reward.scoring.on_ray import score_files_on_ray

                summary = score_files_on_ray(source, task, out, resume=resume, workers=workers, progress=progress)
            else:
                summary = score_file(chunks, task, out, resume=resume, workers=workers, progress=progress)
    except KeyboardInterrupt:
        _fail("interrupted" + ("; finished rows are kept, --resume goes on" if out else ""), INTERRUPTED)
    if as_json:
        _print_json(summary.to_dict())
    else:
        print_tables(summary_table(summary))


def _check_output(source: str, out: Path | None, *, resume: bool) -> None:
    from rlvr_math_reward.files import DataError

    if resume and out is None:
        raise typer.BadParameter("goes on with the rows in the file that --out names; no --out", param_hint="--resume")
    read = Path(source).expanduser()
    if out is None or not read.exists():
        return
    if out.exists() and out.samefile(read):
        raise DataError(f"{out}: is also the input")
    if read.is_dir() and out.parent.exists() and out.parent.samefile(read):
        raise DataError(f"{out}: stands in the input folder, whose files are all read; name one in another folder")


@app.command()
@_reported
def check(
    source: Source,
    gold_column: GoldColumn = None,
    split: Split = "train",
    config: Config = None,
    as_json: AsJson = False,
) -> None:
    """Read every gold of a dataset: its kind, and which cannot be graded. Exit code 1 where some cannot."""
    from rlvr_math_reward.data import read_source
    from rlvr_math_reward.files import DataError
    from rlvr_math_reward.scoring.checking import check_golds
    from rlvr_math_reward.terminal import check_lines, print_tables, progress_bar

    with progress_bar("reading golds") as progress:
        found = check_golds(read_source(source, split, config), gold_column, progress)
    if not found.rows:
        raise DataError(f"{source}: no rows")
    if as_json:
        _print_json(found.to_dict())
    else:
        lines, table = check_lines(found)
        print(*lines, sep="\n", end="\n" if lines else "")
        print_tables(table)
    if found.bad_rows:
        raise typer.Exit(FINDINGS)


@app.command()
@_reported
def compare(
    source: Source,
    label_column: Annotated[
        str | None, typer.Option(help="true or false of each row; default: ask Math-Verify")
    ] = None,
    gold_column: GoldColumn = None,
    completion_column: CompletionColumn = None,
    prompt_column: PromptColumn = None,
    limit: Annotated[int, typer.Option(min=0, help="rows to print, those that differ first")] = 20,
    policy: PolicyFields = None,
    split: Split = "train",
    config: Config = None,
    as_json: AsJson = False,
) -> None:
    """Our verdicts beside Math-Verify's or a label column. Exit code 1 where they differ."""
    from rlvr_math_reward.scoring.local import Task
    from rlvr_math_reward.scoring.peers import compare_rows
    from rlvr_math_reward.terminal import comparison_lines, print_tables, progress_bar

    chunks, columns = _opened(source, split, config, gold_column, completion_column, prompt_column)
    task = Task(columns, _policy(policy), keep=False)
    judge = _judge(label_column, task)
    with progress_bar("comparing") as progress:
        found = compare_rows(chunks, task, judge, agreements=limit, progress=progress)
    if as_json:
        _print_json(found.to_dict())
    else:
        lines, table = comparison_lines(found, label_column or "Math-Verify", limit)
        print(*lines, sep="\n", end="\n" if lines else "")
        print_tables(table)
    if found.disagreements:
        raise typer.Exit(FINDINGS)


def _judge(label_column: str | None, task: Task) -> Judge:
    from rlvr_math_reward.files import DataError
    from rlvr_math_reward.scoring.peers import has_math_verify, label_judge, math_verify_judge

    if label_column is not None:
        return label_judge(label_column)
    if not has_math_verify():
        raise DataError("Math-Verify is not installed (pip install math-verify), and no --label-column was given")
    return math_verify_judge(task.columns.completion)


@app.command()
@_reported
def bench(
    source: Annotated[str | None, typer.Argument(metavar="[FILE]", help="completions; default: made up ones")] = None,
    gold_column: GoldColumn = None,
    completion_column: CompletionColumn = None,
    rows: Annotated[int, typer.Option(min=1, help="rows to grade at most")] = 5_000,
    peer_rows: Annotated[int, typer.Option(min=0, help="the first of them, for Math-Verify to grade")] = 200,
    split: Split = "train",
    config: Config = None,
    as_json: AsJson = False,
) -> None:
    """Measure our speed in one process, beside Math-Verify's where it is installed."""
    from itertools import islice

    from rlvr_math_reward.scoring.peers import measure, real_rows, synthetic_rows
    from rlvr_math_reward.terminal import print_tables, speed_table

    if source is None:
        pairs = synthetic_rows(rows)
    else:
        chunks, columns = _opened(source, split, config, gold_column, completion_column, None)
        pairs = islice(real_rows(chunks, columns), rows)
    speeds = measure(list(pairs), peer_rows)
    if as_json:
        _print_json([speed.to_dict() for speed in speeds])
    else:
        print_tables(speed_table(speeds))


@app.command()
@_reported
def report(
    run_dir: Annotated[Path, typer.Argument(help="output_dir of a training run")],
    out: Annotated[Path | None, typer.Option(help="the page; default: in RUN_DIR")] = None,
    policy: PolicyFields = None,
    as_json: AsJson = False,
) -> None:
    """Write one self-contained HTML page about a training run. --policy: the one that the run was paid by."""
    from rlvr_math_reward.files import extra

    with extra("report", f"{run_dir}: a report needs Jinja"):
        from rlvr_math_reward.report import write_report
    page = write_report(run_dir, out, _policy(policy) if policy else None)
    if as_json:
        _print_json({"report": str(page)})
    else:
        print(page)
