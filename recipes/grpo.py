"""Train a model with GRPO, rewarded by the verifier.

    python recipes/grpo.py --config configs/grpo/gsm8k_qwen2.5-0.5b.yaml
    accelerate launch recipes/grpo.py --config configs/grpo/gsm8k_qwen2.5-0.5b.yaml --dataset my/train.jsonl

A YAML file holds what differs from TRL's defaults; every key is also a flag, and flags win. The keys are those of
`RecipeArguments` below and of TRL's GRPOConfig and ModelConfig. `--resume_from_checkpoint true` goes on from the last
checkpoint in `output_dir`. Left in `output_dir`: the model, `trainer_state.json`, and `completions/*.parquet` with the
extracted answer, the gold and the outcome of each completion. `recipes/rloo.py` is the same with RLOO.
"""

from __future__ import annotations

import importlib.util
import json
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields

from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig, PreTrainedModel, PreTrainedTokenizerBase
from trl import GRPOConfig, GRPOTrainer, ModelConfig, TrlParser, get_peft_config, get_quantization_config
from trl.rewards import think_format_reward
from yaml import YAMLError

from rlvr_math_reward import Policy, rewards
from rlvr_math_reward.data import PROMPT_STYLES, DataError, Problem, load_problems, to_dataset

# TRL 1.16 reads an attribute that transformers 5.24 renamed, at every step.
warnings.filterwarnings("ignore", message=".*is_gradient_checkpointing.*", category=FutureWarning)

RewardFunction = Callable[..., list[float | None]]
OURS = (rewards.accuracy_reward, rewards.shaped_reward, rewards.format_reward, rewards.think_answer_format_reward)
REWARDS: dict[str, RewardFunction] = {reward.__name__: reward for reward in (*OURS, think_format_reward)}


@dataclass
class RecipeArguments:
    dataset: str = field(metadata={"help": "hub name, local file (.jsonl, .json, .csv, .parquet) or folder of them"})
    dataset_config: str | None = field(default=None, metadata={"help": "configuration of a hub dataset, e.g. `main`"})
    dataset_train_split: str = field(default="train", metadata={"help": "split, or file of a folder, to train on"})
    dataset_test_split: str = field(default="test", metadata={"help": "the one to evaluate on, under `eval_strategy`"})
    question_column: str | None = field(default=None, metadata={"help": "default: problem, question or prompt"})
    gold_column: str | None = field(default=None, metadata={"help": "default: answer, solution, ground_truth or gold"})
    prompt_style: str = field(default="boxed", metadata={"help": f"after the question: {', '.join(PROMPT_STYLES)}"})
    reward_funcs: list[str] = field(
        default_factory=lambda: ["accuracy_reward"],
        metadata={"help": f"any of {', '.join(REWARDS)}; math_reward is made from `policy` and `scores`"},
    )
    policy: dict[str, object] | str | None = field(default=None, metadata={"help": "fields of Policy; a flag as JSON"})
    scores: dict[str, float] | str | None = field(default=None, metadata={"help": "fields of Scores; a flag as JSON"})
    gguf_file: str | None = field(default=None, metadata={"help": "the GGUF file in the model's folder or package"})

    def __post_init__(self) -> None:
        # argparse checks flags against choices, but not what a YAML file gives.
        if self.prompt_style not in PROMPT_STYLES:
            raise SystemExit(f"error: prompt_style: no {self.prompt_style!r}; available: {', '.join(PROMPT_STYLES)}")


def parse(argv: list[str] | None = None, config: type = GRPOConfig) -> tuple[RecipeArguments, GRPOConfig, ModelConfig]:
    # allow_abbrev: `--max_step 2` is a misspelling of `--max_steps`, not short for it.
    parser = TrlParser((RecipeArguments, config, ModelConfig), allow_abbrev=False)
    try:
        recipe, training, model = parser.parse_args_and_config(argv)
    except (OSError, TypeError, ValueError, YAMLError) as error:  # a file that is none, a key or value that none takes
        raise SystemExit(f"error: {' '.join(str(error).split())}") from None
    return recipe, training, model


def configured(name: str, given: Mapping[str, object] | str | None, kind: type) -> object:
    """A `Policy` or `Scores` of the fields that a YAML file gives, or a flag as JSON."""
    try:
        return kind(**(json.loads(given) if isinstance(given, str) else given or {}))
    except (TypeError, ValueError) as error:
        known = ", ".join(field.name for field in fields(kind))
        raise SystemExit(
            f"error: {name}: {error}; expected an object with fields of {kind.__name__}: {known}"
        ) from None


def reward_functions(recipe: RecipeArguments) -> list[RewardFunction]:
    available = dict(REWARDS)
    if recipe.policy or recipe.scores:
        if "math_reward" not in recipe.reward_funcs:
            raise SystemExit("error: `policy` and `scores` configure math_reward, which `reward_funcs` does not name")
        policy = configured("policy", recipe.policy, Policy)
        scores = configured("scores", recipe.scores, rewards.Scores)
        available["math_reward"] = rewards.MathReward(policy=policy, scores=scores, name="math_reward")
    if unknown := [name for name in recipe.reward_funcs if name not in available]:
        named = "; math_reward needs `policy` or `scores`" if "math_reward" in unknown else ""
        raise SystemExit(f"error: reward_funcs: no {', '.join(unknown)}; available: {', '.join(available)}{named}")
    return [available[name] for name in recipe.reward_funcs]


def read_problems(recipe: RecipeArguments, training: GRPOConfig) -> dict[str, list[Problem]]:
    splits = {"train": recipe.dataset_train_split}
    if training.eval_strategy != "no":
        splits["test"] = recipe.dataset_test_split
    columns = {"question_column": recipe.question_column, "gold_column": recipe.gold_column}
    where = {"config": recipe.dataset_config, **columns}
    problems = {role: load_problems(recipe.dataset, split, **where) for role, split in splits.items()}
    # TRL makes no batch of fewer, and would end without a step and without a word.
    needed = training.generation_batch_size // training.num_generations
    if len(problems["train"]) < needed:
        counted = f"{len(problems['train'])} problems, and a batch holds {needed}"
        raise SystemExit(f"error: {recipe.dataset}: {counted}; lower gradient_accumulation_steps")
    return problems


def model_folder(name: str, gguf_file: str | None) -> str:
    """The folder of the installed package `name` when weights are read from a GGUF file inside one, else `name`."""
    package = importlib.util.find_spec(name) if gguf_file and name.isidentifier() else None
    return package.submodule_search_locations[0] if package and package.submodule_search_locations else name


def load_model(
    recipe: RecipeArguments, training: GRPOConfig, model: ModelConfig
) -> tuple[PreTrainedModel | str, PreTrainedTokenizerBase]:
    """The tokenizer, and the model: TRL loads it by its name, except for a GGUF file, which is dequantized here."""
    folder, gguf_file = model_folder(model.model_name_or_path, recipe.gguf_file), recipe.gguf_file
    named = {"revision": model.model_revision, "trust_remote_code": training.trust_remote_code}
    gguf = {"gguf_file": gguf_file} if gguf_file else {}
    try:
        tokenizer = AutoTokenizer.from_pretrained(folder, **named, **gguf)
    except OSError as error:
        raise SystemExit(f"error: {model.model_name_or_path}: not loaded ({' '.join(str(error).split())})") from None
    if gguf_file:
        # Without `dequantize`, transformers refuses to train or save the weights.
        unpack = GgufConfig(gguf_file=gguf_file, dequantize=True)
        loading = {**gguf, "quantization_config": unpack, "dtype": model.dtype or "float32"}
        return AutoModelForCausalLM.from_pretrained(folder, **loading), tokenizer
    loading = {**named, "attn_implementation": model.attn_implementation, "dtype": model.dtype}
    training.model_init_kwargs = {**loading, **(training.model_init_kwargs or {})}
    return folder, tokenizer


def main(
    recipe: RecipeArguments, training: GRPOConfig, model: ModelConfig, trainer_class: type = GRPOTrainer
) -> GRPOTrainer:
    # Rewards and data: what is wrong with them shows before any model loads
    reward_funcs = reward_functions(recipe)
    problems = read_problems(recipe, training)

    # Model and trainer
    policy_model, tokenizer = load_model(recipe, training, model)
    chat = tokenizer.chat_template is not None
    datasets = {role: to_dataset(rows, recipe.prompt_style, conversational=chat) for role, rows in problems.items()}
    trainer = trainer_class(
        model=policy_model,
        reward_funcs=reward_funcs,
        args=training,
        train_dataset=datasets["train"],
        eval_dataset=datasets.get("test"),
        processing_class=tokenizer,
        quantization_config=None if recipe.gguf_file else get_quantization_config(model),
        peft_config=get_peft_config(model),
    )

    # Train
    resume = training.resume_from_checkpoint
    trainer.train(resume_from_checkpoint=True if str(resume).lower() == "true" else resume)

    # Save
    trainer.save_model(training.output_dir)
    trainer.save_state()
    trainer.accelerator.print(f"model, trainer_state.json and completions/*.parquet: {training.output_dir}")
    trainer.end()
    return trainer


if __name__ == "__main__":
    try:
        main(*parse())
    except DataError as error:
        raise SystemExit(f"error: {error}") from None
