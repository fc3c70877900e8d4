"""What of an event leaves the program: the mask, metadata, and the share of traces that is kept."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any

from weir.event.complete import dimensions_of
from weir.event.json_text import compose_event, json_text
from weir.event.types import Event, Json, drop_none

#: Changes an event before it leaves the application; ``None`` drops it.
Mask = Callable[[Event], "Event | None"]


def mask_event(event: Json, mask: Mask) -> tuple[Json | None, bool]:
    """Runs the application's mask on a copy of the event. It fails closed.

    Returns:
        the event, or None when the mask dropped it, and whether the mask failed: it raised, or returned no
        event. Then no content, no identifier and no dimension is kept.
    """
    try:
        masked: Any = mask(json.loads(compose_event(event)))
        if masked is None:
            return None, False
        # A copy: the application may keep the event and change it.
        plain = json.loads(json_text(masked))
        kind = event["type"]
        if plain.get("type") == kind and isinstance(plain["properties"][kind], dict):
            dimensions = dimensions_of(plain.get("additionalProperties") or {})
            rest = {name: value for name, value in plain.items() if name != "id"}
            return {"id": event["id"], **rest, "additionalProperties": dimensions}, False
    except Exception:
        pass
    return {**to_metadata(event), "context": {}, "additionalProperties": {}}, True


def to_metadata(event: Json) -> Json:
    """The event without prompts, responses, arguments, results and error messages."""
    error = event["status"].get("error")
    status = drop_none({"state": event["status"].get("state"), "error": error and _pick(error, ("code", "httpStatus"))})
    return {**event, "status": status, "properties": _metadata_of(event["properties"])}


_LLM_FIELDS = (
    *("model", "usage", "serviceTier", "region", "cost"),
    *("responseId", "requestId", "timeToFirstChunkMs", "retries"),
)


def _metadata_of(properties: Json) -> Json:
    if "tool" in properties:
        return {"tool": _pick(properties["tool"], ("name", "callId"))}
    llm = properties.get("llm") or {}
    output = llm.get("output") or {}
    calls = output.get("toolCalls")
    kept = [_pick(call, ("id", "name")) for call in calls] if isinstance(calls, list) else None
    shown = {"mode": output.get("mode"), "toolCalls": kept, "finishReason": output.get("finishReason")}
    return {"llm": {**_pick(llm, _LLM_FIELDS), "output": drop_none(shown)}}


def _pick(source: Any, fields: Iterable[str]) -> Json:
    return {field: source[field] for field in fields if field in source} if isinstance(source, dict) else {}


def is_sampled(trace_id: str, rate: float) -> bool:
    """Depends only on the id and the rate, so that all processes, in all languages, keep or drop a trace whole."""
    return rate >= 1 or _hash(trace_id) / 2**32 < rate


def _hash(text: str) -> int:
    """FNV-1a, 32 bits, with the final mix of MurmurHash3: FNV alone leaves the high bits of similar texts alike."""
    value = 0x811C9DC5
    for character in text:
        value = ((value ^ ord(character)) * 0x01000193) & 0xFFFFFFFF
    value = ((value ^ (value >> 16)) * 0x85EBCA6B) & 0xFFFFFFFF
    value = ((value ^ (value >> 13)) * 0xC2B2AE35) & 0xFFFFFFFF
    return value ^ (value >> 16)
