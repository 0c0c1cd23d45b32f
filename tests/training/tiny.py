"""A model that trains in seconds: a one-layer Llama whose vocabulary is whole answers.

A random model samples its tokens evenly, so its completions hold right, wrong, missing and hostile answers from the
first step on, out of real generation. `python tests/training/tiny.py FOLDER` writes it where a command can load it.
"""

import sys
from pathlib import Path

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

ANSWERS = [rf"\boxed{{{number}}}" for number in range(4, 8)]
PHRASES = [
    "The answer is",
    "<think>",
    "</think>",
    "7",
    "x",
    r"\boxed{7.0001}",
    r"\boxed{\frac{14}{2}}",
    r"\boxed{7 cm}",
]
PROMPT_WORDS = ["What", "is", "3", "+", "4", "5", "1", "?", "user:", "assistant:"]
CHAT_TEMPLATE = (
    "{% for message in messages %}{{ message['role'] }}: {{ message['content'] }} {% endfor %}"
    "{% if add_generation_prompt %}assistant: {% endif %}"
)


def save_tiny_model(folder: Path, more_tokens: tuple[str, ...] = ()) -> str:
    """Write model and tokenizer to a folder and return it as a string, as trainers take it."""
    words = ["<pad>", "<eos>", "<unk>", *PROMPT_WORDS, *ANSWERS, *PHRASES, *more_tokens]
    tokens = list(dict.fromkeys(words))
    backend = Tokenizer(models.WordLevel({token: index for index, token in enumerate(tokens)}, unk_token="<unk>"))
    backend.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    backend.decoder = decoders.Fuse()  # a completion is its tokens, one after the other
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=backend, pad_token="<pad>", eos_token="<eos>", unk_token="<unk>", padding_side="left"
    )
    tokenizer.chat_template = CHAT_TEMPLATE
    torch.manual_seed(0)
    model = LlamaForCausalLM(
        LlamaConfig(
            vocab_size=len(tokens), hidden_size=32, intermediate_size=64, num_hidden_layers=1, num_attention_heads=2,
            max_position_embeddings=256, pad_token_id=0, eos_token_id=1, bos_token_id=None,
        )
    )  # fmt: skip
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return str(folder)


if __name__ == "__main__":
    print(save_tiny_model(Path(sys.argv[1])))
