"""Traces and spans: what the events that are recorded in a block or a function have in common."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from types import TracebackType
from typing import Any, ParamSpec, TypedDict, TypeVar, cast

from weir.calls.activity import Activity, instrument
from weir.event.scope import Entered, Scope, current_scope, read_tags
from weir.event.types import create_uuid
from weir.limits import RUNS_MAX

#: Members of ``Identity`` that replace those of the scope around, which has the same names.
_OWN = ("thread", "user", "agent", "group", "release", "environment")

P = ParamSpec("P")
R = TypeVar("R")


class Identity(TypedDict, total=False):
    """Identifiers of the events in a trace, a span or an agent."""

    thread: str | None
    user: str | None
    agent: str | None
    group: str | None
    #: A UUIDv4, such as that of a trace that another process began.
    trace_id: str | None
    release: str | None
    environment: str | None
    #: Added to the tags around.
    tags: str | Iterable[str]
    #: Custom dimensions: texts and numbers.
    dimensions: dict[str, Any]


class Trace:
    """A block or a decorator: ``with weir.trace(thread=…):``, ``@weir.trace("plan")``.

    Inside of another trace it is a span of that one, unless it has a ``trace_id`` of its own.
    """

    def __init__(self, name: str | None, identity: Identity) -> None:
        self._name = name
        self._identity = identity
        #: By the identity of the scope inside: threads and tasks may share a trace, and end it in any order.
        self._entered: dict[int, Entered] = {}

    @property
    def id(self) -> str | None:
        """The ``traceId`` of the events inside; only while it is entered."""
        return current_scope().trace_id

    def __enter__(self) -> Trace:
        entered = Entered(self.scope())
        entered.__enter__()
        self._entered[id(entered.scope)] = entered
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        entered = self._entered.pop(id(current_scope()), None)
        if entered is not None:
            entered.__exit__()
            return
        # A framework may leave its own scope: then it is the newest block of this context that ends.
        for key, other in reversed(list(self._entered.items())):
            if other.leave():
                del self._entered[key]
                return
        if len(self._entered) > RUNS_MAX:
            # Blocks of generators that end in another context, where there is nothing to restore, would leak.
            del self._entered[next(iter(self._entered))]

    def __call__(self, fn: Callable[P, R]) -> Callable[P, R]:
        """Runs each call of a function, coroutine or generator as a trace or span of its own."""
        name = self._name or getattr(fn, "__name__", "trace")
        inner = Trace(name, self._identity)
        return cast("Callable[P, R]", instrument(fn, lambda args, kwargs: Activity(inner.scope())))

    def scope(self) -> Scope:
        """The scope inside, by the scope around."""
        identity, outer = self._identity, current_scope()
        trace_id = identity.get("trace_id") or outer.trace_id or create_uuid()
        inner = outer.of_trace(trace_id)
        name = self._name or ("trace" if outer.trace_id == trace_id else None)
        if name is not None:
            inner = inner.inside(name)
        own: dict[str, Any] = {name: value for name, value in identity.items() if name in _OWN and value}
        return inner._replace(
            **own,
            tags=(*outer.tags, *read_tags(identity.get("tags"))),
            dimensions={**outer.dimensions, **(identity.get("dimensions") or {})},
        )
