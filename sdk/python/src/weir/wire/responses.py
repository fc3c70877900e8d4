"""OpenAI's Responses API."""

from __future__ import annotations

import json
import re

from weir.event.types import Json
from weir.wire.adapter import Adapter, LlmAnswer, RequestParts, compose_request, read_error
from weir.wire.read import as_index, as_list, as_object, as_text, first_text, last_text, texts_of
from weir.wire.usage import openai_usage


def _read_parts(body: Json) -> RequestParts:
    given = body.get("input")
    system = [as_text(body.get("instructions")), *texts_of(given, ("system", "developer"))]
    return RequestParts(
        system="\n\n".join(text for text in system if text is not None),
        prompt=first_text(given, last_text(given, ("user",))),
        messages="input",
        format=as_object(body.get("text")).get("format"),
    )


def read_response(body: Json) -> LlmAnswer:
    items = [as_object(item) for item in as_list(body.get("output"))]
    status = body.get("status")
    reason = as_object(body.get("incomplete_details")).get("reason")
    reasoning = [text for item in items for text in _reasoning_of(item)]
    return LlmAnswer(
        model=as_text(body.get("model")),
        response="".join(text for item in items for text in _texts_of(item)),
        reasoning="\n\n".join(reasoning) or None,
        tool_calls=[call for item in items for call in _calls_of(item)],
        usage=openai_usage(body.get("usage"), "input_tokens", "output_tokens"),
        finish_reason=first_text(reason, status),
        service_tier=as_text(body.get("service_tier")),
        response_id=as_text(body.get("id")),
        error=read_error(as_object(body.get("error"))),
        is_complete=status not in (None, "in_progress", "queued"),
    )


def _texts_of(item: Json) -> list[str]:
    if item.get("type") != "message":
        return []
    parts = [as_object(part) for part in as_list(item.get("content"))]
    texts = [first_text(part.get("text"), part.get("refusal")) for part in parts]
    return [text for text in texts if text is not None]


def _reasoning_of(item: Json) -> list[str]:
    """The texts of the reasoning, if the model sends it; otherwise of its summary."""
    if item.get("type") != "reasoning":
        return []
    for name in ("content", "summary"):
        texts = [as_text(as_object(part).get("text")) for part in as_list(item.get(name))]
        if any(text is not None for text in texts):
            return [text for text in texts if text is not None]
    return []


def _calls_of(item: Json) -> list[Json]:
    if item.get("type") not in ("function_call", "custom_tool_call"):
        return []
    return [
        {
            "id": first_text(item.get("call_id"), item.get("id")),
            "name": as_text(item.get("name")),
            "arguments": first_text(item.get("arguments"), item.get("input")) or "",
        }
    ]


_ENDS = ("response.completed", "response.failed", "response.incomplete", "response.cancelled")
_DELTA = re.compile(r"text|refusal|arguments|input")


class _ResponsesStream:
    """The last event has the whole response. If the stream ends before, it is built from items and deltas."""

    def __init__(self) -> None:
        self._response: Json = {}
        self._error: Json | None = None
        self._is_over = False
        #: Items by their index, each with the text of its deltas.
        self._items: dict[int, tuple[Json, str]] = {}

    def push(self, data: str) -> None:
        if data == "[DONE]":
            return
        event = as_object(json.loads(data))
        kind = as_text(event.get("type")) or ""
        if event.get("response"):
            self._response = as_object(event["response"])
        at = as_index(event.get("output_index"))
        item, text = self._items.get(at, ({}, ""))
        if kind in _ENDS:
            self._is_over = True
        elif kind == "error":
            self._error = as_object(event.get("error") or event)
        elif kind.startswith("response.output_item."):
            self._items[at] = (as_object(event.get("item")), text)
        elif kind.endswith(".delta") and _DELTA.search(kind):
            self._items[at] = (item, text + (as_text(event.get("delta")) or ""))

    def answer(self) -> LlmAnswer:
        output = [_complete(item, text) for _, (item, text) in sorted(self._items.items())]
        answer = read_response(self._response if self._is_over else {**self._response, "output": output})
        error = answer.error if self._error is None else read_error(self._error)
        return answer._replace(error=error, is_complete=self._is_over)


def _complete(item: Json, text: str) -> Json:
    kind = item.get("type")
    if item.get("status") == "completed":
        return item
    if kind == "function_call":
        return {**item, "arguments": text}
    if kind == "custom_tool_call":
        return {**item, "input": text}
    if kind == "reasoning":
        return {**item, "content": [{"text": text}]}
    # Items such as searches and remote tools: their deltas are not text of the response.
    if kind not in (None, "message"):
        return item
    return {"type": "message", "content": [{"type": "output_text", "text": text}]}


responses = Adapter(
    source="openai",
    source_package="openai",
    source_function="responses.create",
    path=re.compile(r"/responses$"),
    read_request=lambda text, _: compose_request(text, _read_parts),
    read_answer=lambda text: read_response(as_object(json.loads(text))),
    open_stream=_ResponsesStream,
)
