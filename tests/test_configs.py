"""Every recipe's YAML is read by the dataclasses that run it, holds differences only, has a header, and trains."""

import sys
from dataclasses import MISSING, fields
from pathlib import Path

import pytest
import yaml

pytest.importorskip("trl")
from trl import GRPOConfig, ModelConfig

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "recipes"), str(ROOT / "tests" / "training")]
import grpo  # noqa: E402  (a script, not a package)
from tiny import save_tiny_model  # noqa: E402

CONFIGS = sorted((ROOT / "configs" / "grpo").glob("*.yaml"))
HEADER = ("# Purpose   ", "# Command   ", "# Hardware  ", "# Wall time ", "# Result    ")
DATACLASSES = (grpo.RecipeArguments, GRPOConfig, ModelConfig)


def test_there_are_configs() -> None:
    assert len(CONFIGS) >= 7


@pytest.fixture(scope="module")
def tiny_model(tmp_path_factory: pytest.TempPathFactory) -> str:
    return save_tiny_model(tmp_path_factory.mktemp("tiny"))


@pytest.fixture(params=CONFIGS, ids=lambda path: path.stem)
def config(request: pytest.FixtureRequest) -> Path:
    path: Path = request.param
    return path


def test_header_says_what_it_is_for(config: Path) -> None:
    lines = config.read_text().splitlines()
    head = lines[: next(number for number, line in enumerate(lines) if not line.startswith("#"))]
    for field in HEADER:
        (line,) = [line for line in head if line.startswith(field)]
        assert len(line) > len(field)
    assert "TODO" not in "".join(head)
    named = f"configs/grpo/{config.name}"
    assert any(named in line or "make demo" in line for line in head), "the command names another file"


def test_holds_differences_only(config: Path) -> None:
    known = {field.name: field for dataclass in DATACLASSES for field in fields(dataclass)}
    for key, value in yaml.safe_load(config.read_text()).items():
        field = known[key]
        default = field.default if field.default_factory is MISSING else field.default_factory()
        assert value != default, f"{key}: {value} is the default"


def test_trains_to_the_first_batch_with_a_tiny_model(config: Path, tiny_model: str, tmp_path: Path) -> None:
    sums = ROOT / "tests" / "training" / "sums" / "train.jsonl"
    swapped = {
        "model_name_or_path": tiny_model, "dataset": sums, "output_dir": tmp_path, "dtype": "float32", "max_steps": 1,
        "per_device_train_batch_size": 4, "num_generations": 4, "gradient_accumulation_steps": 1,
        "max_completion_length": 4, "use_cpu": True, "bf16": False, "use_vllm": False, "logging_steps": 1,
        "report_to": "none", "disable_tqdm": True, "num_completions_to_print": 0,
    }  # fmt: skip
    flags = [word for key, value in swapped.items() for word in (f"--{key}", str(value))]
    recipe, training, model = grpo.parse(["--config", str(config), *flags])
    recipe.gguf_file = None
    trainer = grpo.main(recipe, training, model)
    (step,) = [entry for entry in trainer.state.log_history if "reward" in entry]
    assert {f"rewards/{name}/mean" for name in recipe.reward_funcs} <= {*step}
    assert list((tmp_path / "completions").glob("*.parquet"))
