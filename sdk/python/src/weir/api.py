"""The client of Weir: everything that an application calls."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, overload

from weir.calls.activity import wrap
from weir.calls.trace import Identity, Trace
from weir.event.types import Event
from weir.limits import FLUSH_TIMEOUT_S
from weir.reports import FlushResult, Stats

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from weir.options import Options
    from weir.recorder import Recorder

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")


class Weir:
    """Records the LLM and tool calls of a program and delivers them to Weir.

    >>> weir = Weir()  # WEIR_URL, WEIR_API_KEY, WEIR_SPOOL
    >>> client = weir.observe(OpenAI())
    """

    _recorder: Recorder | None = None

    def __init__(self, **options: Unpack[Options]) -> None:
        previous, self._recorder = self._recorder, _create_recorder(options)
        if previous is not None:
            previous.close(FLUSH_TIMEOUT_S)

    @property
    def recorder(self) -> Recorder:
        """For integrations of frameworks."""
        # Without a lock, which the child of a fork could find locked: of two threads one sets it.
        return self._recorder or vars(self).setdefault("_recorder", _create_recorder({}))

    @property
    def is_enabled(self) -> bool:
        """Whether events are recorded: there is a key, and no option is wrong."""
        return self.recorder.is_enabled

    def observe(self, client: T, *, source: str | None = None, include_usage: bool = False) -> T:
        """Records the calls of a client of OpenAI, Anthropic, Google, Mistral or Ollama, or of an ``httpx.Client``.

        Changes the client in place and returns it.

        Args:
            source: replaces ``instrumentation.source``, which is otherwise derived from the host.
            include_usage: OpenAI reports the usage of a chat stream only on request. True requests it, and
                removes from the stream what this adds.
        """
        from weir.http.observe import observe_client

        return observe_client(self, client, source=source, include_usage=include_usage)

    @overload
    def trace(self, name: Callable[P, R]) -> Callable[P, R]: ...
    @overload
    def trace(self, name: str | None = None, **identity: Unpack[Identity]) -> Trace: ...
    def trace(self, name: Any = None, **identity: Any) -> Any:
        """A block or a decorator: the events inside share a ``traceId`` and these identifiers.

        In another trace it is a span: a named part of that trace, and the parent of what is recorded inside.
        """
        options: Identity = identity  # type: ignore[assignment]
        if name is None or isinstance(name, str):
            return Trace(name, options)
        return Trace(_name_of(name), options)(name)

    span = trace

    @overload
    def agent(self, name: Callable[P, R]) -> Callable[P, R]: ...
    @overload
    def agent(
        self, name: str | None = None, **identity: Unpack[Identity]
    ) -> Callable[[Callable[P, R]], Callable[P, R]]: ...
    def agent(self, name: Any = None, **identity: Any) -> Any:
        """A decorator: a span whose name is the ``agentId`` of the events inside."""

        return _decorate(name, lambda title, fn: self.trace(title, agent=title, **identity)(fn))

    @overload
    def tool(self, name: Callable[P, R]) -> Callable[P, R]: ...
    @overload
    def tool(self, name: str | None = None) -> Callable[[Callable[P, R]], Callable[P, R]]: ...
    def tool(self, name: Any = None) -> Any:
        """A decorator: each call of the function, coroutine or generator is a tool event."""
        from weir.calls.tool import wrap_tool

        return _decorate(name, functools.partial(wrap_tool, self))

    def wrap(self, target: T) -> T:
        """Carries the trace of the running code into an executor's threads, or into a function or generator."""
        wrapped: T = wrap(target)
        return wrapped

    def serverless(self, handler: Callable[P, R]) -> Callable[P, R]:
        """Wraps a handler of AWS Lambda or Cloud Functions: it delivers before the process is frozen."""
        from weir.calls.serverless import wrap_handler

        return wrap_handler(self.flush, handler)

    def record(self, event: Event) -> str:
        """Records an event of docs/api.md §2.2; missing fields are filled in. Returns its id in Weir."""
        return self.recorder.record(event)

    def flush(self, timeout: float = FLUSH_TIMEOUT_S) -> FlushResult:
        """Delivers what was recorded so far, and returns after ``timeout`` seconds at the latest."""
        return self.recorder.flush(timeout)

    def close(self, timeout: float = FLUSH_TIMEOUT_S) -> FlushResult:
        """Flushes, and ends recording. What is pending then stays in the spool, or is dropped and counted."""
        return self.recorder.close(timeout)

    def stats(self) -> Stats:
        """Numbers of events of this process since its start."""
        return self.recorder.stats()


def _create_recorder(options: Options) -> Recorder:
    # Not at the import of the package, which has to be quick.
    from weir.recorder import Recorder

    return Recorder(options)


def _decorate(name: Any, make: Callable[[str, Any], Any]) -> Any:
    """A decorator with or without parentheses, whose name is that of the function by default."""
    if callable(name) or isinstance(name, (staticmethod, classmethod)):
        return make(_name_of(name), name)
    return lambda fn: make(name or _name_of(fn), fn)


def _name_of(fn: Any) -> str:
    return str(getattr(fn, "__name__", type(fn).__name__))
