"""Real training steps: TRL's trainers, its stock command and two ranks, on a model that trains in a second."""

import json
import logging
import os
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml

pytest.importorskip("trl")
from datasets import Dataset, load_dataset
from trl import GRPOConfig, GRPOTrainer, RLOOConfig, RLOOTrainer
from trl.rewards import get_soft_overlong_punishment, think_format_reward

from rlvr_math_reward.policy import Policy
from rlvr_math_reward.rewards import (
    AsyncMathReward,
    MathReward,
    Scores,
    accuracy_reward,
    async_accuracy_reward,
    format_reward,
    shaped_reward,
    think_answer_format_reward,
)
from rlvr_math_reward.verdict import Outcome

ROOT = Path(__file__).parents[1]
TRAINING = Path(__file__).parent / "training"
sys.path.insert(0, str(TRAINING))
from tiny import save_tiny_model  # noqa: E402  (a script beside the tests, also run as one)

COLUMNS = {"gold", "extracted", "canonical", "outcome", "decided_by"}
METRICS = {*(outcome.value for outcome in Outcome), "cache_hits", "grading_ms"}
TRAINERS = {"grpo": (GRPOTrainer, GRPOConfig), "rloo": (RLOOTrainer, RLOOConfig)}


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    return save_tiny_model(tmp_path_factory.mktemp("tiny"))


@pytest.fixture(scope="module")
def sums() -> Dataset:
    return load_dataset("json", data_files=str(TRAINING / "sums" / "train.jsonl"), split="train")


def train(
    kind: str, model: str, rewards: list[Callable[..., Any]], rows: Dataset, folder: Path, **settings: Any
) -> tuple[list[dict[str, float]], pd.DataFrame]:
    """A few steps; the log of each and all completions."""
    trainer_class, config_class = TRAINERS[kind]
    defaults = {
        "max_steps": 2, "per_device_train_batch_size": 8, "num_generations": 8, "max_completion_length": 4,
        "learning_rate": 1e-3, "logging_steps": 1, "log_completions": True, "num_completions_to_print": 1,
        "save_strategy": "no", "report_to": "none", "use_cpu": True, "bf16": False, "disable_tqdm": True, "seed": 1,
    }  # fmt: skip
    config = config_class(output_dir=str(folder), **{**defaults, **settings})
    trainer = trainer_class(model=model, reward_funcs=rewards, args=config, train_dataset=rows)
    trainer.train()
    steps = [entry for entry in trainer.state.log_history if "reward" in entry]
    assert len(steps) == config.max_steps
    # RLOO writes no Parquet file; the table it shows holds the last batch.
    table = read_completions(folder) if kind == "grpo" else logged_table(trainer)
    return steps, table


def logged_table(trainer: Any) -> pd.DataFrame:
    logs = trainer._logs
    return pd.DataFrame(
        {"step": trainer.state.global_step, "completion": logs["completion"], **logs["rewards"], **logs["extra"]}
    )


def read_completions(folder: Path) -> pd.DataFrame:
    files = sorted((folder / "completions").glob("*.parquet"))
    assert files, f"no completions in {folder}"
    return pd.concat([pd.read_parquet(file) for file in files], ignore_index=True)


OVERLONG = get_soft_overlong_punishment(max_completion_len=4, soft_punish_cache=2)
STRICT = MathReward(policy=Policy(fallback="none"), scores=Scores(incorrect=-0.5), name="strict")
REWARD_SETS: dict[str, tuple[list[Callable[..., Any]], list[float]]] = {
    "one alone": ([accuracy_reward], [1.0]),
    "async alone": ([async_accuracy_reward], [1.0]),
    "all beside one of TRL's": (
        [accuracy_reward, shaped_reward, async_accuracy_reward, STRICT, format_reward, think_answer_format_reward,
         OVERLONG],
        [1.0, 0.5, 0.0, 0.3, 0.2, 0.1, 0.1],
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", TRAINERS)
@pytest.mark.parametrize("chosen", REWARD_SETS)
def test_rewards_train(kind: str, chosen: str, model: str, sums: Dataset, tmp_path: Path) -> None:
    rewards, weights = REWARD_SETS[chosen]
    steps, table = train(kind, model, list(rewards), sums, tmp_path, reward_weights=weights)
    names = [reward.__name__ for reward in rewards]
    for step in steps:
        assert {f"rewards/{name}/mean" for name in names} <= set(step)
    graded = [reward for reward in rewards if isinstance(reward, MathReward | AsyncMathReward)]
    for reward in graded:
        assert all({f"{reward.__name__}/{metric}" for metric in METRICS} <= set(step) for step in steps)
        check_columns(table, reward, "" if reward is graded[0] else f"{reward.__name__}/")
    weighted = sum(table[name] * weight for name, weight in zip(names, weights, strict=True))
    assert steps[-1]["reward"] == pytest.approx(weighted[table["step"] == 2].mean(), abs=1e-5)


def check_columns(table: pd.DataFrame, reward: Any, prefix: str = "") -> None:
    """The columns of one reward are there, and they say what the reward was paid for."""
    assert {prefix + column for column in COLUMNS} <= set(table.columns)
    correct = table[prefix + "outcome"] == "correct"
    assert (table[reward.__name__] == 1.0).equals(correct)
    assert (table.loc[correct, prefix + "decided_by"].isin(["text", "exact", "numeric", "symbolic"])).all()
    assert set(table[prefix + "gold"]) <= {"4", "5", "6", "7"}


def test_the_reward_is_what_is_learnt(model: str, sums: Dataset, tmp_path: Path) -> None:
    steps, table = train(
        "grpo", model, [accuracy_reward], sums.select([0]), tmp_path, max_steps=16, learning_rate=2e-2,
        per_device_train_batch_size=32, num_generations=32,
    )  # fmt: skip
    rewards = [step["rewards/accuracy_reward/mean"] for step in steps]
    assert sum(rewards[-4:]) / 4 > sum(rewards[:4]) / 4 + 0.2
    assert "7" in set(table.loc[table["accuracy_reward"] == 1.0, "extracted"])


def test_conversations_train(model: str, sums: Dataset, tmp_path: Path) -> None:
    rows = sums.map(lambda row: {"prompt": [{"role": "user", "content": row["prompt"]}]})
    rewards = [accuracy_reward, think_answer_format_reward, think_format_reward]
    steps, table = train("grpo", model, rewards, rows, tmp_path, max_steps=4, reward_weights=[1.0, 0.2, 0.1])
    assert all(f"rewards/{reward.__name__}/mean" in step for step in steps for reward in rewards)
    check_columns(table, accuracy_reward)
    assert {"correct", "incorrect"} <= set(table["outcome"])


def test_changed_scores_change_the_logged_reward(model: str, sums: Dataset, tmp_path: Path) -> None:
    written = yaml.safe_load("{policy: {fallback: none}, scores: {incorrect: -0.5, no_answer: -1.0}}")
    configured = MathReward(policy=Policy(**written["policy"]), scores=Scores(**written["scores"]), name="configured")
    plain = MathReward(policy=Policy(fallback="none"), name="plain")
    _, table = train("grpo", model, [plain, configured], sums, tmp_path, max_steps=4, reward_weights=[0.5, 0.5])
    earned = table.groupby("outcome")[["plain", "configured"]].agg(["min", "max"])
    assert set(earned.index) >= {"correct", "incorrect", "no_answer"}
    for outcome, plain_score, score in [("correct", 1, 1), ("incorrect", 0, -0.5), ("no_answer", 0, -1)]:
        assert earned.loc[outcome].tolist() == [plain_score, plain_score, score, score]


def test_bad_gold_leaves_its_rows_out(
    model: str, sums: Dataset, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    rows = Dataset.from_list([{"prompt": "What is 3 + 4 ?", "solution": ""}, *sums.to_list()])
    with caplog.at_level(logging.WARNING, logger="rlvr_math_reward"):
        steps, table = train("grpo", model, [accuracy_reward], rows, tmp_path, max_steps=5)
    bad = table["outcome"] == "bad_gold"
    assert bad.sum() == 8  # its whole group, and no other row
    assert table.loc[bad, "accuracy_reward"].isna().all()
    assert table.loc[~bad, "accuracy_reward"].notna().all()
    assert (table.loc[bad, "advantage"].fillna(0.0) == 0.0).all()
    assert sum(step["accuracy_reward/bad_gold"] for step in steps) == 1.0


HOSTILE = (
    r"\boxed{9^{9^{9^{9}}}}", r"\boxed{(10^{9})!}", r"\boxed{\binom{10^9}{5\cdot10^8}}", r"\boxed{\frac{1}{0}}",
    r"\boxed{" + "9" * 20_000 + "}", r"\boxed{" + r"\sqrt{" * 500 + "7" + "}" * 501, r"\boxed{" * 300, "}" * 300,
    r"\boxed{__import__('os').system('touch MARKER')}", r"\boxed{sympify('7')}", "\x00", "٧", "</think>" * 50,
    r"\boxed{\int_0^\infty \frac{\sin(x^{17})^{19}}{x^{23}+\cos x} dx}", r"\boxed{1,2,3,4,5,6,7}",
    r"\boxed{\sin(\sin(\sin(x^{99}+y^{98})))^{97}-\cos(\tan(x+y)^{96})}",
)  # fmt: skip


@pytest.mark.parametrize("kind", TRAINERS)
def test_hostile_completions_in_a_training_step(
    kind: str, sums: Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The model's own vocabulary holds them, so they come out of generation and pass through every stage."""
    monkeypatch.chdir(tmp_path)
    model = save_tiny_model(tmp_path / "model", HOSTILE * 3)
    rewards = [accuracy_reward, shaped_reward, async_accuracy_reward, format_reward]
    _, table = train(
        kind, model, rewards, sums.select([0]), tmp_path / "run",
        per_device_train_batch_size=64, num_generations=64, max_completion_length=3, num_completions_to_print=0,
    )  # fmt: skip
    seen = [text for text in HOSTILE if table["completion"].str.contains(text, regex=False).any()]
    assert len(seen) >= len(HOSTILE) * 3 // 4
    assert table[[reward.__name__ for reward in rewards]].notna().all().all()
    assert not list(tmp_path.rglob("MARKER"))
    alone = table[table["completion"].isin(HOSTILE)]
    assert (alone["accuracy_reward"] == 0.0).all()


# -- TRL's own command, in processes of its own --------------------------------------------------------------------


def run(command: list[str]) -> str:
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false", "OMP_NUM_THREADS": "1"}
    result = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=150, check=False
    )
    assert result.returncode == 0, result.stdout[-3000:] + result.stderr[-3000:]
    return result.stdout


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


@pytest.mark.slow
def test_stock_command(model: str, tmp_path: Path) -> None:
    config = TRAINING / "grpo_stock.yaml"
    trl = str(Path(sys.executable).with_name("trl"))
    output = run([trl, "grpo", "--config", str(config), "--model_name_or_path", model, "--output_dir", str(tmp_path)])
    for key in ("rewards/accuracy_reward/mean", "rewards/format_reward/mean", "accuracy_reward/correct"):
        assert output.count(key) == 2
    table = read_completions(tmp_path)
    assert len(table) == 16
    check_columns(table, accuracy_reward)


@pytest.mark.slow
def test_two_ranks(model: str, tmp_path: Path) -> None:
    """Two processes share a group of eight completions: each grades its half, the log holds both."""
    output = run(
        [
            sys.executable, "-m", "torch.distributed.run", "--nproc_per_node", "2", "--master_port", str(free_port()),
            "-m", "trl.scripts.grpo", "--config", str(TRAINING / "grpo_stock.yaml"),
            "--model_name_or_path", model, "--output_dir", str(tmp_path), "--per_device_train_batch_size", "4",
        ],
    )  # fmt: skip
    table = read_completions(tmp_path)
    assert len(table) == 16
    assert table.groupby("step")["prompt"].nunique().eq(1).all()
    check_columns(table, accuracy_reward)
    assert output.count("rewards/accuracy_reward/mean") == 2


@pytest.mark.slow
def test_scores_of_a_yaml_reach_the_logged_reward(model: str, tmp_path: Path) -> None:
    """The recipe, run twice; between the runs one line of its YAML changes."""
    config = (TRAINING / "recipe_scores.yaml").read_text()
    changed = config.replace("{incorrect: -0.5, no_answer: -1.0}", "{incorrect: -0.25, no_answer: 0.125}")
    assert changed != config
    tables = []
    for name, text in [("first", config), ("second", changed)]:
        (tmp_path / f"{name}.yaml").write_text(text)
        run(
            [sys.executable, "recipes/grpo.py", "--config", str(tmp_path / f"{name}.yaml"),
             "--model_name_or_path", model, "--output_dir", str(tmp_path / name)],
        )  # fmt: skip
        tables.append(read_completions(tmp_path / name))
    first, second = (table.groupby("outcome")["math_reward"].agg(["min", "max"]) for table in tables)
    assert first.loc["incorrect"].tolist() == [-0.5, -0.5]
    assert first.loc["no_answer"].tolist() == [-1.0, -1.0]
    assert second.loc["incorrect"].tolist() == [-0.25, -0.25]
    assert second.loc["no_answer"].tolist() == [0.125, 0.125]


def test_the_rows_and_the_config_of_the_tests_are_what_the_command_takes() -> None:
    config = yaml.safe_load((TRAINING / "grpo_stock.yaml").read_text())
    assert (ROOT / config["dataset_name"]).is_dir()
    rows = [json.loads(line) for line in (TRAINING / "sums" / "train.jsonl").read_text().splitlines()]
    assert rows
    assert all(set(row) == {"prompt", "solution"} for row in rows)
