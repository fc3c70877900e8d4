"""Observes a client in place: its methods, streams, time-outs and types stay its own."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from weir.calls.activity import Activity, instrument
from weir.event.errors import describe_error, is_abort
from weir.event.scope import current_scope
from weir.http.answer import AnswerSink, ErrorSink
from weir.http.call import Attempts, Call
from weir.http.include_usage import UsageFilter, add_usage_option
from weir.http.tap import Tap, decoder_of, tap_stream
from weir.wire.adapter import Adapter
from weir.wire.chat import chat_completions, mistral_completions
from weir.wire.gemini import generate_content
from weir.wire.messages import messages
from weir.wire.ollama import ollama_chat, ollama_generate
from weir.wire.responses import responses

if TYPE_CHECKING:
    from weir.api import Weir

T = TypeVar("T")

_ADAPTERS = (chat_completions, responses, messages, generate_content, ollama_chat, ollama_generate)

#: ``/v1/embeddings``, Ollama's ``/api/embed``, Google's ``:embedContent`` and ``:batchEmbedContents``.
_EMBEDDINGS = re.compile(r"embed(dings|Contents?)?$", re.IGNORECASE)


_REQUEST_IDS = ("x-request-id", "request-id", "x-amzn-requestid")


class Observer(NamedTuple):
    #: Whose recorder is used: that of the time of the call, which ``init`` may change.
    client: Weir
    package: str
    adapters: tuple[Adapter, ...]
    source: str | None
    include_usage: bool

    def begin(self, args: tuple[Any, ...], options: dict[str, Any]) -> Activity:
        """Never raises. A request that is not one of a known API is an attempt without a call."""
        request: Any = args[0] if args else options.get("request")
        attempt = Attempt(self, request, options.get("stream", False))
        try:
            if request.method == "POST" and self.client.is_enabled:
                attempt.join()
        except Exception:
            pass
        return attempt


class Attempt(Activity):
    """A request, which the client sends by its method ``send``."""

    def __init__(self, observer: Observer, request: Any, is_stream: bool) -> None:
        super().__init__(current_scope())
        self._observer = observer
        self._request = request
        self._is_stream = is_stream
        self._call: Call | None = None
        #: Whether no other attempt of the call can follow.
        self._is_last = True
        self._change: Any = bytes

    def join(self) -> None:
        """Begins a call, or continues the one that the client repeats."""
        observer, request = self._observer, self._request
        recorder = observer.client.recorder
        path: str = request.url.path
        adapter = next((known for known in observer.adapters if known.path.search(path)), None)
        if adapter is None:
            recorder.counters.embeddings += _EMBEDDINGS.search(path) is not None
            return
        try:
            body: bytes | None = request.content
        except RuntimeError:
            # A stream can be read only once, by the provider.
            body = None
        calls = current_scope().attempts
        if calls:
            call = calls[0]
            call.retries += 1
        else:
            call = Call(recorder, adapter, request.url, body, observer.source)
            if calls is not None:
                calls.append(call)
        self._call, self._adapter, self._is_last = call, adapter, calls is None
        if observer.include_usage and body is not None and add_usage_option(adapter, request, body):
            self._change = UsageFilter()

    def fail(self, error: BaseException) -> None:
        if self._call is not None:
            self._call.error = describe_error(error)
            if self._is_last or is_abort(error):
                self._call.finish(error=self._call.error)

    def end(self, value: object) -> None:
        """Observes the response. If that fails, the call is recorded without it."""
        if self._call is not None:
            try:
                self._tap(self._call, value)
            except Exception:
                self._call.finish()

    def _tap(self, call: Call, response: Any) -> None:
        call.request_id = next(filter(None, map(response.headers.get, _REQUEST_IDS)), None)
        sink = AnswerSink(self._adapter) if response.is_success else ErrorSink(response.status_code)
        call.error = None if response.is_success else {"httpStatus": response.status_code}
        if self._is_stream and not response.is_stream_consumed:
            tap = Tap(call, sink, decoder_of(response), self._is_last)
            call.recorder.open_calls.add(tap)
            tap_stream(self._observer.package, response, tap, self._change)
        else:
            # The client has read and decoded it.
            tap = Tap(call, sink, bytes, self._is_last)
            with tap:
                tap.chunk(response.content)


def observe_client(weir: Weir, client: T, *, source: str | None, include_usage: bool) -> T:
    """Unknown clients are returned unchanged, with a warning: otherwise it would go unnoticed."""
    name = type(client).__module__.split(".")[0]
    adapters = (mistral_completions, *_ADAPTERS[1:]) if name == "mistralai" else _ADAPTERS
    found = list(_http_clients(client))
    for package, http in found:
        _observe_send(Observer(weir, package, adapters, source, include_usage), http)
    if found:
        _join_attempts(client)
    else:
        kind = type(client).__qualname__
        weir.recorder.notices.say(kind, f"observe() does not know {kind}: it records no calls (docs/sdk-python.md).")
    return client


#: Where clients have their ``httpx.Client`` and ``httpx.AsyncClient``: OpenAI, Anthropic, Ollama; Google; Mistral.
_PLACES = (
    (),
    ("_client",),
    ("_api_client", "_httpx_client"),
    ("_api_client", "_async_httpx_client"),
    ("sdk_configuration", "client"),
    ("sdk_configuration", "async_client"),
)


def _http_clients(client: Any) -> Iterator[tuple[str, Any]]:
    for place in _PLACES:
        http = functools.reduce(lambda owner, name: getattr(owner, name, None), place, client)
        modules = [kind.__module__.split(".")[0] for kind in type(http).__mro__]
        package = next((module for module in modules if module in ("httpx", "httpx2")), None)
        if package is not None and hasattr(http, "send"):
            yield package, http


def _observe_send(observer: Observer, http: Any) -> None:
    send = http.send
    earlier = getattr(send, "weir_client", None)
    if earlier is not None:
        # Frameworks share HTTP clients: one is observed once, by the client that is in use.
        if earlier.is_enabled:
            return
        send = send.__wrapped__
    observed: Any = instrument(send, observer.begin)
    observed.weir_client = observer.client
    http.send = observed


def _join_attempts(client: Any) -> None:
    """Makes the attempts of a call one event, for clients that retry: OpenAI's, Anthropic's and Google's.

    In the class: copies of the client share its HTTP client, and have the same attributes as without us.
    """
    places = [(getattr(client, "_api_client", None), name) for name in ("_request", "_async_request")]
    if hasattr(client, "max_retries"):
        places.append((client, "request"))
    for owner, name in places:
        method = getattr(type(owner), name, None)
        if method is not None and not hasattr(method, "weir_observed"):
            joined: Any = instrument(method, lambda args, kwargs: Attempts())
            joined.weir_observed = True
            setattr(type(owner), name, joined)
