"""Token counts in the fields of docs/api.md §2.6. Counts that the provider does not report are omitted."""

from __future__ import annotations

import math
from typing import Any

from weir.event.types import Json, drop_none
from weir.wire.read import member


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
    known_input, known_output = _positive(input_parts), _positive(output_parts)
    if given is not None and (read is not None or write is not None):
        known_input |= {
            "uncachedTokens": max(0, given - (read or 0) - (write or 0)),
            "cacheReadTokens": read or 0,
            "cacheWriteTokens": write or 0,
        }
    if answered is not None and thought is not None:
        known_output |= {"reasoningTokens": thought, "responseTokens": max(0, answered - thought)}
    sum_of_both = (given or 0) + (answered or 0)
    return drop_none(
        {
            "inputTokens": given,
            "inputTokenDetails": known_input or None,
            "outputTokens": answered,
            "outputTokenDetails": known_output or None,
            "totalTokens": sum_of_both if _count(total) is None else total,
            "webSearches": _count(web_searches) or None,
        }
    )


def openai_usage(usage: Any, input: str, output: str) -> Json | None:
    """The usage of OpenAI's APIs, whose counts have the same structure under different names."""
    given, answered = member(usage, f"{input}_details"), member(usage, f"{output}_details")
    return compose_usage(
        input=member(usage, input),
        cache_read=member(given, "cached_tokens"),
        cache_write=member(given, "cache_write_tokens"),
        output=member(usage, output),
        reasoning=member(answered, "reasoning_tokens"),
        total=member(usage, "total_tokens"),
        input_parts={
            "audioTokens": member(given, "audio_tokens"),
            "imageTokens": member(given, "image_tokens"),
            "cacheReadAudioTokens": member(given, "cached_tokens_details.audio_tokens"),
            "cacheReadImageTokens": member(given, "cached_tokens_details.image_tokens"),
            "cacheWriteHalfDayTokens": member(given, "cache_write_tokens_details.ttl_12h"),
        },
        output_parts={"audioTokens": member(answered, "audio_tokens"), "imageTokens": member(answered, "image_tokens")},
    )


def sum_known(*counts: Any) -> float | None:
    known = [count for count in map(_count, counts) if count is not None]
    return sum(known) if known else None


def _positive(parts: Json | None) -> Json:
    return {name: value for name, value in (parts or {}).items() if (_count(value) or 0) > 0}


def _count(value: Any) -> float | None:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return value if is_number and math.isfinite(value) else None
