"""What the events that are recorded in a piece of code have in common. It follows contextvars."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextvars import ContextVar
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


class Frame:
    """A run that a framework reports. Its end may be reported in a copy of the context that it was begun in."""

    inner: Scope | None = None
    #: The scope around, once the run has ended.
    outside: Scope | None = None


class Scope(NamedTuple):
    """Immutable: code that runs later, or elsewhere, can keep it."""

    trace_id: str | None = None
    thread: str | None = None
    user: str | None = None
    agent: str | None = None
    group: str | None = None
    release: str | None = None
    environment: str | None = None
    tags: tuple[str, ...] = ()
    dimensions: Mapping[str, Any] = {}
    #: The spans around the running code, the outermost first.
    spans: tuple[Level, ...] = ()
    #: The event of the tool call that the running code belongs to.
    parent_event_id: str | None = None
    #: The call of a provider's client that HTTP attempts belong to, from the first attempt on.
    attempts: list[Any] | None = None
    #: The model call that a framework reports, and that an observed client may record.
    model_run: ModelRun | None = None
    #: The tool call that a framework reports: the same tool below does not record it again.
    reported_tool: str | None = None
    #: The run that set this scope. Those that were made of this one go on when it ends.
    frame: Frame | None = None

    def inside(self, name: object) -> Scope:
        """The scope inside a new span. Deeper events belong to the deepest span that is kept."""
        # The name may not contain the separator of `span.path`.
        level = Level(create_uuid()[-12:], str(name).replace(" > ", ">")[:SPAN_NAME_CHARS_MAX])
        return self._replace(spans=(*self.spans, level)[:SPAN_DEPTH_MAX])

    def of_trace(self, trace_id: str) -> Scope:
        """In another trace the spans and the parent of the outer one do not apply."""
        if trace_id == self.trace_id:
            return self
        return self._replace(trace_id=trace_id, spans=(), parent_event_id=None)


def read_tags(tags: Iterable[str] | None) -> tuple[str, ...]:
    """A single text is one tag, although it is an iterable of texts, too."""
    return (tags,) if isinstance(tags, str) else tuple(map(str, tags or ()))


_EMPTY = Scope()
_current: ContextVar[Scope] = ContextVar("weir.scope", default=_EMPTY)


def current_scope() -> Scope:
    scope = _current.get()
    while (frame := scope.frame) is not None and frame.inner is scope and frame.outside is not None:
        scope = frame.outside
    return scope


def set_scope(scope: Scope) -> None:
    _current.set(scope)


class Entered:
    """A block that runs in a scope alone, without what is around. It may be entered again, one step after another."""

    def __init__(self, scope: Scope) -> None:
        #: After a step: the scope that the block had at its end, such as that of a span around a ``yield``.
        self.scope = scope

    def __enter__(self) -> None:
        self._outer = current_scope()
        self._inner = self.scope
        self._token = _current.set(self.scope)

    def __exit__(self, *error: object) -> None:
        self.scope = current_scope()
        # It may have been entered in another context: by a generator in another thread, or that the event loop closes.
        if not self.leave() and self.scope is self._inner:
            _current.set(self._outer)

    def leave(self) -> bool:
        """Restores the scope around. Returns whether the block was entered in this context: otherwise it cannot."""
        try:
            _current.reset(self._token)
        except ValueError:
            return False
        return True
