"""Reads JSON of unknown shape, as values and as text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from json import JSONDecoder
from typing import Any
from urllib.parse import unquote

from weir.event.errors import as_code
from weir.event.types import EventError, Json, drop_none


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


def member(value: Any, path: str) -> Any:
    """The member at a path such as ``usage.cost``; None where there is none."""
    for name in path.split("."):
        value = value.get(name) if isinstance(value, dict) else None
    return value


_TEXTS = ("text", "input_text", "output_text")


def text_of(content: Any) -> str | None:
    """The text of a message's content, which is a string or a list of parts."""
    if isinstance(content, str):
        return content
    parts = map(as_object, as_list(content))
    texts = [part["text"] for part in parts if part.get("type") in _TEXTS and isinstance(part.get("text"), str)]
    return "\n".join(texts) if texts else None


def texts_of(messages: Any, roles: tuple[str, ...]) -> list[str]:
    """The texts of the messages with one of these roles."""
    contents = [text_of(item.get("content")) for item in map(as_object, as_list(messages)) if item.get("role") in roles]
    return [text for text in contents if text is not None]


def last_text(messages: Any) -> str | None:
    """The text of the user's last message."""
    return next(reversed(texts_of(messages, ("user",))), None)


def model_of(path: str) -> str | None:
    """The model in a path such as ``/models/gemini-3-pro:generateContent`` or ``/model/anthropic.claude/invoke``."""
    found = re.search(r"/model/(.+)/invoke|/([^/]+):\w+$", path)
    return unquote(found[1] or found[2]) if found else None


def read_error(given: Any, status: int | None = None) -> EventError | None:
    """The ``error`` of a provider: an object or a text. None when it says nothing.

    The code is ``code`` if it is a text, else Google's ``status``, else the number, else ``type``.
    """
    error = as_object(given)
    code, kind = as_code(error.get("code")), as_code(error.get("type"))
    codes = (as_text(code), as_text(error.get("status")), code, kind)
    message = first_text(error.get("message"), given)
    known: Any = drop_none({"code": next((known for known in codes if known is not None), None), "message": message})
    if status is not None:
        known = {"message": "", **known, "httpStatus": status}
    described: EventError = known
    return described or None


_space = re.compile(r"[ \t\n\r]*")
_decode = JSONDecoder(strict=False).raw_decode


def slice_members(text: str) -> dict[str, str]:
    """The texts of an object's members, by name: numbers keep all digits, and nothing is serialized again.

    The text must be valid JSON; the callers have parsed it.
    """
    return dict(_slices(text, "{"))


def slice_elements(text: str) -> list[str]:
    """The texts of an array's elements, by the rules of ``slice_members``."""
    return [element for _, element in _slices(text, "[")]


def _slices(text: str, bracket: str) -> Iterator[tuple[str, str]]:
    """Names and texts of what an object or an array has; elements have no names."""
    at = _skip(text, 0)
    more = bracket
    while text[at : at + 1] == more:
        name, start = "", _skip(text, at + 1)
        if text[start : start + 1] in ("]", "}"):
            return
        if bracket == "{":
            name, start = _decode(text, start)
            start = _skip(text, _skip(text, start) + 1)
        _, end = _decode(text, start)
        yield name, text[start:end]
        at, more = _skip(text, end), ","


def slice_member(text: str, path: str) -> str:
    """The text of the member at a path; empty where there is none."""
    for name in path.split("."):
        text = slice_members(text).get(name, "")
    return text


def _skip(text: str, at: int) -> int:
    match = _space.match(text, at)
    return match.end() if match else at
