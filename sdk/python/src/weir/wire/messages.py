"""Anthropic's Messages API."""

from __future__ import annotations

import json
import re
from typing import Any

from weir.event.types import EventError, Json, drop_none
from weir.wire.adapter import Adapter, LlmAnswer, RequestParts, compose_request
from weir.wire.json_slice import slice_elements, slice_members
from weir.wire.read import as_index, as_list, as_object, as_text, first_text, last_text, text_of
from weir.wire.usage import compose_usage, sum_known


def _read_parts(body: Json) -> RequestParts:
    return RequestParts(
        system=text_of(body.get("system")),
        prompt=last_text(body.get("messages"), ("user",)),
        messages="messages",
        format=body.get("output_format") or as_object(body.get("output_config")).get("format"),
    )


def _read_answer(text: str) -> LlmAnswer:
    blocks = []
    for raw in slice_elements(slice_members(text).get("content", "")):
        block = _Block(as_object(json.loads(raw)))
        if block.kind == "tool_use":
            # The model's JSON text: serializing it again would change its numbers.
            block.arguments = slice_members(raw).get("input", "{}")
        blocks.append(block)
    return _compose(as_object(json.loads(text)), blocks, is_complete=True)


class _Block:
    """A block of the content, whole or of deltas."""

    def __init__(self, block: Json) -> None:
        self.kind = block.get("type")
        self.text = first_text(block.get("text"), block.get("thinking")) or ""
        self.call: Json = {"id": as_text(block.get("id")), "name": as_text(block.get("name"))}
        self.arguments = ""


def _compose(message: Json, blocks: list[_Block], is_complete: bool) -> LlmAnswer:
    sent = as_object(message.get("usage"))
    iterations = [as_object(one) for one in as_list(sent.get("iterations"))]
    usage = _with_compactions(sent, [one for one in iterations if one.get("type") == "compaction"])
    fallbacks = [as_text(one.get("model")) for one in iterations if one.get("type") == "fallback_message"]
    return LlmAnswer(
        model=next(reversed(fallbacks), None) or as_text(message.get("model")),
        response="".join(block.text for block in blocks if block.kind == "text"),
        reasoning="\n\n".join(block.text for block in blocks if block.kind == "thinking" and block.text) or None,
        tool_calls=[{**block.call, "arguments": block.arguments} for block in blocks if block.kind == "tool_use"],
        usage=_read_usage(usage),
        inner_calls=[
            drop_none({"model": as_text(one.get("model")), "usage": _read_usage(one)})
            for one in iterations
            if one.get("type") == "advisor_message"
        ],
        service_tier="fast" if usage.get("speed") == "fast" else as_text(usage.get("service_tier")),
        region=as_text(usage.get("inference_geo")),
        finish_reason=as_text(message.get("stop_reason")),
        response_id=as_text(message.get("id")),
        is_complete=is_complete,
    )


def _read_usage(usage: Json) -> Json | None:
    read, write = usage.get("cache_read_input_tokens"), usage.get("cache_creation_input_tokens")
    uncached = usage.get("input_tokens")
    return compose_usage(
        # Anthropic's input tokens do not include cached tokens.
        input=None if uncached is None else sum_known(uncached, read, write),
        cache_read=read,
        cache_write=write,
        output=usage.get("output_tokens"),
        reasoning=as_object(usage.get("output_tokens_details")).get("thinking_tokens"),
        input_parts={"cacheWriteHourTokens": _hour_tokens(usage)},
        web_searches=as_object(usage.get("server_tool_use")).get("web_search_requests"),
    )


def _hour_tokens(usage: Json) -> Any:
    return as_object(usage.get("cache_creation")).get("ephemeral_1h_input_tokens")


_COUNTED = ("input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")


def _with_compactions(usage: Json, compactions: list[Json]) -> Json:
    """Adds the tokens of compactions, which the counts of the message do not include."""
    if not compactions:
        return usage
    counted = [usage, *compactions]
    hour = sum_known(*map(_hour_tokens, counted))
    sums = {name: sum_known(*(one.get(name) for one in counted)) for name in _COUNTED}
    return {**usage, **sums, "cache_creation": {"ephemeral_1h_input_tokens": hour}}


class _MessageStream:
    """Collects the blocks of a message from their deltas."""

    def __init__(self) -> None:
        self._message: Json = {}
        self._error: EventError | None = None
        self._is_over = False
        self._blocks: dict[int, _Block] = {}

    def push(self, data: str) -> None:
        event = as_object(json.loads(data))
        kind = event.get("type")
        if kind == "message_start":
            self._message = as_object(event.get("message"))
        elif kind == "content_block_start":
            self._blocks[as_index(event.get("index"))] = _Block(as_object(event.get("content_block")))
        elif kind == "content_block_delta":
            block = self._blocks.get(as_index(event.get("index")))
            if block is not None:
                _add_delta(block, as_object(event.get("delta")))
        elif kind == "message_delta":
            self._merge(as_object(event.get("delta")), as_object(event.get("usage")))
        elif kind == "message_stop":
            self._is_over = True
        elif kind == "error":
            error = as_object(event.get("error"))
            self._error = {
                "code": as_text(error.get("type")) or "error",
                "message": as_text(error.get("message")) or "",
            }

    def answer(self) -> LlmAnswer:
        blocks = [block for _, block in sorted(self._blocks.items())]
        for block in blocks:
            block.arguments = block.arguments or "{}"
        return _compose(self._message, blocks, self._is_over)._replace(error=self._error)

    def _merge(self, delta: Json, counts: Json) -> None:
        """The counts of ``message_delta`` are running totals."""
        known = {name: count for name, count in counts.items() if count is not None}
        self._message["usage"] = {**as_object(self._message.get("usage")), **known}
        self._message["stop_reason"] = delta.get("stop_reason") or self._message.get("stop_reason")


def _add_delta(block: _Block, delta: Json) -> None:
    block.text += first_text(delta.get("text"), delta.get("thinking")) or ""
    block.arguments += as_text(delta.get("partial_json")) or ""


messages = Adapter(
    source="anthropic",
    source_package="anthropic",
    source_function="messages.create",
    # Paths of OpenAI's threads also end in /messages.
    path=re.compile(r"^(?!.*/threads/).*/messages$"),
    read_request=lambda text, _: compose_request(text, _read_parts),
    read_answer=_read_answer,
    open_stream=_MessageStream,
)
