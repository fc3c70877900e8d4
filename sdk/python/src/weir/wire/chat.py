"""OpenAI's Chat Completions API, which many providers implement, Mistral among them."""

from __future__ import annotations

import json
import re
from typing import Any

from weir.event.types import Json
from weir.wire.adapter import Adapter, LlmAnswer, RequestParts, compose_request, read_error
from weir.wire.read import as_index, as_list, as_object, as_text, first_text, last_text, text_of, texts_of
from weir.wire.usage import openai_usage


def _read_parts(body: Json) -> RequestParts:
    messages = body.get("messages")
    prompt = last_text(messages, ("user",))
    return RequestParts(
        system="\n\n".join(texts_of(messages, ("system", "developer"))),
        # Mistral's API for code completion has a prompt instead of messages.
        prompt=as_text(body.get("prompt")) if prompt is None else prompt,
        tools=("tools", "functions"),
        messages="messages",
        format=body.get("response_format"),
    )


def _read_answer(text: str) -> LlmAnswer:
    body = as_object(json.loads(text))
    choices = [_Choice.of(as_object(choice)) for choice in as_list(body.get("choices"))]
    return _compose(body, choices)


def _compose(body: Json, choices: list[_Choice]) -> LlmAnswer:
    first = choices[0] if choices else _Choice()
    return LlmAnswer(
        model=as_text(body.get("model")),
        response=first.response,
        reasoning=first.reasoning,
        tool_calls=first.calls.list(),
        other_responses=[choice.response for choice in choices[1:]],
        usage=openai_usage(body.get("usage"), "prompt_tokens", "completion_tokens"),
        finish_reason=first.finish_reason,
        service_tier=as_text(body.get("service_tier")),
        # OpenRouter says what a call cost.
        cost=as_object(body.get("usage")).get("cost"),
        response_id=as_text(body.get("id")),
        error=read_error(as_object(body.get("error"))),
        is_complete=first.finish_reason is not None,
    )


class _Choice:
    """A choice, whole or of deltas."""

    def __init__(self) -> None:
        self.response = ""
        self.reasoning: str | None = None
        self.calls = _Calls()
        self.finish_reason: str | None = None

    @staticmethod
    def of(choice: Json) -> _Choice:
        whole = _Choice()
        # The calls of a whole message have no index: each is one of its own.
        message = as_object(choice.get("message"))
        calls = [{"index": at, **as_object(call)} for at, call in enumerate(as_list(message.get("tool_calls")))]
        whole.add({**message, "tool_calls": calls}, choice.get("finish_reason"))
        return whole

    def add(self, part: Json, finish_reason: Any) -> None:
        self.response += _text_of_part(part) or ""
        reasoning = _reasoning_of(part)
        if reasoning is not None:
            self.reasoning = (self.reasoning or "") + reasoning
        self.finish_reason = as_text(finish_reason) or self.finish_reason
        for call in as_list(part.get("tool_calls")):
            self.calls.add(as_object(call))
        if part.get("function_call"):
            self.calls.add({"index": 0, "function": part["function_call"]})


def _text_of_part(part: Json) -> str | None:
    """The text of a message or of a delta."""
    text = text_of(part.get("content"))
    return first_text(text, part.get("refusal"), as_object(part.get("audio")).get("transcript"))


def _reasoning_of(part: Json) -> str | None:
    """The name in DeepSeek, Qwen and vLLM, the one in OpenRouter and Groq, or the parts of Mistral."""
    thoughts = [text_of(as_object(item).get("thinking")) or "" for item in as_list(part.get("content"))]
    return first_text(part.get("reasoning_content"), part.get("reasoning"), "".join(thoughts) or None)


class _Calls:
    """Joins the deltas of tool calls. Some providers use the index 0 for all of them: a new id starts a new call."""

    def __init__(self) -> None:
        self._by_index: dict[int, list[Json]] = {}

    def add(self, delta: Json) -> None:
        function = as_object(delta.get("function") or delta.get("custom"))
        given = function.get("arguments")
        given = function.get("input") if given is None else given
        call_id = as_text(delta.get("id")) or None
        calls = self._by_index.setdefault(as_index(delta.get("index")), [])
        if not calls or (call_id is not None and calls[-1]["id"] not in (None, call_id)):
            calls.append({"id": None, "name": None, "arguments": ""})
        call = calls[-1]
        call["id"] = call_id or call["id"]
        call["name"] = as_text(function.get("name")) or call["name"]
        # Compatible providers may send the arguments as an object.
        call["arguments"] += given if isinstance(given, str) else "" if given is None else _dumps(given)

    def list(self) -> list[Json]:
        return [call for _, calls in sorted(self._by_index.items()) for call in calls]


class _ChatStream:
    """Collects the deltas of each choice."""

    def __init__(self) -> None:
        self._body: Json = {}
        self._is_done = False
        self._choices: dict[int, _Choice] = {}

    def push(self, data: str) -> None:
        if data == "[DONE]":
            self._is_done = True
            return
        chunk = as_object(json.loads(data))
        for name in ("usage", "error", "service_tier"):
            if chunk.get(name):
                self._body[name] = chunk[name]
        if self._body.get("id") is None:
            self._body.update(id=chunk.get("id"), model=chunk.get("model"))
        for choice in map(as_object, as_list(chunk.get("choices"))):
            kept = self._choices.setdefault(as_index(choice.get("index")), _Choice())
            kept.add(as_object(choice.get("delta")), choice.get("finish_reason"))

    def answer(self) -> LlmAnswer:
        choices = [choice for _, choice in sorted(self._choices.items())]
        is_finished = bool(choices) and all(choice.finish_reason for choice in choices)
        return _compose(self._body, choices)._replace(is_complete=self._is_done or is_finished)


def _dumps(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _adapter(source: str, package: str, function: str, path: str, has_usage_option: bool) -> Adapter:
    return Adapter(
        source=source,
        source_package=package,
        source_function=function,
        path=re.compile(path),
        has_usage_option=has_usage_option,
        read_request=lambda text, _: compose_request(text, _read_parts),
        read_answer=_read_answer,
        open_stream=_ChatStream,
    )


chat_completions = _adapter("openai", "openai", "chat.completions.create", r"/chat/completions$", True)

#: Mistral's APIs for chats, agents and code completion.
mistral_completions = _adapter("mistral", "mistralai", "chat.complete", r"/(chat|agents|fim)/completions$", False)
