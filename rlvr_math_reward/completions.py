"""What a trainer hands over as prompt and completion, read to plain text.

A completion is a string, or messages of which the last ones may be tool results, may hold no content, content in
parts, or the thinking apart in `reasoning_content`. Anything else reads as an empty reply: a model's output is data,
so nothing here raises. Finding the answer inside the text is the work of `extraction`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

__all__ = ["Reply", "read_completion", "read_prompt"]

_THINKING_FIELDS = ("reasoning_content", "thinking", "reasoning")


@dataclass(frozen=True, slots=True)
class Reply:
    """The last thing the model said.

    Attributes:
        text: the text of the reply; thinking stands in it only where the trainer left it there, in `<think>` tags.
        thinking: what a chat template moved out of the text, or an empty string.
    """

    text: str
    thinking: str = ""


def read_completion(completion: object) -> Reply:
    """The reply in a completion of any of the shapes that trainers pass.

    Args:
        completion: a string, a message, or a list of messages (`{"role": ..., "content": ...}`), in which the last
            assistant message that has text counts.

    Example:
        >>> read_completion([{"role": "assistant", "content": [{"type": "text", "text": "It is 4."}]}]).text
        'It is 4.'
    """
    if isinstance(completion, str):
        return Reply(completion)
    message = _last_message(completion, "assistant")
    if message is None:
        return Reply("")
    thoughts = (_text(message.get(field)) for field in _THINKING_FIELDS)
    return Reply(_text(message.get("content")), next((thought for thought in thoughts if thought), ""))


def read_prompt(prompt: object) -> str | None:
    """The problem as the model was given it: the string, or the last user message; None when there is neither.

    Example:
        >>> read_prompt([{"role": "system", "content": "Be brief."}, {"role": "user", "content": "What is 2 + 2?"}])
        'What is 2 + 2?'
    """
    if isinstance(prompt, str):
        return prompt
    message = _last_message(prompt, "user")
    return None if message is None else _text(message.get("content"))


def _last_message(messages: object, role: str) -> Mapping[str, object] | None:
    """The last message of the role that has text. A message that names no role counts for any."""
    if isinstance(messages, Mapping):
        messages = [messages]
    if not isinstance(messages, Sequence):
        return None
    for message in reversed(messages):
        if isinstance(message, Mapping) and message.get("role", role) == role and _text(message.get("content")).strip():
            return message
    return None


def _text(content: object) -> str:
    """Message content as text. Parts are joined without a separator, as chat templates do; images and such drop out."""
    if isinstance(content, str):
        return content
    if not isinstance(content, Sequence) or isinstance(content, bytes | bytearray):
        return ""
    return "".join(_part_text(part) for part in content)


def _part_text(part: object) -> str:
    if isinstance(part, str):
        return part
    if not isinstance(part, Mapping) or part.get("type", "text") != "text":
        return ""
    text = part.get("text")
    return text if isinstance(text, str) else ""
