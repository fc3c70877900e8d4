"""OpenAI's Chat Completions API, which many providers implement, Mistral among them."""

from __future__ import annotations

import json
import re
from typing import Any

from weir.event.json_text import dumps
from weir.event.types import Json
from weir.wire.adapter import Adapter, AnswerReader, Choice, LlmAnswer
from weir.wire.read import as_index, as_list, as_object, as_text, first_text, member, read_error, text_of
from weir.wire.usage import openai_usage


class _ChatReader(AnswerReader):
    paths = (("model", "model"), ("service_tier", "service_tier"), ("response_id", "id"))

    def __init__(self) -> None:
        super().__init__()
        #: The calls of tools, by the indexes of their choice and of their own.
        self._calls: dict[tuple[int, int], list[Json]] = {}

    def push(self, data: str) -> None:
        if data == "[DONE]":
            self.is_over = True
            return
        chunk = as_object(json.loads(data))
        known = {name: chunk[name] for name in ("usage", "service_tier") if chunk.get(name)}
        if self.body.get("id") is None:
            known |= {"id": chunk.get("id"), "model": chunk.get("model")}
        self.body |= known
        self.error = read_error(chunk.get("error")) or self.error
        for at, choice in enumerate(map(as_object, as_list(chunk.get("choices")))):
            self._add(as_index(choice.get("index", at)), choice)

    def read_usage(self) -> Json | None:
        return openai_usage(self.body.get("usage"), "prompt_tokens", "completion_tokens")

    def answer(self) -> LlmAnswer:
        is_finished = bool(self.choices) and all(choice.finish_reason for choice in self.choices.values())
        # OpenRouter says what a call cost.
        cost = member(self.body, "usage.cost")
        return super().answer()._replace(is_complete=self.is_over or is_finished, cost=cost)

    def _add(self, index: int, given: Json) -> None:
        """Adds a message, or a delta."""
        message = given.get("message")
        part = as_object(given.get("delta") if message is None else message)
        choice = self.choice(index)
        transcript = member(part, "audio.transcript")
        choice.add_text(first_text(text_of(part.get("content")), part.get("refusal"), transcript), _reasoning_of(part))
        choice.finish_reason = as_text(given.get("finish_reason")) or choice.finish_reason
        for at, call in enumerate(map(as_object, as_list(part.get("tool_calls")))):
            # The calls of a whole message have no index: each is one of its own.
            self._add_call(choice, (index, as_index(call.get("index")) if message is None else at), call)
        if part.get("function_call"):
            self._add_call(choice, (index, 0), {"function": part["function_call"]})

    def _add_call(self, choice: Choice, at: tuple[int, int], delta: Json) -> None:
        """Joins deltas. Some providers use the index 0 for all calls: a new id starts a new call."""
        function = as_object(delta.get("function") or delta.get("custom"))
        given: Any = function.get("arguments")
        given = function.get("input") if given is None else given
        call_id = as_text(delta.get("id")) or None
        calls = self._calls.setdefault(at, [])
        if not calls or (call_id is not None and calls[-1]["id"] not in (None, call_id)):
            calls.append({"id": None, "name": None, "arguments": ""})
            choice.calls = [call for key, known in sorted(self._calls.items()) if key[0] == at[0] for call in known]
        call = calls[-1]
        call["id"] = call_id or call["id"]
        call["name"] = as_text(function.get("name")) or call["name"]
        # Compatible providers may send the arguments as an object.
        call["arguments"] += given if isinstance(given, str) else "" if given is None else dumps(given)


def _reasoning_of(part: Json) -> str | None:
    """The name in DeepSeek, Qwen and vLLM, the one in OpenRouter and Groq, or the parts of Mistral."""
    thoughts = [text_of(member(item, "thinking")) or "" for item in as_list(part.get("content"))]
    return first_text(part.get("reasoning_content"), part.get("reasoning"), "".join(thoughts))


def _adapter(source: str, package: str, function: str, path: str, has_usage_option: bool) -> Adapter:
    return Adapter(source, package, function, re.compile(path), _ChatReader, has_usage_option=has_usage_option)


chat_completions = _adapter("openai", "openai", "chat.completions.create", r"/chat/completions$", True)

#: Mistral's APIs for chats, agents and code completion.
mistral_completions = _adapter("mistral", "mistralai", "chat.complete", r"/(chat|agents|fim)/completions$", False)
