"""Every recipe's YAML is read by the code that runs it, holds differences only, has a header, and trains."""

import re
import sys
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any

import pytest
import yaml

pytest.importorskip("trl")
from accelerate.commands.config.config_args import ClusterConfig, load_config_from_file
from accelerate.commands.launch import launch_command_parser
from trl import GRPOConfig, GRPOTrainer, ModelConfig, RLOOConfig, RLOOTrainer

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "recipes"), str(ROOT / "tests" / "training")]
import grpo  # noqa: E402  (scripts, not packages)
import rloo  # noqa: E402
from tiny import save_tiny_model  # noqa: E402

from rlvr_math_reward.report import write_report  # noqa: E402

SCRIPTS = {
    "grpo": (grpo, GRPOConfig, GRPOTrainer),
    "rloo": (rloo, RLOOConfig, RLOOTrainer),
}  # folder of configs -> what runs them
RECIPES = sorted(path for folder in SCRIPTS for path in (ROOT / "configs" / folder).glob("*.yaml"))
ACCELERATE = sorted((ROOT / "configs" / "accelerate").glob("*.yaml"))
HEADER = ("Purpose", "Command", "Hardware", "Memory", "Result")
PAIRS = {  # a recipe -> the one it is compared with, and the keys that may differ
    "grpo/math_qwen2.5-1.5b_shaped": ("grpo/math_qwen2.5-1.5b", {"reward_funcs"}),
    "rloo/gsm8k_qwen2.5-0.5b": ("grpo/gsm8k_qwen2.5-0.5b", {"num_generations", "beta"}),
}


def name(path: Path) -> str:
    return str(path.relative_to(ROOT / "configs").with_suffix(""))


def read(path: Path) -> dict[str, Any]:
    content: dict[str, Any] = yaml.safe_load(path.read_text())
    return content


def every(paths: list[Path]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("config", paths, ids=name)


def test_there_are_configs_and_each_is_among_those_tested() -> None:
    assert len(RECIPES) >= 10
    assert len(ACCELERATE) >= 3
    assert {*RECIPES, *ACCELERATE} == {path for path in (ROOT / "configs").rglob("*") if path.is_file()}


# -- headers ---------------------------------------------------------------------------------------------------------
@every([*RECIPES, *ACCELERATE])
def test_header_says_what_it_is_for(config: Path) -> None:
    head = re.match(r"(#.*\n)+", config.read_text()).group()
    for field in HEADER if config in ACCELERATE else (*HEADER, "Wall time"):
        assert len(re.findall(rf"^# {field} +\S", head, re.MULTILINE)) == 1, field
    assert "TODO" not in head
    result = head.partition("# Result")[2]
    assert ("not measured" in result) != bool(re.search(r"\d", result)), "a number, or that there is none"
    assert str(config.relative_to(ROOT)) in head or "make demo" in head, "the command names another file"
    for path in re.findall(r"(?:recipes|configs)/\S+\.(?:py|yaml)", head):
        assert (ROOT / path).is_file(), path


@every(RECIPES)
def test_readme_names_it(config: Path) -> None:
    assert str(config.relative_to(ROOT)) in (ROOT / "recipes" / "README.md").read_text()


# -- keys ------------------------------------------------------------------------------------------------------------
@every(RECIPES)
def test_holds_differences_only(config: Path) -> None:
    dataclasses = (grpo.RecipeArguments, SCRIPTS[config.parent.name][1], ModelConfig)
    known = {field.name: field for dataclass in dataclasses for field in fields(dataclass)}
    for key, value in read(config).items():
        field = known[key]
        default = field.default if field.default_factory is MISSING else field.default_factory()
        assert value != default, f"{key}: {value} is the default"


@every(RECIPES)
def test_is_read_as_written(config: Path) -> None:
    """The dataclasses accept the values as they stand, such as a batch that holds whole groups of answers."""
    recipe, training, model = SCRIPTS[config.parent.name][0].parse(
        ["--config", str(config), "--use_cpu", "true", "--bf16", "false"]
    )
    merged = {**vars(recipe), **vars(training), **vars(model)}
    for key, value in (read(config) | {"bf16": False, "use_cpu": True}).items():
        assert merged[key] == value, key


@every(RECIPES)
def test_trained_weights_are_float32(config: Path) -> None:
    """At a learning rate of 1e-6 a step vanishes in the rounding of 98 in 100 bfloat16 weights of usual size."""
    written = read(config)
    assert written.get("use_peft") or "dtype" not in written


@pytest.mark.parametrize("compared", PAIRS)
def test_a_pair_differs_in_what_it_compares(compared: str) -> None:
    base, allowed = PAIRS[compared]
    left, right = (read(ROOT / "configs" / f"{which}.yaml") for which in (compared, base))
    differing = {key for key in left.keys() | right.keys() if left.get(key) != right.get(key)}
    assert differing == allowed | {"output_dir"}


def test_no_two_runs_share_a_folder() -> None:
    folders = [read(config)["output_dir"] for config in RECIPES]
    assert len({*folders}) == len(folders)


# -- a step with a tiny model ----------------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def tiny_model(tmp_path_factory: pytest.TempPathFactory) -> str:
    return save_tiny_model(tmp_path_factory.mktemp("tiny"))


@every(RECIPES)
def test_trains_to_the_first_batch_with_a_tiny_model(config: Path, tiny_model: str, tmp_path: Path) -> None:
    sums = ROOT / "tests" / "training" / "sums" / "train.jsonl"
    swapped = {
        "model_name_or_path": tiny_model, "dataset": sums, "output_dir": tmp_path, "dtype": "float32", "max_steps": 1,
        "per_device_train_batch_size": 4, "num_generations": 4, "gradient_accumulation_steps": 1,
        "max_completion_length": 4, "use_cpu": True, "bf16": False, "use_vllm": False, "logging_steps": 1,
        "report_to": "none", "disable_tqdm": True, "num_completions_to_print": 0,
    }  # fmt: skip
    flags = [word for key, value in swapped.items() for word in (f"--{key}", str(value))]
    script, _, trainer_class = SCRIPTS[config.parent.name]
    recipe, training, model = script.parse(["--config", str(config), *flags])
    recipe.gguf_file = None
    trainer = script.main(recipe, training, model)
    assert isinstance(trainer, trainer_class)
    (step,) = [entry for entry in trainer.state.log_history if "reward" in entry]
    assert {f"rewards/{reward}/mean" for reward in recipe.reward_funcs} <= {*step}
    assert step["step"] == 1
    page = write_report(tmp_path).read_text()  # from completions/*.parquet and trainer_state.json
    assert "Most frequent rejected forms" in page


# -- accelerate ------------------------------------------------------------------------------------------------------
@every(ACCELERATE)
def test_accelerate_reads_it_and_knows_every_key(config: Path) -> None:
    """`accelerate launch` takes nested keys as flags of its own, and passes over those that it does not know."""
    loaded = load_config_from_file(str(config))
    assert isinstance(loaded, ClusterConfig)
    assert loaded.num_processes == -1, "the command line says how many GPUs there are"
    flags = vars(launch_command_parser().parse_args(["script.py"]))
    written = read(config)
    nested = {"DEEPSPEED": "deepspeed_config", "FSDP": "fsdp_config"}[written["distributed_type"]]
    assert {*written} == {"distributed_type", "mixed_precision", nested}
    for key, value in written[nested].items():
        assert str(flags[key]) != str(value), f"{key}: {value} is the default"
