r"""Evaluate a model, or completions that are already there, with the verifier that trains.

    python recipes/evaluate.py --dataset math500 --model_name_or_path Qwen/Qwen2.5-1.5B-Instruct
    python recipes/evaluate.py --dataset aime24 --model_name_or_path runs/my_run --num_samples 16 --temperature 0.6
    python recipes/evaluate.py --completions rollouts.jsonl

`--dataset` is a name of `DATASETS`, a file, a folder or a hub dataset, read and prompted as in training. Left in
`output_dir`: `completions.jsonl`, each with its verdict, and `results.json`; a table is printed. `--resume` goes on
after an interruption, and evaluates completions that are complete once more; they are never written over.
What `make demo` reports of its held-out sums, once more:

    python recipes/evaluate.py --dataset runs/demo_cpu/sums --model_name_or_path runs/demo_cpu --prompt_style question \
        --batch_size 128 --max_new_tokens 16
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path

from transformers import AutoModelForCausalLM, AutoTokenizer, GenerationConfig, HfArgumentParser, set_seed

from rlvr_math_reward import Policy
from rlvr_math_reward.data import PROMPT_STYLES, DataError, load_problems, read_rows, to_prompt
from rlvr_math_reward.evaluation import Evaluation, evaluate, group_rows, to_row
from rlvr_math_reward.files import encode
from rlvr_math_reward.rewards import MathReward, accuracy_reward
from rlvr_math_reward.scoring.output import PartialFile

DATASETS: dict[str, tuple[str, str | None, str]] = {  # name -> dataset of the hub, configuration, split
    "math500": ("HuggingFaceH4/MATH-500", None, "test"),
    "gsm8k": ("openai/gsm8k", "main", "test"),
    "aime24": ("HuggingFaceH4/aime_2024", None, "train"),
    "aime25": ("yentinglin/aime_2025", None, "train"),
}
Generate = Callable[[list[list[int]], int], list[str]]


@dataclass
class EvaluateArguments:
    dataset: str = field(default="math500", metadata={"help": f"{', '.join(DATASETS)}; a file, a folder, a hub name"})
    dataset_config: str | None = field(default=None, metadata={"help": "configuration of a hub dataset, e.g. `main`"})
    dataset_split: str = field(default="test", metadata={"help": "split, or file of a folder"})
    question_column: str | None = field(default=None, metadata={"help": "by default problem, question or prompt"})
    gold_column: str | None = field(default=None, metadata={"help": "by default answer, solution or gold"})
    limit: int | None = field(default=None, metadata={"help": "only so many problems"})
    completions: str | None = field(default=None, metadata={"help": "a file of completions; nothing is generated"})
    policy: str | None = field(default=None, metadata={"help": "fields of Policy as JSON; default: accuracy_reward's"})
    output_dir: str = field(default="runs/evaluation", metadata={"help": "gets completions.jsonl and results.json"})
    resume: bool = field(default=False, metadata={"help": "go on with the completions that are there"})
    model_name_or_path: str | None = field(default=None, metadata={"help": "a folder or a hub name"})
    dtype: str = field(default="auto", metadata={"help": "of the weights, e.g. bfloat16"})
    engine: str = field(default="transformers", metadata={"help": "generates", "choices": ["transformers", "vllm"]})
    batch_size: int = field(default=32, metadata={"help": "completions generated together; thousands with vllm"})
    prompt_style: str = field(default="boxed", metadata={"help": "what is said after", "choices": list(PROMPT_STYLES)})
    num_samples: int = field(default=1, metadata={"help": "completions of each problem"})
    temperature: float = field(default=0.0, metadata={"help": "0 is greedy"})
    top_p: float = field(default=1.0, metadata={"help": "nucleus sampling"})
    max_new_tokens: int = field(default=2048, metadata={"help": "tokens of a completion"})
    seed: int = field(default=0, metadata={"help": "for sampling"})


def parse(argv: list[str] | None = None) -> EvaluateArguments:
    parser = HfArgumentParser(EvaluateArguments, allow_abbrev=False, description=__doc__)
    try:
        (args,) = parser.parse_args_into_dataclasses(argv)
    except ValueError as error:  # a flag that is none
        parser.error(str(error))
    if not (args.completions or args.model_name_or_path):
        parser.error("--model_name_or_path or --completions is required")
    if min(args.num_samples, args.batch_size) < 1 or (args.num_samples > 1 and not args.temperature):
        parser.error("--num_samples and --batch_size are at least 1; several samples need a --temperature above 0")
    if args.limit is not None and args.limit < 1:
        parser.error(f"--limit is {args.limit}; at least 1, and without it all problems are taken")
    return args


def make_reward(policy: str | None) -> MathReward:
    try:
        return MathReward(policy=Policy(**json.loads(policy))) if policy else accuracy_reward
    except (TypeError, ValueError) as error:
        known = ", ".join(field.name for field in fields(Policy))
        raise DataError(f"--policy: {error}; expected a JSON object with fields of Policy: {known}") from None


# -- generation: token ids of prompts, and the number of the first of them, to texts ----------------------------------
def with_transformers(args: EvaluateArguments, tokenizer: AutoTokenizer) -> Generate:
    import torch

    model = AutoModelForCausalLM.from_pretrained(args.model_name_or_path, dtype=args.dtype).eval()
    model.to("cuda" if torch.cuda.is_available() else "cpu")
    sampling = {"temperature": args.temperature, "top_p": args.top_p, "top_k": 0} if args.temperature else {}
    config = GenerationConfig(do_sample=bool(sampling), max_new_tokens=args.max_new_tokens, **sampling)
    config.eos_token_id = model.generation_config.eos_token_id or tokenizer.eos_token_id
    config.pad_token_id = tokenizer.pad_token_id

    @torch.inference_mode()
    def generate(prompts: list[list[int]], first: int) -> list[str]:
        set_seed(args.seed + first)  # so that a resumed run samples as an uninterrupted one
        asked = tokenizer.pad({"input_ids": prompts}, return_tensors="pt").to(model.device)
        out = model.generate(**asked, generation_config=config)
        return tokenizer.batch_decode(out[:, asked["input_ids"].shape[1] :], skip_special_tokens=True)

    return generate


def with_vllm(args: EvaluateArguments, tokenizer: AutoTokenizer) -> Generate:
    from vllm import LLM, SamplingParams

    model = LLM(args.model_name_or_path, dtype=args.dtype, seed=args.seed)
    sampling = {"temperature": args.temperature, "top_p": args.top_p, "max_tokens": args.max_new_tokens}

    def generate(prompts: list[list[int]], first: int) -> list[str]:
        # A seed each: one seed for all would give every sample of a problem the same text.
        params = [SamplingParams(**sampling, seed=args.seed + first + n) for n in range(len(prompts))]
        return [out.outputs[0].text for out in model.generate([{"prompt_token_ids": p} for p in prompts], params)]

    return generate


# -- the completions and the results -----------------------------------------------------------------------------------
def write_results(args: EvaluateArguments, found: dict[str, object]) -> Path:
    path = Path(args.output_dir) / "results.json"
    unfinished = path.with_name("results.json.writing")
    unfinished.write_text(json.dumps({"settings": asdict(args), **found}, indent=2) + "\n", encoding="utf-8")
    return unfinished.replace(path)


def check_finished(args: EvaluateArguments, path: Path) -> None:
    """Whether completions that are complete are those that are asked for; `results.json` tells how they were made."""
    if not args.resume:
        raise DataError(f"{path}: finished; --resume evaluates it once more, another --output_dir generates anew")
    try:
        settings = json.loads((path.parent / "results.json").read_text(encoding="utf-8"))["settings"]
    except (OSError, ValueError, KeyError, TypeError):
        settings = {}
    changed = [name for name, value in asdict(args).items() if name != "resume" and settings.get(name) != value]
    if changed:
        told = (
            "results.json does not say how it was made" if not settings else f"made with another {', '.join(changed)}"
        )
        raise DataError(f"{path}: {told}; --completions evaluates it as it is, another --output_dir generates anew")


def generate_completions(args: EvaluateArguments, reward: MathReward) -> str:
    path = Path(args.output_dir) / "completions.jsonl"
    if path.exists():
        check_finished(args, path)
        return str(path)
    source, config, split = DATASETS.get(args.dataset, (args.dataset, args.dataset_config, args.dataset_split))
    columns = {"config": config, "question_column": args.question_column, "gold_column": args.gold_column}
    problems = load_problems(source, split, **columns)[: args.limit]
    tokenizer = AutoTokenizer.from_pretrained(args.model_name_or_path, padding_side="left")
    tokenizer.pad_token = tokenizer.pad_token or tokenizer.eos_token
    chat = tokenizer.chat_template is not None
    asked = [to_prompt(problem.question, args.prompt_style, conversational=chat) for problem in problems]
    jobs = [job for job in zip(problems, asked, strict=True) for _ in range(args.num_samples)]
    with PartialFile(path, asdict(args) | {"resume": None}, resume=args.resume) as file:
        start = sum(1 for _ in file.kept())
        load = with_vllm if args.engine == "vllm" else with_transformers
        generate = load(args, tokenizer) if start < len(jobs) else None
        for first in range(start, len(jobs), args.batch_size):
            chosen, asked = zip(*jobs[first : first + args.batch_size], strict=True)
            shown = tokenizer.apply_chat_template(asked, tokenize=False, add_generation_prompt=True) if chat else asked
            texts = generate(tokenizer(list(shown), add_special_tokens=not chat)["input_ids"], first)
            verdicts = reward.verdicts(texts, [problem.gold for problem in chosen], asked)
            file.write(b"".join(encode(row) + b"\n" for row in map(to_row, chosen, asked, texts, verdicts)))
            print(f"{first + len(texts):,} of {len(jobs):,} completions", flush=True)
        write_results(args, {})  # first: should this run end here, they tell --resume how the completions were made
        file.finish()
    return str(path)


def main(args: EvaluateArguments) -> Evaluation:
    Path(args.output_dir).mkdir(parents=True, exist_ok=True)
    reward = make_reward(args.policy)
    completions = args.completions or generate_completions(args, reward)
    name, rows = read_rows(completions)
    result = evaluate(group_rows(rows, name, args.gold_column if args.completions else "gold"), reward)
    results = write_results(args, result.to_dict())
    print(f"\n{result.table()}\n\ncompletions    {completions}\nresults        {results}")
    return result


if __name__ == "__main__":
    try:
        main(parse())
    except (DataError, OSError) as error:
        raise SystemExit(f"error: {' '.join(str(error).split())}") from None
