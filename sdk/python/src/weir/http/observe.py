"""Observes a client in place: its methods, streams, time-outs and types stay its own."""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, TypeVar

from weir.event.errors import describe_error, is_abort
from weir.event.scope import current_scope, entered
from weir.http.call import Attempts, Call
from weir.http.include_usage import UsageFilter, add_usage_option
from weir.http.tap import ErrorTap, Tap, tap_stream
from weir.recorder import Recorder
from weir.wire.adapter import Adapter
from weir.wire.chat import chat_completions, mistral_completions
from weir.wire.gemini import generate_content
from weir.wire.messages import messages
from weir.wire.ollama import ollama_chat, ollama_generate
from weir.wire.responses import responses

T = TypeVar("T")

_ADAPTERS = (chat_completions, responses, messages, generate_content, ollama_chat, ollama_generate)

#: ``/v1/embeddings``, Ollama's ``/api/embed``, Google's ``:embedContent`` and ``:batchEmbedContents``.
_EMBEDDINGS = re.compile(r"embed(dings|Contents?)?$", re.IGNORECASE)


class Observer(NamedTuple):
    recorder: Recorder
    package: str
    adapters: tuple[Adapter, ...]
    source: str | None
    include_usage: bool

    def begin(self, request: Any) -> Attempt | None:
        """An attempt, if the request is one of a known API. Never raises."""
        try:
            return self._match(request)
        except Exception:
            return None

    def _match(self, request: Any) -> Attempt | None:
        if request.method != "POST" or not self.recorder.is_enabled:
            return None
        adapter = next((known for known in self.adapters if known.path.search(request.url.path)), None)
        if adapter is None:
            self.recorder.counters.embeddings += _EMBEDDINGS.search(request.url.path) is not None
            return None
        try:
            body = request.content.decode()
        except (RuntimeError, UnicodeDecodeError):
            # A stream can be read only once, by the provider.
            body = None
        changed = add_usage_option(adapter, request, body) if self.include_usage and body is not None else None
        attempts = current_scope().attempts
        call = attempts.call if attempts is not None else None
        if call is None:
            call = Call(self.recorder, adapter, request.url, body, self.source)
        else:
            call.retries += 1
        if attempts is not None:
            attempts.call = call
        return Attempt(self, adapter, call, changed or request, attempts is None, changed is not None)


class Attempt(NamedTuple):
    observer: Observer
    adapter: Adapter
    call: Call
    request: Any
    #: Whether no other attempt of the call can follow.
    is_last: bool
    is_changed: bool

    def fail(self, error: BaseException) -> None:
        self.call.error = describe_error(error)
        if self.is_last or is_abort(error):
            self.call.finish(error=self.call.error)

    def answered(self, response: Any, is_stream: bool) -> Any:
        """Observes a response, and returns it. If that fails, the call is recorded without it."""
        try:
            self._tap(response, is_stream)
        except Exception:
            self.call.finish()
        return response

    def _tap(self, response: Any, is_stream: bool) -> None:
        call, headers = self.call, response.headers
        call.request_id = headers.get("x-request-id") or headers.get("request-id")
        call.error = None
        tap = (
            Tap(call, self.adapter, response)
            if response.is_success
            else ErrorTap(call, response.status_code, response, is_last=self.is_last)
        )
        if is_stream and not response.is_stream_consumed:
            self.observer.recorder.open_calls.add(tap)
            tap_stream(self.observer.package, response, tap, UsageFilter() if self.is_changed else None)
        else:
            # The client has read and decoded it.
            tap._decode = bytes
            tap.chunk(response.content)
            tap.end()


def observe_client(recorder: Recorder, client: T, *, source: str | None, include_usage: bool) -> T:
    """Unknown clients are returned unchanged, with a warning: otherwise it would go unnoticed."""
    name = type(client).__module__.split(".")[0]
    adapters = (mistral_completions, *_ADAPTERS[1:]) if name == "mistralai" else _ADAPTERS
    found = list(_http_clients(client))
    for package, http in found:
        _observe_send(Observer(recorder, package, adapters, source, include_usage), http)
    if found:
        _join_attempts(client)
    else:
        kind = type(client).__qualname__
        recorder.notices.say(kind, f"observe() does not know {kind}: its calls are not recorded (docs/sdk-python.md).")
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
        http = client
        for name in place:
            http = getattr(http, name, None)
        modules = [kind.__module__.split(".")[0] for kind in type(http).__mro__]
        package = next((module for module in modules if module in ("httpx", "httpx2")), None)
        if package is not None and hasattr(http, "send"):
            yield package, http


def _observe_send(observer: Observer, http: Any) -> None:
    send = http.send
    earlier = getattr(send, "weir_recorder", None)
    if earlier is not None:
        # Frameworks share HTTP clients: one is observed once, by the recorder that is in use.
        if earlier.is_enabled:
            return
        send = send.__wrapped__

    if inspect.iscoroutinefunction(send):

        @functools.wraps(send)
        async def observed_async(request: Any, **options: Any) -> Any:
            attempt = observer.begin(request)
            if attempt is None:
                return await send(request, **options)
            try:
                response = await send(attempt.request, **options)
            except BaseException as error:
                attempt.fail(error)
                raise
            return attempt.answered(response, options.get("stream", False))

        http.send = observed_async
    else:

        @functools.wraps(send)
        def observed(request: Any, **options: Any) -> Any:
            attempt = observer.begin(request)
            if attempt is None:
                return send(request, **options)
            try:
                response = send(attempt.request, **options)
            except BaseException as error:
                attempt.fail(error)
                raise
            return attempt.answered(response, options.get("stream", False))

        http.send = observed
    http.send.weir_recorder = observer.recorder


def _join_attempts(client: Any) -> None:
    """Makes the attempts of a call one event, for clients that retry: OpenAI's, Anthropic's and Google's."""
    if hasattr(client, "max_retries"):
        _join(client, "request")
        for name in ("copy", "with_options"):
            _observe_copies(client, name)
    google = getattr(client, "_api_client", None)
    for name in ("_request", "_async_request"):
        if google is not None:
            _join(google, name)


def _join(owner: Any, name: str) -> None:
    method: Callable[..., Any] | None = getattr(owner, name, None)
    if method is None or hasattr(method, "weir_observed"):
        return

    if inspect.iscoroutinefunction(method):

        @functools.wraps(method)
        async def joined_async(*args: Any, **kwargs: Any) -> Any:
            attempts = Attempts()
            try:
                with entered(current_scope()._replace(attempts=attempts)):
                    result = await method(*args, **kwargs)
            except BaseException as error:
                attempts.end(error)
                raise
            attempts.end(None)
            return result

        joined: Any = joined_async
    else:

        @functools.wraps(method)
        def joined_sync(*args: Any, **kwargs: Any) -> Any:
            attempts = Attempts()
            try:
                with entered(current_scope()._replace(attempts=attempts)):
                    result = method(*args, **kwargs)
            except BaseException as error:
                attempts.end(error)
                raise
            attempts.end(None)
            return result

        joined = joined_sync
    joined.weir_observed = True
    setattr(owner, name, joined)


def _observe_copies(client: Any, name: str) -> None:
    """A copy shares the HTTP client, and retries by itself."""
    method = getattr(client, name, None)
    if method is None:
        return

    @functools.wraps(method)
    def copied(*args: Any, **kwargs: Any) -> Any:
        copy = method(*args, **kwargs)
        _join_attempts(copy)
        return copy

    setattr(client, name, copied)
