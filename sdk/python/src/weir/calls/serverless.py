"""Handlers of platforms that freeze the process between calls: AWS Lambda, Google Cloud Functions."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from weir.limits import FLUSH_TIMEOUT_S

#: Left of the time of an invocation, for its own end.
_RESERVE_S = 0.5


def wrap_handler(flush: Callable[[float], object], handler: Callable[..., Any]) -> Callable[..., Any]:
    """The same handler, which delivers when it has ended, within the time that Lambda leaves it."""
    import inspect

    if inspect.iscoroutinefunction(handler):

        @functools.wraps(handler)
        async def run(*args: Any, **kwargs: Any) -> Any:
            import asyncio

            try:
                return await handler(*args, **kwargs)
            finally:
                await asyncio.to_thread(flush, _seconds_left(args))

        return run

    @functools.wraps(handler)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            return handler(*args, **kwargs)
        finally:
            flush(_seconds_left(args))

    return call


def _seconds_left(args: tuple[Any, ...]) -> float:
    remaining: Callable[[], float] | None = (
        getattr(args[1], "get_remaining_time_in_millis", None) if len(args) > 1 else None
    )
    try:
        left = remaining() / 1000 - _RESERVE_S if callable(remaining) else FLUSH_TIMEOUT_S
        return max(0.0, min(FLUSH_TIMEOUT_S, left))
    except Exception:
        # Another context than Lambda's, such as that of a test: the handler's result counts.
        return FLUSH_TIMEOUT_S
