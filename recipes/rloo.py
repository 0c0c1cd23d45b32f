"""Train a model with RLOO, rewarded by the verifier: `recipes/grpo.py` with TRL's other trainer.

    python recipes/rloo.py --config configs/rloo/gsm8k_qwen2.5-0.5b.yaml

Keys, flags and what is left in `output_dir` are those of `recipes/grpo.py`, with RLOOConfig in GRPOConfig's place.
"""

from __future__ import annotations

from pathlib import Path

import grpo
import pandas as pd
from trl import ModelConfig, RLOOConfig, RLOOTrainer

from rlvr_math_reward.data import DataError


class TableTrainer(RLOOTrainer):
    """Writes `completions/*.parquet`, which TRL 1.16 does in GRPOTrainer only and `rlvr-math report` reads."""

    def log(self, logs: dict[str, float], start_time: float | None = None) -> None:
        super().log(logs, start_time)
        if self.log_completions and self.accelerator.is_main_process:
            told, step = self._logs, self.state.global_step
            columns = {"prompt": told["prompt"], "completion": told["completion"], **told["rewards"], **told["extra"]}
            table = pd.DataFrame({**columns, "advantage": told["advantages"]}).assign(step=step)
            folder = Path(self.args.output_dir) / "completions"
            folder.mkdir(parents=True, exist_ok=True)
            table.to_parquet(folder / f"completions_{step:05d}.parquet")


def parse(argv: list[str] | None = None) -> tuple[grpo.RecipeArguments, RLOOConfig, ModelConfig]:
    return grpo.parse(argv, RLOOConfig)


def main(recipe: grpo.RecipeArguments, training: RLOOConfig, model: ModelConfig) -> RLOOTrainer:
    return grpo.main(recipe, training, model, TableTrainer)


if __name__ == "__main__":
    try:
        main(*parse())
    except DataError as error:
        raise SystemExit(f"error: {error}") from None
