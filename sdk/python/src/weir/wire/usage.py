"""Token counts in the fields of docs/api.md §2.6. Counts that the provider does not report are omitted."""

from __future__ import annotations

import math
from typing import Any

from weir.event.types import Json, drop_none
from weir.wire.read import as_object


def compose_usage(
    *,
    input: Any,
    output: Any,
    cache_read: Any = None,
    cache_write: Any = None,
    reasoning: Any = None,
    total: Any = None,
    input_parts: Json | None = None,
    output_parts: Json | None = None,
    web_searches: Any = None,
) -> Json | None:
    """``input`` and ``output`` are totals; the details are parts of them, with the names of docs/api.md §2.6."""
    given, answered, thought = _count(input), _count(output), _count(reasoning)
    read, write = _count(cache_read), _count(cache_write)
    if given is None and answered is None:
        return None
    usage: Json = {"inputTokens": given}
    details: Json = {}
    if given is not None and (read is not None or write is not None):
        details = {
            "uncachedTokens": max(0, given - (read or 0) - (write or 0)),
            "cacheReadTokens": read or 0,
            "cacheWriteTokens": write or 0,
        }
    usage["inputTokenDetails"] = {**details, **_positive(input_parts)} or None
    usage["outputTokens"] = answered
    thoughts: Json = {}
    if answered is not None and thought is not None:
        thoughts = {"reasoningTokens": thought, "responseTokens": max(0, answered - thought)}
    usage["outputTokenDetails"] = {**thoughts, **_positive(output_parts)} or None
    known = _count(total)
    usage["totalTokens"] = (given or 0) + (answered or 0) if known is None else known
    usage["webSearches"] = _count(web_searches) or None
    return drop_none(usage)


def openai_usage(usage: Any, input: str, output: str) -> Json | None:
    """The usage of OpenAI's APIs, whose counts have the same structure under different names."""
    counts = as_object(usage)
    details = as_object(counts.get(f"{input}_details"))
    cached = as_object(details.get("cached_tokens_details"))
    answered = as_object(counts.get(f"{output}_details"))
    return compose_usage(
        input=counts.get(input),
        cache_read=details.get("cached_tokens"),
        cache_write=details.get("cache_write_tokens"),
        output=counts.get(output),
        reasoning=answered.get("reasoning_tokens"),
        total=counts.get("total_tokens"),
        input_parts={
            "audioTokens": details.get("audio_tokens"),
            "imageTokens": details.get("image_tokens"),
            "cacheReadAudioTokens": cached.get("audio_tokens"),
            "cacheReadImageTokens": cached.get("image_tokens"),
            "cacheWriteHalfDayTokens": as_object(details.get("cache_write_tokens_details")).get("ttl_12h"),
        },
        output_parts={"audioTokens": answered.get("audio_tokens"), "imageTokens": answered.get("image_tokens")},
    )


def sum_known(*counts: Any) -> float | None:
    known = [count for count in map(_count, counts) if count is not None]
    return sum(known) if known else None


def _positive(parts: Json | None) -> Json:
    counts = {name: _count(value) for name, value in (parts or {}).items()}
    return {name: count for name, count in counts.items() if count is not None and count > 0}


def _count(value: Any) -> float | None:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return value if is_number and math.isfinite(value) else None
