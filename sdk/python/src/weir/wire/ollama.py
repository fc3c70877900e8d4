"""Ollama's APIs for chats and completions. Their streams are newline-delimited JSON."""

from __future__ import annotations

import json
import re

from weir.event.types import Json
from weir.wire.adapter import Adapter, LlmAnswer, RequestParts, compose_request
from weir.wire.json_slice import slice_elements, slice_members
from weir.wire.read import as_list, as_object, as_text, first_text, last_text, texts_of
from weir.wire.sse import LineParser
from weir.wire.usage import compose_usage


def _read_parts(body: Json) -> RequestParts:
    messages = body.get("messages")
    return RequestParts(
        system=first_text(body.get("system"), "\n\n".join(texts_of(messages, ("system",)))),
        prompt=first_text(body.get("prompt"), last_text(messages, ("user",))),
        messages="messages",
        # `json`, or a schema.
        format={"type": "json"} if body.get("format") else None,
    )


class _OllamaStream:
    """Joins the lines of an answer. The last one has the counts."""

    def __init__(self) -> None:
        self._last: Json = {}
        self._response = self._reasoning = ""
        self._error: object = None
        self._calls: list[Json] = []

    def push(self, data: str) -> None:
        body = self._last = as_object(json.loads(data))
        message = as_object(body.get("message"))
        self._error = self._error or body.get("error")
        self._response += first_text(message.get("content"), body.get("response")) or ""
        self._reasoning += first_text(message.get("thinking"), body.get("thinking")) or ""
        if as_list(message.get("tool_calls")):
            self._calls += _read_calls(data)

    def answer(self) -> LlmAnswer:
        last = self._last
        message = first_text(self._error, as_object(self._error).get("message"))
        return LlmAnswer(
            model=as_text(last.get("model")),
            response=self._response,
            reasoning=self._reasoning or None,
            tool_calls=self._calls,
            usage=compose_usage(input=last.get("prompt_eval_count"), output=last.get("eval_count")),
            finish_reason=as_text(last.get("done_reason")),
            error=None if message is None else {"message": message},
            is_complete=last.get("done") is True,
        )


def _read_calls(line: str) -> list[Json]:
    """The arguments keep their JSON text: serializing them again would change their numbers."""
    message = slice_members(line).get("message", "")
    calls = []
    for raw in slice_elements(slice_members(message).get("tool_calls", "")):
        call, members = as_object(json.loads(raw)), slice_members(slice_members(raw).get("function", ""))
        name = as_text(as_object(call.get("function")).get("name"))
        calls.append({"id": as_text(call.get("id")), "name": name, "arguments": members.get("arguments", "{}")})
    return calls


def _read_answer(text: str) -> LlmAnswer:
    stream = _OllamaStream()
    stream.push(text)
    return stream.answer()


def _adapter(name: str) -> Adapter:
    return Adapter(
        source="ollama",
        source_package="ollama",
        source_function=name,
        path=re.compile(rf"/api/{name}$"),
        read_request=lambda text, _: compose_request(text, _read_parts),
        read_answer=_read_answer,
        open_stream=_OllamaStream,
        parser=LineParser,
    )


ollama_chat, ollama_generate = _adapter("chat"), _adapter("generate")
