"""OpenAI's Responses API."""

from __future__ import annotations

import json
import re

from weir.event.types import Json
from weir.wire.adapter import Adapter, AnswerReader, Choice, LlmAnswer
from weir.wire.read import as_index, as_list, as_object, as_text, first_text, member, read_error
from weir.wire.usage import openai_usage

_CALLS = {"function_call": "arguments", "custom_tool_call": "input"}


def _texts_of(item: Json) -> list[str]:
    parts = map(as_object, as_list(item.get("content"))) if item.get("type") == "message" else ()
    texts = [first_text(part.get("text"), part.get("refusal")) for part in parts]
    return [text for text in texts if text is not None]


def _reasoning_of(item: Json) -> list[str]:
    """The texts of the reasoning, if the model sends it; otherwise of its summary."""
    for name in ("content", "summary") if item.get("type") == "reasoning" else ():
        texts = [as_text(member(part, "text")) for part in as_list(item.get(name))]
        if known := [text for text in texts if text is not None]:
            return known
    return []


def _read_call(item: Json) -> Json:
    call_id = first_text(item.get("call_id"), item.get("id"))
    text = first_text(item.get("arguments"), item.get("input")) or ""
    return {"id": call_id, "name": as_text(item.get("name")), "arguments": text}


_ENDS = ("response.completed", "response.failed", "response.incomplete", "response.cancelled")
_DELTA = re.compile(r"text|refusal|arguments|input")


class _ResponsesReader(AnswerReader):
    """The last event has the whole response. If the stream ends before, it is built from items and deltas."""

    paths = (("model", "model"), ("service_tier", "service_tier"), ("response_id", "id"))

    def __init__(self) -> None:
        super().__init__()
        #: Items by their index, each with the text of its deltas.
        self._items: dict[int, tuple[Json, str]] = {}

    def push(self, data: str) -> None:
        if data == "[DONE]":
            return
        event = as_object(json.loads(data))
        kind = as_text(event.get("type"))
        if kind is None:
            # A whole response.
            self.body, self.is_over = event, event.get("status") not in (None, "in_progress", "queued")
            return
        if event.get("response"):
            self.body = as_object(event["response"])
        at = as_index(event.get("output_index"))
        item, text = self._items.get(at, ({}, ""))
        if kind in _ENDS:
            self.is_over = True
        elif kind == "error":
            self.error = read_error(as_object(event.get("error") or event))
        elif kind.startswith("response.output_item."):
            self._items[at] = (as_object(event.get("item")), text)
        elif kind.endswith(".delta") and _DELTA.search(kind):
            self._items[at] = (item, text + (as_text(event.get("delta")) or ""))

    def answer(self) -> LlmAnswer:
        built = [_complete(item, text) for _, (item, text) in sorted(self._items.items())]
        items = built if built and not self.is_over else [as_object(item) for item in as_list(self.body.get("output"))]
        choice = self.choices[0] = Choice()
        choice.response = "".join(text for item in items for text in _texts_of(item))
        choice.reasoning = "\n\n".join(text for item in items for text in _reasoning_of(item))
        choice.calls = [_read_call(item) for item in items if item.get("type") in _CALLS]
        choice.finish_reason = first_text(member(self.body, "incomplete_details.reason"), self.body.get("status"))
        self.error = self.error or read_error(self.body.get("error"))
        return super().answer()

    def read_usage(self) -> Json | None:
        return openai_usage(self.body.get("usage"), "input_tokens", "output_tokens")


def _complete(item: Json, text: str) -> Json:
    kind = item.get("type")
    if item.get("status") == "completed":
        return item
    if kind in _CALLS:
        return {**item, _CALLS[kind]: text}
    if kind == "reasoning":
        return {**item, "content": [{"text": text}]}
    # Items such as searches and remote tools: their deltas are not text of the response.
    if kind not in (None, "message"):
        return item
    return {"type": "message", "content": [{"type": "output_text", "text": text}]}


responses = Adapter("openai", "openai", "responses.create", re.compile(r"/responses$"), _ResponsesReader)
