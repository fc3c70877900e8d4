"""Anthropic's Messages API, also on the platforms of Google (Vertex AI) and Amazon (Bedrock)."""

from __future__ import annotations

import json
import re

from weir.event.types import Json, drop_none
from weir.wire.adapter import Adapter, AnswerReader, Choice, LlmAnswer
from weir.wire.read import (
    as_index,
    as_list,
    as_object,
    as_text,
    first_text,
    member,
    read_error,
    slice_elements,
    slice_member,
)
from weir.wire.usage import compose_usage, sum_known


class _Block:
    """A block of the content, whole or of deltas."""

    def __init__(self, block: Json) -> None:
        self.kind = block.get("type")
        self.text = ""
        self.arguments = ""
        self.call: Json = {"id": as_text(block.get("id")), "name": as_text(block.get("name"))}
        self.add(block)

    def add(self, delta: Json) -> None:
        self.text += first_text(delta.get("text"), delta.get("thinking")) or ""
        self.arguments += as_text(delta.get("partial_json")) or ""


class _MessagesReader(AnswerReader):
    """Collects the blocks of a message from their deltas."""

    paths = (
        *(("model", "model"), ("response_id", "id")),
        *(("region", "usage.inference_geo"), ("service_tier", "usage.service_tier")),
    )

    def __init__(self) -> None:
        super().__init__()
        self._blocks: dict[int, _Block] = {}

    def push(self, data: str) -> None:
        event = as_object(json.loads(data))
        kind, at = event.get("type"), as_index(event.get("index"))
        if kind == "message_start":
            self.body = as_object(event.get("message"))
        elif kind == "content_block_start":
            self._blocks[at] = _Block(as_object(event.get("content_block")))
        elif kind == "content_block_delta":
            if at in self._blocks:
                self._blocks[at].add(as_object(event.get("delta")))
        elif kind == "message_delta":
            self._merge(as_object(event.get("delta")), as_object(event.get("usage")))
        elif kind == "message_stop":
            self.is_over = True
        elif kind == "error":
            self.error = read_error(event.get("error")) or {"code": "error"}
        elif kind in (None, "message"):
            self._read_whole(event, data)

    def answer(self) -> LlmAnswer:
        blocks = [block for _, block in sorted(self._blocks.items())]
        choice = self.choices[0] = Choice()
        choice.response = "".join(block.text for block in blocks if block.kind == "text")
        choice.reasoning = "\n\n".join(block.text for block in blocks if block.kind == "thinking" and block.text)
        calls = [block for block in blocks if block.kind == "tool_use"]
        choice.calls = [{**block.call, "arguments": block.arguments or "{}"} for block in calls]
        choice.finish_reason = as_text(self.body.get("stop_reason"))
        fallbacks = [as_text(one.get("model")) for one in self._iterations("fallback_message")]
        advice = [(as_text(one.get("model")), _read_usage(one)) for one in self._iterations("advisor_message")]
        answer = super().answer()
        return answer._replace(
            model=next(reversed(fallbacks), None) or answer.model,
            service_tier="fast" if member(self.body, "usage.speed") == "fast" else answer.service_tier,
            inner_calls=[drop_none({"model": model, "usage": usage}) for model, usage in advice],
        )

    def read_usage(self) -> Json | None:
        """With the tokens of compactions, which the counts of the message do not include."""
        usage = as_object(self.body.get("usage"))
        counted = [usage, *self._iterations("compaction")]
        sums: Json = {name: sum_known(*(one.get(name) for one in counted)) for name in _COUNTED}
        hour = sum_known(*(member(one, _HOUR) for one in counted))
        return _read_usage({**usage, **sums, "cache_creation": {"ephemeral_1h_input_tokens": hour}})

    def _iterations(self, kind: str) -> list[Json]:
        iterations = map(as_object, as_list(member(self.body, "usage.iterations")))
        return [one for one in iterations if one.get("type") == kind]

    def _read_whole(self, message: Json, text: str) -> None:
        self.body, self.is_over = message, True
        for at, raw in enumerate(slice_elements(slice_member(text, "content"))):
            block = self._blocks[at] = _Block(as_object(json.loads(raw)))
            # The model's JSON text: serializing it again would change its numbers.
            block.arguments = slice_member(raw, "input")

    def _merge(self, delta: Json, counts: Json) -> None:
        """The counts of ``message_delta`` are running totals."""
        known = {name: count for name, count in counts.items() if count is not None}
        self.body["usage"] = {**as_object(self.body.get("usage")), **known}
        self.body["stop_reason"] = delta.get("stop_reason") or self.body.get("stop_reason")


_COUNTED = ("input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
_HOUR = "cache_creation.ephemeral_1h_input_tokens"


def _read_usage(usage: Json) -> Json | None:
    read, write = usage.get("cache_read_input_tokens"), usage.get("cache_creation_input_tokens")
    uncached = usage.get("input_tokens")
    return compose_usage(
        # Anthropic's input tokens do not include cached tokens.
        input=None if uncached is None else sum_known(uncached, read, write),
        cache_read=read,
        cache_write=write,
        output=usage.get("output_tokens"),
        reasoning=member(usage, "output_tokens_details.thinking_tokens"),
        input_parts={"cacheWriteHourTokens": member(usage, _HOUR)},
        web_searches=member(usage, "server_tool_use.web_search_requests"),
    )


#: Paths of OpenAI's threads also end in /messages. On the platforms of Google and Amazon the path has the model.
_PATH = re.compile(
    r"^(?!.*/threads/).*/messages$"
    r"|/publishers/anthropic/models/(?!count-tokens:)[^/]+:(raw|streamRaw)Predict$"
    r"|/model/.*(anthropic|application-inference-profile).*/invoke(-with-response-stream)?$"
)

messages = Adapter("anthropic", "anthropic", "messages.create", _PATH, _MessagesReader)
