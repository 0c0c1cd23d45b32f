"""Entry points for other frameworks: each is called as its framework calls it, and all give the same verdicts.

verifiers and lm-eval run for real here. ms-swift, lighteval, verl, OpenRLHF and NeMo-RL pull other versions of shared
packages or have no code on PyPI: for them the tests hold the signature, read in the releases that each module names.
"""

import asyncio
import inspect
import json
import os
import sys
import types
from itertools import zip_longest
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from rlvr_math_reward.integrations import lighteval, lm_eval, ms_swift, nemo_rl, openrlhf, verifiers, verl
from rlvr_math_reward.policy import Policy
from rlvr_math_reward.rewards import MathReward, Scores, accuracy_reward, shaped_reward

# completion, gold, question
SAMPLES: list[tuple[str, str, str]] = [
    (r"Half of it is \boxed{\frac{1}{2}}.", "0.5", "What is a half?"),
    (r"So $\boxed{\frac{28}{6}}$", "14/3", "Divide 14 by 3."),
    ("3 + 4 = 7\n#### 7", "#### 7", "What is 3 + 4?"),
    ("<think>it is \\boxed{8}</think>The answer is 7.", "7", "What is 3 + 4?"),
    ("<answer>x = 2, -2</answer>", "-2, 2", "Solve x^2 = 4."),
    (r"\boxed{(2, 1)}", "(1, 2)", "Name the point."),
    (r"\boxed{[1, 3)}", "[1,3)", "Name the interval."),
    (r"\boxed{50\%}", r"\frac12", "What share?"),
    (r"\boxed{3 + 4}", "7", "What is 3 + 4 ?"),
    (r"\boxed{7.1}", "7", "What is 3 + 4?"),
    (r"\boxed{x^2 - 1}", "(x-1)(x+1)", "Expand."),
    (r"\boxed{\text{(C)}}", "C", "Which one?"),
    (r"\boxed{1,2,3,4,5,6,7}", "7", "What is 3 + 4?"),
    (r"\boxed{7}}}}}", "7", "What is 3 + 4?"),
    (r"\boxed{7", "7", "What is 3 + 4?"),
    (r"\boxed{}", "7", "What is 3 + 4?"),
    ("no idea", "7", "What is 3 + 4?"),
    ("", "7", "What is 3 + 4?"),
    (r"\boxed{9^{9^{9^{9}}}}", "7", "What is 3 + 4?"),
    (r"\boxed{7}", "", "What is 3 + 4?"),
]


def real_samples(count: int) -> list[tuple[str, str, str]]:
    """The first completions of every file in turn, with no question: the files hold none."""
    files = sorted(Path(os.environ["RLVR_MATH_DATA"], "rollouts").glob("*.jsonl"))
    rows = [[json.loads(line) for line in file.read_text().splitlines()] for file in files]
    mixed = [row for turn in zip_longest(*rows) for row in turn if row is not None]
    return [(row["completion"], row["gold"], "") for row in mixed[:count]]


Rows = list[tuple[str, str, str]]


def by_trl(rows: Rows) -> list[float]:
    completions, golds, questions = (list(column) for column in zip(*rows, strict=True))
    rewards = accuracy_reward(prompts=questions, completions=completions, solution=golds, completion_ids=None)
    return [reward or 0.0 for reward in rewards]


def by_trl_conversations(rows: Rows) -> list[float]:
    completions = [[{"role": "assistant", "content": text}] for text, _, _ in rows]
    prompts = [[{"role": "user", "content": question}] for _, _, question in rows]
    rewards = accuracy_reward(prompts=prompts, completions=completions, answer=[gold for _, gold, _ in rows])
    return [reward or 0.0 for reward in rewards]


def by_verl(rows: Rows) -> list[float]:
    return [
        verl.compute_score(
            data_source="own",
            solution_str=text,
            ground_truth=gold,
            extra_info={"question": question, "num_turns": None},
        )["score"]
        for text, gold, question in rows
    ]


def by_verl_batch(rows: Rows) -> list[float]:
    scores = verl.compute_score_batch(
        data_sources=["own"] * len(rows),
        solution_strs=[text for text, _, _ in rows],
        ground_truths=[gold for _, gold, _ in rows],
        extra_infos=[{"question": question, "rollout_reward_scores": {}} for _, _, question in rows],
    )
    return [score["score"] for score in scores]


def by_openrlhf(rows: Rows) -> list[float]:
    """One query at a time, prompt and response decoded as one text, and the value taken out of the tensor."""
    pytest.importorskip("torch")
    rewards = []
    for text, gold, question in rows:
        prompt = f"<|im_start|>user\n{question}<|im_end|>\n<|im_start|>assistant\n"
        result = openrlhf.reward_func([prompt + text + "<|im_end|>"], [prompt], [gold])
        rewards.append(result["rewards"].item())
    return rewards


def by_ms_swift(rows: Rows) -> list[float]:
    completions = [text for text, _, _ in rows]
    messages = [
        [{"role": "user", "content": question}, {"role": "assistant", "content": text}] for text, _, question in rows
    ]
    reward = ms_swift.MathAccuracyORM(args=SimpleNamespace())
    rewards = reward(completions, solution=[gold for _, gold, _ in rows], messages=messages, trainer_state=None)
    return [value or 0.0 for value in rewards]


def by_verifiers(rows: Rows) -> list[float]:
    async def score() -> list[float]:
        return [
            await verifiers.math_accuracy(
                SimpleNamespace(prompt_text=question, answer=gold), SimpleNamespace(last_reply=text)
            )
            for text, gold, question in rows
        ]

    return asyncio.run(score())


def by_verifiers_rubric(rows: Rows) -> list[float]:
    return [
        verifiers.rubric_accuracy(
            prompt=[{"role": "user", "content": question}], answer=gold, state={}, info={},
            completion=[{"role": "assistant", "content": text}],
        )
        for text, gold, question in rows
    ]  # fmt: skip


def by_lm_eval(rows: Rows) -> list[float]:
    results = [lm_eval.process_results({"question": q, "answer": gold}, [text]) for text, gold, q in rows]
    return [result.get("math_accuracy", 0.0) for result in results]


def by_lighteval(rows: Rows) -> list[float]:
    return [
        lighteval.compute(
            SimpleNamespace(query=question, get_golds=lambda gold=gold: [gold]), SimpleNamespace(final_text=[text])
        )
        for text, gold, question in rows
    ]


def by_nemo_rl(rows: Rows) -> list[float]:
    pytest.importorskip("torch")
    logs = [[{"role": "user", "content": q}, {"role": "assistant", "content": text}] for text, _, q in rows]
    returned = nemo_rl.MathEnvironment().step(logs, [{"ground_truth": gold} for _, gold, _ in rows])
    return returned.rewards.tolist()


ENTRY_POINTS = [
    by_trl_conversations, by_verl, by_verl_batch, by_openrlhf, by_ms_swift, by_verifiers, by_verifiers_rubric,
    by_lm_eval, by_lighteval, by_nemo_rl,
]  # fmt: skip


@pytest.mark.parametrize("entry_point", ENTRY_POINTS, ids=lambda function: function.__name__)
def test_the_same_completions_earn_the_same(entry_point: Any) -> None:
    expected = by_trl(SAMPLES)
    assert 5 < sum(expected) < len(SAMPLES) - 5
    assert entry_point(SAMPLES) == expected


@pytest.mark.slow
@pytest.mark.skipif("RLVR_MATH_DATA" not in os.environ, reason="RLVR_MATH_DATA names no folder of real completions")
def test_real_completions_earn_the_same() -> None:
    rows = real_samples(1000)
    assert len(rows) == 1000
    expected = by_trl(rows)
    assert 200 < sum(expected) < 900
    differing = {
        entry_point.__name__: [
            rows[i][:2] for i, (a, b) in enumerate(zip(expected, entry_point(rows), strict=True)) if a != b
        ]
        for entry_point in ENTRY_POINTS
    }
    assert differing == {entry_point.__name__: [] for entry_point in ENTRY_POINTS}


# -- what is particular to each ------------------------------------------------------------------------------------


def test_verl_takes_policy_and_scores_and_always_gives_the_same_keys() -> None:
    settings = {"policy": {"rel_tol": 0.1}, "scores": {"numeric": 0.25, "no_answer": -1.0}}
    graded = verl.compute_score_batch(
        ["own"] * 3, [r"\boxed{7.1}", "I cannot say.", r"\boxed{7}"], ["7", "7", ""], [None] * 3, **settings
    )
    assert [row["score"] for row in graded] == [0.25, -1.0, 0.0]
    assert [row["outcome"] for row in graded] == ["correct", "no_answer", "bad_gold"]
    assert {tuple(row) for row in graded} == {("score", "acc", "pred", "outcome", "decided_by")}
    assert verl.compute_score("own", r"\boxed{7.1}", "7", reward_router_address=None, **settings)["score"] == 0.25


def test_verl_signature() -> None:
    single = inspect.signature(verl.compute_score).parameters
    assert list(single)[:4] == ["data_source", "solution_str", "ground_truth", "extra_info"]
    batch = inspect.signature(verl.compute_score_batch).parameters
    assert list(batch)[:4] == ["data_sources", "solution_strs", "ground_truths", "extra_infos"]


@pytest.mark.parametrize(
    ("query", "prompt", "response"),
    [
        ("<s>What is 1 + 1?\n2</s>", "What is 1 + 1?\n", "2"),
        ("What is 1 + 1?2<|im_end|>\n<|endoftext|>", "What is 1 + 1?", "2"),
        ("1 + 1?\n2", "What is 1 + 1?\n", ""),
        ("x" * 64 + "2", "cut away " + "x" * 64, "2"),
        ("Q: 2<｜end▁of▁sentence｜>", "Q: ", "2"),
        ("Q: <|im_end|>", "Q: ", ""),
        ("Q: a < b", "Q: ", "a < b"),
        ("Q: ", "Q: ", ""),
        ("", "", ""),
    ],
)
def test_openrlhf_splits_the_response_off(query: str, prompt: str, response: str) -> None:
    assert openrlhf.split_response(query, prompt) == response


def test_openrlhf_does_not_grade_the_prompt() -> None:
    torch = pytest.importorskip("torch")
    prompt = r"Example: \boxed{7}. What is 3 + 4?"
    result = openrlhf.reward_func([prompt, prompt + r"\boxed{7}"], [prompt] * 2, ["7", "7"])
    assert result["rewards"].tolist() == [0.0, 1.0]
    assert torch.equal(result["scores"], result["rewards"])
    assert result["extra_logs"]["no_answer"].tolist() == [1.0, 0.0]
    assert list(inspect.signature(openrlhf.reward_func).parameters)[:3] == ["queries", "prompts", "labels"]


def test_ms_swift_registers_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stands in for `swift.rewards`, whose `orms` is a plain dict that the trainer looks its names up in."""
    rewards = types.ModuleType("swift.rewards")
    rewards.orms = {}
    monkeypatch.setitem(sys.modules, "swift", types.ModuleType("swift"))
    monkeypatch.setitem(sys.modules, "swift.rewards", rewards)
    ms_swift.register()
    reward = rewards.orms["rlvr_math_accuracy"](args=None)
    assert reward([r"\boxed{7}", "I cannot say."], solution=["7", ""]) == [1.0, None]


def test_nemo_rl_returns_what_a_rollout_takes() -> None:
    pytest.importorskip("torch")
    environment = nemo_rl.MathEnvironment({"policy": {"rel_tol": 0.1}, "scores": {"numeric": 0.25}})
    logs = [[{"role": "assistant", "content": text}] for text in (r"\boxed{7.1}", "I cannot say.")]
    metadata = [{"ground_truth": "7"}, {"ground_truth": "7"}]
    returned = environment.step(logs, metadata, return_extracted_answer=True)
    assert returned._fields == (
        "observations", "metadata", "next_stop_strings", "rewards", "terminateds", "answers",
    )  # fmt: skip
    assert returned.rewards.tolist() == [0.25, 0.0]
    assert returned.terminateds.tolist() == [1.0, 1.0]
    assert returned.answers == ["7.1", None]
    assert returned.metadata == metadata
    assert [row["role"] for row in returned.observations] == ["environment", "environment"]
    batch, metrics = environment.global_post_process_and_metrics({"total_reward": returned.rewards})
    assert metrics["accuracy"] == 0.125
    assert set(batch) == {"total_reward"}


def test_missing_gold_is_named() -> None:
    columns = "solution, answer, ground_truth, gold"
    with pytest.raises(ValueError, match=columns):
        lm_eval.process_results({"target": "7"}, ["7"])
    with pytest.raises(ValueError, match=columns):
        asyncio.run(verifiers.math_accuracy(SimpleNamespace(prompt_text="?"), SimpleNamespace(last_reply="7")))


def test_lm_eval_takes_several_generations_and_another_reward() -> None:
    doc = {"problem": "What is 3 + 4?", "solution": "#### 7"}
    assert lm_eval.process_results(doc, [[r"\boxed{7}", r"\boxed{8}"]]) == {"math_accuracy": 0.5}
    assert lm_eval.process_results(doc, [r"\boxed{7.0001}"], shaped_reward) == {"math_accuracy": 1.0}
    assert lm_eval.process_results({"answer": ""}, ["7"]) == {}


def test_lighteval_takes_alternative_golds() -> None:
    reward = MathReward(policy=Policy(rel_tol=0.1), scores=Scores(numeric=0.5))
    doc = SimpleNamespace(query="What is 3 + 4?", get_golds=lambda: ["seven birds", "7"])
    assert lighteval.compute(doc, SimpleNamespace(final_text=[r"\boxed{7}", r"\boxed{7.1}"]), reward) == 0.75
    assert lighteval.compute(doc, SimpleNamespace(final_text=[])) == 0.0


# -- the real frameworks -------------------------------------------------------------------------------------------

TASK = """
task: own_samples
dataset_path: json
dataset_kwargs: {data_files: {test: ROWS}}
test_split: test
output_type: generate_until
doc_to_text: "{{question}}"
doc_to_target: "{{answer}}"
process_results: !function rlvr_math_reward.integrations.lm_eval.process_results
metric_list:
  - {metric: math_accuracy, aggregation: mean, higher_is_better: true}
"""


@pytest.mark.slow
def test_lm_eval_runs_a_task(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    harness = pytest.importorskip("lm_eval")
    from lm_eval.api.model import LM
    from lm_eval.tasks import TaskManager

    monkeypatch.setenv("HF_DATASETS_CACHE", str(tmp_path / "cache"))
    rows = [{"question": f"{i}. {row[2]}", "answer": row[1], "completion": row[0]} for i, row in enumerate(SAMPLES)]
    (tmp_path / "rows.jsonl").write_text("\n".join(json.dumps(row) for row in rows))
    (tmp_path / "own_samples.yaml").write_text(TASK.replace("ROWS", str(tmp_path / "rows.jsonl")))

    class Recorded(LM):
        """Answers each question with its recorded completion."""

        def loglikelihood(self, requests: Any) -> Any:
            raise NotImplementedError

        loglikelihood_rolling = loglikelihood

        def generate_until(self, requests: Any) -> list[str]:
            return [request.doc["completion"] for request in requests]

    found = harness.simple_evaluate(
        model=Recorded(), tasks=["own_samples"], log_samples=True, bootstrap_iters=0,
        task_manager=TaskManager(include_path=str(tmp_path), include_defaults=False),
    )  # fmt: skip
    expected = by_lm_eval(SAMPLES)
    samples = sorted(found["samples"]["own_samples"], key=lambda sample: sample["doc_id"])
    assert [sample.get("math_accuracy", 0.0) for sample in samples] == expected
    gradeable = [earned for earned, row in zip(expected, SAMPLES, strict=True) if row[1]]
    assert found["results"]["own_samples"]["math_accuracy,none"] == pytest.approx(sum(gradeable) / len(gradeable))


@pytest.mark.slow
def test_verifiers_scores_a_task() -> None:
    pytest.importorskip("verifiers.v1")
    import verifiers.v1 as vf

    class Data(vf.TaskData):
        answer: str

    class Sum(vf.Task[Data, vf.State, vf.TaskConfig]):
        pass

    plugged = {"fn": "rlvr_math_reward.integrations.verifiers:math_accuracy", "weight": 2.0}

    async def score(text: str, gold: str, question: str) -> float:
        task = Sum(Data(prompt=question, answer=gold), vf.TaskConfig(rewards={"math_accuracy": plugged}))
        asked = vf.MessageNode(message=vf.UserMessage(content=question))
        said = vf.MessageNode(parent=0, message=vf.AssistantMessage(content=text), sampled=True)
        trace = vf.Trace(
            task=vf.TraceTask(type="Sum", data=task.data),
            agent=vf.AgentInfo(config=vf.AgentConfig()),
            nodes=[asked, said],
        )
        await task.score(trace)
        assert trace.reward == 2.0 * trace.rewards["math_accuracy"].score
        return trace.rewards["math_accuracy"].score

    async def score_all() -> list[float]:
        return [await score(*row) for row in SAMPLES]

    assert asyncio.run(score_all()) == by_trl(SAMPLES)
