"""Extracts members and elements from JSON text, as text: numbers keep all digits, and nothing is serialized again.

The text must be valid JSON; the callers have parsed it.
"""

from __future__ import annotations

import re
from json import JSONDecoder

_space = re.compile(r"[ \t\n\r]*")
_decode = JSONDecoder(strict=False).raw_decode


def slice_members(text: str) -> dict[str, str]:
    """The texts of an object's members, by name."""
    members: dict[str, str] = {}
    at = _skip(text, 0)
    if text[at : at + 1] != "{":
        return members
    at = _skip(text, at + 1)
    while text[at : at + 1] == '"':
        name, at = _decode(text, at)
        start = _skip(text, _skip(text, at) + 1)
        _, end = _decode(text, start)
        members[name] = text[start:end]
        at = _skip(text, _skip(text, end) + 1)
    return members


def slice_elements(text: str) -> list[str]:
    """The texts of an array's elements."""
    elements: list[str] = []
    at = _skip(text, 0)
    if text[at : at + 1] != "[":
        return elements
    at = _skip(text, at + 1)
    while at < len(text) and text[at] != "]":
        _, end = _decode(text, at)
        elements.append(text[at:end])
        at = _skip(text, end)
        if text[at : at + 1] == ",":
            at = _skip(text, at + 1)
    return elements


def _skip(text: str, at: int) -> int:
    match = _space.match(text, at)
    return match.end() if match else at
