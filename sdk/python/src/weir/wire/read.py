"""Reads JSON of unknown shape."""

from __future__ import annotations

from typing import Any

from weir.event.types import Json


def as_object(value: Any) -> Json:
    return value if isinstance(value, dict) else {}


def as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def as_text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def as_index(value: Any) -> int:
    return value if isinstance(value, int) else 0


def first_text(*values: Any) -> str | None:
    """The first of the values that is a text."""
    return next((value for value in values if isinstance(value, str)), None)


def text_of(content: Any) -> str | None:
    """The text of a message's content, which is a string or a list of parts."""
    if isinstance(content, str):
        return content
    parts = map(as_object, as_list(content))
    texts = [part["text"] for part in parts if part.get("type") in _TEXTS and isinstance(part.get("text"), str)]
    return "\n".join(texts) if texts else None


_TEXTS = ("text", "input_text", "output_text")


def texts_of(messages: Any, roles: tuple[str, ...]) -> list[str]:
    """The texts of the messages with one of these roles."""
    contents = [text_of(item.get("content")) for item in map(as_object, as_list(messages)) if item.get("role") in roles]
    return [text for text in contents if text is not None]


def last_text(messages: Any, roles: tuple[str, ...]) -> str | None:
    return next(reversed(texts_of(messages, roles)), None)
