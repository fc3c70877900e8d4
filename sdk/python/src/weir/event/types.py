"""An event as Weir stores it (docs/api.md §2.2), and the parts that the package passes around."""

from __future__ import annotations

import os
import re
from typing import Any, Literal, TypedDict

#: A JSON object of unknown shape.
Json = dict[str, Any]


class EventError(TypedDict, total=False):
    """``status.error`` of docs/api.md §2.3."""

    code: str | int | float
    httpStatus: int
    message: str


class Event(TypedDict, total=False):
    """An event of docs/api.md §2.2. ``record`` fills in the fields that are missing."""

    id: str
    type: Literal["llm", "tool"]
    traceId: str
    startTimeMs: float
    endTimeMs: float
    durationMs: float
    status: Json
    instrumentation: Json
    context: dict[str, str]
    additionalProperties: Json
    properties: Json


_UUID_V4 = re.compile(r"[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}", re.IGNORECASE | re.ASCII)


def is_uuid(text: object) -> bool:
    """Whether Weir accepts this value as an id."""
    return isinstance(text, str) and _UUID_V4.fullmatch(text) is not None


def uuid_of(digits: str) -> str:
    """A UUIDv4 from 32 hexadecimal digits: the same for all processes that know them."""
    variant = "89ab"[int(digits[16], 16) & 3]
    return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-{variant}{digits[17:20]}-{digits[20:]}"


def create_uuid() -> str:
    """A random UUIDv4, from the operating system: children of a fork get others than their parent."""
    return uuid_of(os.urandom(16).hex())


def drop_none(members: Json) -> Json:
    return {name: value for name, value in members.items() if value is not None}
