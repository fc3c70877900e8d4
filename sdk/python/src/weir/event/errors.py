"""Thrown exceptions in the fields of docs/api.md §2.3."""

from __future__ import annotations

from typing import Any

from weir.event.types import EventError

_ABORTS = ("CancelledError", "GeneratorExit", "KeyboardInterrupt")


def describe_error(thrown: BaseException) -> EventError:
    """The class, and what the clients of providers attach: ``code`` and ``status_code``. Never raises."""
    name = type(thrown).__name__
    error: EventError = {}
    try:
        code = as_code(getattr(thrown, "code", None))
        if is_abort(thrown):
            code = "aborted"
        elif isinstance(thrown, TimeoutError) or name.endswith(("Timeout", "TimeoutException", "TimeoutError")):
            code = "timeout"
        error["code"] = name if code is None else code
        status = getattr(thrown, "status_code", None)
        if isinstance(status, int):
            error["httpStatus"] = status
        error["message"] = str(thrown)
    except Exception:
        error.setdefault("code", name)
        error["message"] = "The error cannot be read."
    return error


def is_abort(thrown: BaseException) -> bool:
    """Whether the application stopped a call."""
    return type(thrown).__name__ in _ABORTS


def as_code(value: Any) -> str | int | float | None:
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        return None
    return value
