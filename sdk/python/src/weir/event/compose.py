"""The text of an event."""

from __future__ import annotations

import json
from typing import Any

from weir.event.json_text import JsonText, json_text
from weir.event.types import Event


def compose_event(event: Event) -> str:
    """Serializes an event. Its payload, and the payload's ``input``, may have members of ``JsonText``.

    Raises:
        ValueError: when a value cannot be serialized.
    """
    head = {name: value for name, value in event.items() if name != "properties"}
    kind = event["type"]
    payload = event["properties"].get(kind)
    if not isinstance(payload, dict):
        return json_text(event)
    return f'{json_text(head)[:-1]},"properties":{{"{kind}":{_object_text(payload, 2)}}}}}'


def _object_text(members: dict[Any, Any], depth: int) -> str:
    texts = [f"{json.dumps(str(name))}:{_member_text(value, depth - 1)}" for name, value in members.items()]
    return "{" + ",".join(texts) + "}"


def _member_text(value: object, depth: int) -> str:
    if isinstance(value, JsonText):
        return value.text
    if depth > 0 and isinstance(value, dict):
        return _object_text(value, depth)
    return json_text(value)
