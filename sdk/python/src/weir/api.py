"""The client of Weir, with everything that an application calls."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, overload

from weir.calls.trace import Identity, Trace
from weir.options import Options
from weir.process import flush_on_sigterm
from weir.recorder import Recorder

if TYPE_CHECKING:
    from typing_extensions import Unpack

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")


class Api(ABC):
    """What an application calls: of a client, or of this package for the client that the environment configures."""

    @abstractmethod
    def _recorder(self) -> Recorder: ...

    def observe(self, client: T, *, source: str | None = None, include_usage: bool = False) -> T:
        """Records the calls of a client of OpenAI, Anthropic, Google, Mistral or Ollama, or of an ``httpx.Client``.

        Changes the client in place and returns it.

        Args:
            source: replaces ``instrumentation.source``, which is otherwise derived from the host.
            include_usage: OpenAI reports the usage of a chat stream only on request. True requests it, and
                removes from the stream what this adds.
        """
        from weir.http.observe import observe_client

        return observe_client(self._recorder(), client, source=source, include_usage=include_usage)

    def trace(self, name: str | None = None, **identity: Unpack[Identity]) -> Trace:
        """A block or a decorator: the events inside share a ``traceId`` and these identifiers."""
        return Trace(name, identity)

    def span(self, name: str, **identity: Unpack[Identity]) -> Trace:
        """A named part of a trace, and the parent of what is recorded inside."""
        return Trace(name, identity)

    @overload
    def agent(self, name: Callable[P, R]) -> Callable[P, R]: ...
    @overload
    def agent(
        self, name: str | None = None, **identity: Unpack[Identity]
    ) -> Callable[[Callable[P, R]], Callable[P, R]]: ...
    def agent(self, name: Any = None, **identity: Any) -> Any:
        """A decorator: a span whose name is the ``agentId`` of the events inside."""
        return _decorate(name, lambda title, fn: Trace(title, _named(title, identity))(fn))

    @overload
    def tool(self, name: Callable[P, R]) -> Callable[P, R]: ...
    @overload
    def tool(self, name: str | None = None) -> Callable[[Callable[P, R]], Callable[P, R]]: ...
    def tool(self, name: Any = None) -> Any:
        """A decorator: each call of the function, coroutine or generator is a tool event."""
        from weir.calls.tool import wrap_tool

        return _decorate(name, lambda title, fn: wrap_tool(self._recorder, title, fn))

    def wrap(self, target: T) -> T:
        """Carries the trace of the running code into an executor's threads, or into a function or generator."""
        from weir.calls.wrap import wrap

        wrapped: T = wrap(target)
        return wrapped

    def serverless(self, handler: Callable[P, R]) -> Callable[P, R]:
        """Wraps a handler of AWS Lambda or Cloud Functions: it delivers before the process is frozen."""
        from weir.calls.serverless import wrap_handler

        return wrap_handler(lambda timeout: self._recorder().flush(timeout), handler)


class Weir(Recorder, Api):
    """Records the LLM and tool calls of a program and delivers them to Weir.

    >>> weir = Weir()  # WEIR_URL, WEIR_API_KEY, WEIR_SPOOL
    >>> client = weir.observe(OpenAI())
    """

    def __init__(self, **options: Unpack[Options]) -> None:
        super().__init__(options)
        if options.get("flush_on_sigterm") and self.is_enabled:
            flush_on_sigterm(lambda: self.flush(_SIGTERM_TIMEOUT_S))

    def _recorder(self) -> Recorder:
        return self


#: Kubernetes kills 30 s after SIGTERM; the program has its own end before it.
_SIGTERM_TIMEOUT_S = 5.0


def _decorate(name: Any, make: Callable[[str, Callable[..., Any]], Any]) -> Any:
    """A decorator with or without parentheses, whose name is that of the function by default."""
    if callable(name) or isinstance(name, (staticmethod, classmethod)):
        return make(_name_of(name), name)
    return lambda fn: make(name or _name_of(fn), fn)


def _name_of(fn: Any) -> str:
    target = fn.__func__ if isinstance(fn, (staticmethod, classmethod)) else fn
    return str(getattr(target, "__name__", type(target).__name__))


def _named(title: str, identity: Any) -> Identity:
    identity.setdefault("agent", title)
    known: Identity = identity
    return known
