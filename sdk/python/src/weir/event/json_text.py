"""JSON text of values of the application, which are serialized without running any code of theirs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from weir.event.types import Json
from weir.limits import CONVERTED_OBJECTS_MAX, JSON_DEPTH_MAX


class JsonText:
    """JSON text that is inserted into an event unchanged: numbers keep all digits."""

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        # Files of the spool hold one event per line; between tokens a space means the same.
        self.text = text.replace("\n", " ").replace("\r", " ") if "\n" in text or "\r" in text else text

    @staticmethod
    def of(value: object) -> JsonText:
        """The value as it is now: the application may change it later."""
        try:
            return JsonText(json_text(value))
        except Exception:
            return JsonText('"[Unserializable]"')


def json_text(value: object) -> str:
    """Serializes a value. Objects other than JSON's are converted (``_Converter``), within a bound.

    Raises:
        ValueError: when even that fails.
    """
    try:
        return dumps(value, _Converter().convert)
    except (ValueError, TypeError, RecursionError, RuntimeError, OverflowError):
        # A cycle, NaN, a key that is no text, or a container that another thread changes.
        try:
            return dumps(_Converter().plain(value, ()))
        except (TypeError, RecursionError, RuntimeError, OverflowError) as error:
            raise ValueError("the value cannot be serialized") from error


def compose_event(event: Json) -> str:
    """Serializes an event. Its payload, and an object in that, may have members of ``JsonText``.

    Raises:
        ValueError: when a value cannot be serialized.
    """
    head = {name: value for name, value in event.items() if name != "properties"}
    kind = event["type"]
    payload = event["properties"].get(kind)
    if not isinstance(payload, dict):
        return json_text(event)
    return f'{json_text(head)[:-1]},"properties":{{"{kind}":{_object_text(payload)}}}}}'


def _object_text(members: dict[Any, Any]) -> str:
    """Members without ``JsonText`` are serialized together: each call of the serializer costs."""
    texts = {name: text for name, value in members.items() if (text := _known_text(value)) is not None}
    others = json_text({name: value for name, value in members.items() if name not in texts})
    parts = [f"{dumps(str(name))}:{text}" for name, text in texts.items()]
    return "{" + ",".join(filter(None, (*parts, others[1:-1]))) + "}"


def _known_text(value: object) -> str | None:
    if isinstance(value, JsonText):
        return value.text
    if isinstance(value, dict) and any(isinstance(member, JsonText) for member in value.values()):
        return _object_text(value)
    return None


def encode(text: str) -> bytes:
    """UTF-8. A lone surrogate, which UTF-8 cannot express, becomes its escape, which JSON can."""
    try:
        return text.encode()
    except UnicodeEncodeError:
        return text.encode(errors="backslashreplace")


def dumps(value: object, default: Any = None) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=default)


#: Standard modules whose objects have a text that everybody expects: they are not imported for this.
_TEXTUAL = ("datetime", "uuid", "decimal", "fractions", "pathlib")


class _Converter:
    """Converts objects into JSON's types.

    It reads only the fields that dataclasses and models have in their ``__dict__``: an attribute of an ORM's
    row would load it from the database. Of anything else only the class is named.
    """

    def __init__(self) -> None:
        self._left = CONVERTED_OBJECTS_MAX

    def convert(self, value: Any) -> Any:
        self._left -= 1
        if self._left < 0:
            return "[Omitted]"
        if isinstance(value, JsonText):
            return json.loads(value.text)
        if isinstance(value, (set, frozenset)):
            return list(value)
        if isinstance(value, (bytes, bytearray, memoryview)):
            return {"bytes": len(value)}
        if isinstance(value, BaseException):
            return {"name": type(value).__name__, "message": str(value)}
        kind = type(value)
        if kind.__module__.partition(".")[0] in _TEXTUAL:
            return str(value)
        fields = _fields_of(value)
        return f"<{kind.__module__}.{kind.__qualname__}>" if fields is None else fields

    def plain(self, value: Any, ancestors: tuple[int, ...]) -> Any:
        """The slow path: each value by itself."""
        if value is None or isinstance(value, (bool, str)):
            return value
        if isinstance(value, int):
            return int(value)
        if isinstance(value, float):
            # JSON has no NaN and no infinity.
            return float(value) if value - value == 0 else str(value)
        if id(value) in ancestors:
            return "[Circular]"
        if len(ancestors) >= JSON_DEPTH_MAX:
            return "[Too deep]"
        path = (*ancestors, id(value))
        if isinstance(value, Mapping):
            return {_key_text(key): self.plain(item, path) for key, item in list(value.items())}
        if isinstance(value, (list, tuple)):
            return [self.plain(item, path) for item in list(value)]
        return self.plain(self.convert(value), path)


def _key_text(key: object) -> str:
    return key if isinstance(key, str) else str(key) if isinstance(key, (int, float)) else f"<{type(key).__qualname__}>"


def _fields_of(value: Any) -> Any:
    """The fields of a dataclass or a model, or the value of an enum's member; None for other objects."""
    kind = type(value)
    members = getattr(value, "__dict__", {})
    if hasattr(kind, "__dataclass_fields__"):
        return {name: members[name] for name in kind.__dataclass_fields__ if name in members}
    if hasattr(kind, "__pydantic_fields__"):
        return dict(members)
    return getattr(value, "_value_", None) if hasattr(kind, "_member_map_") else None
