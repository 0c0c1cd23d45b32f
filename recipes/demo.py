"""The demonstration behind `make demo`: make a tiny model, teach it to talk, train it with GRPO, compare.

    python recipes/demo.py --config configs/grpo/demo_cpu.yaml

1. Write sums as a dataset, some of them held out: neither they nor their mirror images (`3 + 4`, `4 + 3`) are seen
   in step 2 or 3.
2. Warm start: a Llama of 0.1 M parameters learns from texts that mostly do not state an answer, and of those that do,
   every fifth is wrong. It then knows sums, and rarely says so.
3. `recipes/grpo.py`, the script that trains real models, on the config.
4. Greedy accuracy before and after step 3, by the same verifier; the reward curve as a PNG; a page about the run.

Nothing is fetched. The same seed gives the same result on the same machine.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import datasets
import grpo
import matplotlib
import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import (
    AutoModelForCausalLM,
    AutoTokenizer,
    LlamaConfig,
    LlamaForCausalLM,
    PreTrainedTokenizerFast,
    set_seed,
)
from trl import GRPOConfig, SFTConfig, SFTTrainer

from rlvr_math_reward import Outcome, Verdict, grade
from rlvr_math_reward.data import Problem, load_problems, to_prompt
from rlvr_math_reward.report import write_report

matplotlib.use("Agg")  # before pyplot: there may be no display
import matplotlib.pyplot as plt

LARGEST = 20  # sums of two numbers from 0 to this
HELD_OUT = 0.2  # share of the unordered pairs
TALKS = 0.6  # share of the warm start's texts that state no answer
ERRS = 0.2  # share of its stated answers that are wrong
TALK = "That is a sum I can do."
BOX = "The answer is \\boxed{"
BATCH = 128


@dataclass(frozen=True)
class Answer:
    completion: str
    verdict: Verdict


def share_correct(answers: list[Answer]) -> float:
    return sum(answer.verdict.correct for answer in answers) / len(answers)


# -- sums ------------------------------------------------------------------------------------------------------------
def write_sums(folder: Path, rng: random.Random) -> None:
    """`train.jsonl` with the seen sums, `test.jsonl` with the held-out ones, in the columns of GSM8K."""
    pairs = [(a, b) for a in range(LARGEST + 1) for b in range(a, LARGEST + 1)]
    rng.shuffle(pairs)
    held = round(len(pairs) * HELD_OUT)
    folder.mkdir(parents=True, exist_ok=True)
    for split, chosen in (("test", pairs[:held]), ("train", pairs[held:])):
        ordered = sorted({both for a, b in chosen for both in ((a, b), (b, a))})
        rows = [json.dumps({"question": f"What is {a} + {b}?", "answer": str(a + b)}) for a, b in ordered]
        (folder / f"{split}.jsonl").write_text("\n".join(rows) + "\n", encoding="utf-8")


def prompts(problems: list[Problem]) -> list[str]:
    return [to_prompt(problem.question, "question", conversational=False) for problem in problems]


# -- warm start ------------------------------------------------------------------------------------------------------
def make_tokenizer(texts: list[str]) -> PreTrainedTokenizerFast:
    """Byte-level BPE in which every digit is a token, so that 12 is read as 1 and 2."""
    tokenizer = Tokenizer(models.BPE())
    digits, byte_level = pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([digits, byte_level])
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=320, special_tokens=["<pad>", "<eos>"], initial_alphabet=alphabet, show_progress=False
    )
    tokenizer.train_from_iterator(texts, trainer)
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token="<pad>", eos_token="<eos>", padding_side="left"
    )


def warm_start_text(total: int, rng: random.Random) -> str:
    if rng.random() < TALKS:
        return TALK
    stated = abs(total + rng.choice((-10, -2, -1, 1, 2, 10))) if rng.random() < ERRS else total
    return f"{BOX}{stated}}}."


def warm_start(problems: list[Problem], steps: int, training: GRPOConfig, folder: str, rng: random.Random) -> None:
    """Fine-tune a fresh model for `steps` batches on texts about `problems`, and save it with its tokenizer."""
    asked = rng.choices(list(zip(prompts(problems), problems, strict=True)), k=8_000)
    rows = [{"prompt": prompt, "completion": warm_start_text(int(problem.gold), rng)} for prompt, problem in asked]
    tokenizer = make_tokenizer([row["prompt"] + row["completion"] for row in rows])
    set_seed(training.seed)
    config = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=64,
        intermediate_size=128,
        num_hidden_layers=2,
        num_attention_heads=4,
        max_position_embeddings=64,
        tie_word_embeddings=True,
        pad_token_id=tokenizer.pad_token_id,
        eos_token_id=tokenizer.eos_token_id,
        bos_token_id=None,
    )
    trainer = SFTTrainer(
        model=LlamaForCausalLM(config),
        args=SFTConfig(
            output_dir=folder,
            max_steps=steps,
            per_device_train_batch_size=BATCH,
            learning_rate=3e-3,
            lr_scheduler_type="cosine",
            warmup_steps=20,
            logging_steps=100,
            save_strategy="no",
            use_cpu=True,
            bf16=False,
            activation_checkpointing=False,
            seed=training.seed,
        ),
        train_dataset=datasets.Dataset.from_list(rows),
        processing_class=tokenizer,
    )
    trainer.train()
    trainer.save_model(folder)


# -- evaluation ------------------------------------------------------------------------------------------------------
@torch.inference_mode()
def answer(folder: str, problems: list[Problem], max_new_tokens: int, begun: str = "") -> list[str]:
    """Greedy completions, all of which start with `begun`."""
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForCausalLM.from_pretrained(folder).eval()
    completions = []
    for start in range(0, len(problems), BATCH):
        texts = [prompt + begun for prompt in prompts(problems[start : start + BATCH])]
        asked = tokenizer(texts, return_tensors="pt", padding=True)
        out = model.generate(
            input_ids=asked["input_ids"],
            attention_mask=asked["attention_mask"],
            max_new_tokens=max_new_tokens,
            do_sample=False,
        )
        completions += tokenizer.batch_decode(out[:, asked["input_ids"].shape[1] :], skip_special_tokens=True)
    return [begun + completion for completion in completions]


def evaluate(folder: str, problems: list[Problem], max_new_tokens: int, begun: str = "") -> list[Answer]:
    completions = answer(folder, problems, max_new_tokens, begun)
    return [
        Answer(completion, grade(completion, problem.gold))
        for completion, problem in zip(completions, problems, strict=True)
    ]


# -- report ----------------------------------------------------------------------------------------------------------
def table(rows: dict[str, list[Answer]]) -> str:
    """The share of each outcome that occurs, a line a row."""
    outcomes = [
        outcome for outcome in Outcome if any(a.verdict.outcome is outcome for row in rows.values() for a in row)
    ]
    lines = [f"{'greedy answers to':<36}" + "".join(f"{outcome.value:>11}" for outcome in outcomes)]
    for name, row in rows.items():
        counts = Counter(answer.verdict.outcome for answer in row)
        lines.append(f"{name:<36}" + "".join(f"{counts[outcome] / len(row):>11.1%}" for outcome in outcomes))
    return "\n".join(lines)


def draw_curve(log: list[dict[str, float]], path: Path, greedy: tuple[float, float]) -> None:
    """The mean reward of sampled answers by step, with greedy accuracy on unseen sums at both ends."""
    steps, means = zip(*((entry["step"], entry["reward"]) for entry in log if "reward" in entry), strict=True)
    figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
    axes.plot(steps, means, marker=".", label="sampled answers to seen sums: mean accuracy_reward")
    axes.plot((0, steps[-1]), greedy, "D", label="greedy answers to unseen sums: share correct")
    axes.set(xlabel="GRPO step", ylabel="reward", ylim=(-0.03, 1.03))
    axes.set_title("Sums, a model of 0.1 M parameters, 128 answers a step", fontsize=10)
    axes.legend(loc="lower right", fontsize=8)
    axes.grid(alpha=0.3)
    figure.savefig(path, dpi=120)
    plt.close(figure)


WHAT_IT_SHOWS = """\
Before GRPO the model rarely states an answer; begun with the box, it already knows most sums. The curve shows it
learning to state what it knows in a box, and giving its likeliest answer more often. It does not show a model that
learns arithmetic from the reward: unseen sums come out right about as far as the warm start had taught them."""


def main(argv: list[str]) -> None:
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("--warm_start_steps", type=int, default=800)
    own, rest = parser.parse_known_args(argv)
    recipe, training, model = grpo.parse(rest)
    datasets.disable_progress_bars()
    # One thread: on so small a model two mostly wait for each other, and the result then hangs on their number.
    torch.set_num_threads(1)
    start, output = model.model_name_or_path, Path(training.output_dir)

    # Sums, then a model that knows them but rarely says so
    rng = random.Random(training.seed)
    write_sums(Path(recipe.dataset), rng)
    seen, unseen = load_problems(recipe.dataset, "train"), load_problems(recipe.dataset, "test")
    print(f"warm start: {own.warm_start_steps} steps on {len(seen)} sums, {len(unseen)} held out", flush=True)
    warm_start(seen, own.warm_start_steps, training, start, rng)
    length = training.max_completion_length
    rows = {}
    for name, sums in (("unseen", unseen), ("seen", seen)):
        rows[f"{len(sums)} {name} sums, before"] = evaluate(start, sums, length)
        rows[f"{len(sums)} {name} sums, before, box begun"] = evaluate(start, sums, length, begun=BOX)

    # GRPO
    print(f"GRPO: {training.max_steps} steps", flush=True)
    shutil.rmtree(output / "completions", ignore_errors=True)  # those of an earlier run
    trainer = grpo.main(recipe, training, model)
    for name, sums in (("unseen", unseen), ("seen", seen)):
        rows[f"{len(sums)} {name} sums, after"] = evaluate(str(output), sums, length)

    # Report
    before, after = (rows[f"{len(unseen)} unseen sums, {when}"] for when in ("before", "after"))
    curve = output / "reward_curve.png"
    draw_curve(trainer.state.log_history, curve, (share_correct(before), share_correct(after)))
    print(f"\n{table(dict(sorted(rows.items(), key=lambda row: ' seen' in row[0])))}\n")
    for problem, old, new in list(zip(unseen, before, after, strict=True))[:: len(unseen) // 3]:
        print(f"{problem.question:<18}{old.completion!r} -> {new.completion!r}: {new.verdict.outcome.value}")
    print(f"\n{WHAT_IT_SHOWS}\n")
    print(f"reward curve   {curve}\ncompletions    {output / 'completions'}/*.parquet\nmodel          {output}")
    print(f"report         {write_report(output)}")


if __name__ == "__main__":
    main(sys.argv[1:])
