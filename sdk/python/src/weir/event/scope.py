"""What the events that are recorded in a piece of code have in common. It follows contextvars."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar, Token
from typing import Any, NamedTuple

from weir.event.types import create_uuid
from weir.limits import SPAN_DEPTH_MAX, SPAN_NAME_CHARS_MAX


class Level(NamedTuple):
    """A span as the events inside it name it."""

    #: 12 random hexadecimal digits.
    id: str
    name: str


class ModelRun:
    """Tells a framework's integration that an observed client has recorded the call, which is one event."""

    is_observed = False


class Scope(NamedTuple):
    """Immutable: code that runs later, or elsewhere, can keep it."""

    trace_id: str | None = None
    thread_id: str | None = None
    user_id: str | None = None
    agent_id: str | None = None
    group_id: str | None = None
    release: str | None = None
    environment: str | None = None
    tags: tuple[str, ...] = ()
    dimensions: Mapping[str, Any] = {}
    #: The spans around the running code, the outermost first.
    spans: tuple[Level, ...] = ()
    #: The event of the tool call that the running code belongs to.
    parent_event_id: str | None = None
    #: The call of a provider's client that an HTTP attempt belongs to.
    attempts: Any = None
    #: The model call that a framework reports, and that an observed client may record.
    model_run: ModelRun | None = None
    #: The tool call that a framework reports: the same tool below does not record it again.
    reported_tool: str | None = None

    def inside(self, level: Level) -> Scope:
        """The scope inside a span. Deeper events belong to the deepest span that is kept."""
        return self._replace(spans=(*self.spans, level)[:SPAN_DEPTH_MAX])

    def of_trace(self, trace_id: str) -> Scope:
        """In another trace the spans and the parent of the outer one do not apply."""
        if trace_id == self.trace_id:
            return self
        return self._replace(trace_id=trace_id, spans=(), parent_event_id=None)


_EMPTY = Scope()
_current: ContextVar[Scope] = ContextVar("weir.scope", default=_EMPTY)


def create_level(name: object) -> Level:
    """A span. Its name may not contain the separator of ``span.path``."""
    return Level(create_uuid()[-12:], str(name).replace(" > ", ">")[:SPAN_NAME_CHARS_MAX])


def current_scope() -> Scope:
    return _current.get()


def set_scope(scope: Scope) -> Token[Scope]:
    return _current.set(scope)


def reset_scope(token: Token[Scope]) -> None:
    try:
        _current.reset(token)
    except ValueError:
        # An asynchronous generator is closed by the event loop in a context of its own, which ends with it.
        pass


@contextmanager
def entered(scope: Scope) -> Iterator[None]:
    """Runs a block in this scope alone, without what is around."""
    token = set_scope(scope)
    try:
        yield
    finally:
        reset_scope(token)
