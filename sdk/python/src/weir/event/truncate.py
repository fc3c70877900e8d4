"""Shortens an event that is larger than a request."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from weir.event.json_text import dumps, encode
from weir.limits import EVENT_BYTES_MAX

#: Fields that docs/api.md §2 types as strings: their replacement must be a string, too.
_STRING_FIELDS = frozenset(("system", "prompt", "response", "message", "mode", "model"))

#: Replacing a shorter string would not make the event shorter.
_SHORTEST = 256


def truncate_event(text: str, bytes_max: int = EVENT_BYTES_MAX) -> bytes | None:
    """Replaces the largest strings by ``{truncated, bytes, sha256}``. None if the event is still too large."""
    import hashlib

    event = json.loads(text)
    # The identifying fields stay: without them Weir would reject the event.
    places = list(_strings_of(event.get("properties"), is_string=False))
    for part in ("status", "additionalProperties"):
        places += _strings_of(event.get(part), is_string=True)
    places.sort(key=lambda place: len(place[2]))
    encoded = encode(text)
    while len(encoded) > bytes_max:
        if not places or len(places[-1][2]) < _SHORTEST:
            return None
        holder, key, largest, is_string = places.pop()
        content = encode(largest)
        stub = {"truncated": True, "bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
        holder[key] = dumps(stub) if is_string else stub
        encoded = encode(dumps(event))
    return encoded


def _strings_of(value: Any, is_string: bool) -> Iterator[tuple[Any, Any, str, bool]]:
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, member in members:
        if isinstance(member, str):
            yield value, key, member, is_string or key in _STRING_FIELDS
        else:
            yield from _strings_of(member, is_string)
