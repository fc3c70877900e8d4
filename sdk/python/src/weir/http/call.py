"""A call to a provider, with all of its attempts: one event."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import Any

from weir.calls.activity import Activity
from weir.event.errors import describe_error
from weir.event.scope import current_scope
from weir.event.types import EventError, Json
from weir.operation import Operation
from weir.recorder import Recorder
from weir.wire.adapter import Adapter, LlmAnswer, LlmRequest, compose_llm


class Attempts(Activity):
    """Makes the attempts of a provider's client one call, which its scope holds for them."""

    def __init__(self) -> None:
        self._calls: list[Call] = []
        super().__init__(current_scope()._replace(attempts=self._calls))

    def end(self, value: object) -> None:
        """The client has returned, perhaps with a stream that is not read yet."""
        for call in self._calls:
            if call.error is not None:
                call.finish(error=call.error)
        self._calls.clear()

    def fail(self, error: BaseException) -> None:
        for call in self._calls:
            call.finish(error=call.error or describe_error(error))
        self._calls.clear()


#: Reads the answer when it is needed, and why the call has failed.
ReadAnswer = Callable[[], tuple[LlmAnswer | None, EventError | None]]


class Call(Operation):
    def __init__(self, recorder: Recorder, adapter: Adapter, url: Any, body: bytes | None, source: str | None) -> None:
        super().__init__(recorder)
        self.outer = self.outer._replace(attempts=None)
        if self.outer.model_run is not None:
            self.outer.model_run.is_observed = True
        self._adapter = adapter
        self._url = url
        self._body = body
        self._source = source
        self._first_chunk_ms: float | None = None
        self.retries = 0
        self.request_id: str | None = None
        #: Why the last attempt failed. Another one may follow.
        self.error: EventError | None = None

    def note_chunk(self) -> None:
        if self._first_chunk_ms is None:
            self._first_chunk_ms = self.elapsed_ms

    def finish(self, read: ReadAnswer | None = None, error: EventError | None = None, answer_bytes: int = 0) -> None:
        """Ends the call now. Its bodies are read when its event is composed, which the sender's thread may do later."""
        if self.end():
            known = {
                "requestId": self.request_id,
                "timeToFirstChunkMs": self._first_chunk_ms,
                "retries": self.retries or None,
            }
            compose = partial(self._compose, read or (lambda: (None, error)), known)
            self.recorder.defer(compose, len(self._body or b"") + answer_bytes)

    def _compose(self, read: ReadAnswer, known: Json) -> None:
        answer, error = read()
        host: str = self._url.host
        regional = _REGIONAL.match(host)
        if answer is not None and answer.response_id is not None:
            self.recorder.observed_responses.append(answer.response_id)
        if answer is not None and answer.region is None and regional:
            answer = answer._replace(region=regional[1])
        adapter = self._adapter
        origin = (self._source or source_of(host) or adapter.source, adapter.source_package, adapter.source_function)
        self.record("llm", origin, compose_llm(self._read_request(), answer, **known), error)
        # Another model has another price. The provider says nothing of their times.
        for inner in answer.inner_calls if answer is not None else ():
            self.inside().record("llm", origin, inner, None)

    def _read_request(self) -> LlmRequest | None:
        try:
            return None if self._body is None else self._adapter.read_request(self._body.decode(), self._url.path)
        except Exception:
            return None


#: OpenAI's addresses of a region say where inference is; its responses do not.
_REGIONAL = re.compile(r"(us|eu)\.api\.openai\.com$")

#: Providers that are named like their host: `api.mistral.ai`.
_NAMED = re.compile(
    r"(?:^|\.)api\.(openai|anthropic|groq|mistral|deepseek|together|fireworks|cerebras|perplexity|moonshot)"
    r"\.(?:com|ai|xyz)$"
)

#: Other providers, by the suffix of their host name.
_SOURCES = {
    "azure.com": "azure",
    "amazonaws.com": "aws",
    "googleapis.com": "google",
    "openrouter.ai": "openrouter",
    "api.x.ai": "xai",
    "dashscope.aliyuncs.com": "alibaba",
    "ai-gateway.vercel.sh": "vercel",
    "gateway.ai.cloudflare.com": "cloudflare",
}


def source_of(host: str) -> str | None:
    """The provider of a host; None for an unknown one, such as a proxy."""
    named = _NAMED.search(host)
    if named:
        return named[1]
    return next((name for known, name in _SOURCES.items() if f".{host}".endswith(f".{known}")), None)
