"""A call to a provider, with all of its attempts: one event."""

from __future__ import annotations

import os
import re
import time
from typing import Any

from weir.event.errors import describe_error
from weir.event.scope import current_scope, entered
from weir.event.types import EventError, Json, create_uuid
from weir.recorder import Recorder
from weir.wire.adapter import Adapter, LlmAnswer, LlmRequest, compose_llm


class Attempts:
    """The attempts of one call in a provider's client, which stand in its scope."""

    def __init__(self) -> None:
        self.call: Call | None = None

    def end(self, error: BaseException | None) -> None:
        """The client has returned, perhaps with a stream that is not read yet, or has raised."""
        call, self.call = self.call, None
        if call is None:
            return
        if error is not None:
            call.finish(error=call.error or describe_error(error))
        elif call.error is not None:
            call.finish(error=call.error)


class Call:
    """Recorded exactly once, in the scope of its start: at its end other code may be running."""

    def __init__(self, recorder: Recorder, adapter: Adapter, url: Any, body: str | None, source: str | None) -> None:
        self._recorder = recorder
        self._adapter = adapter
        self._path: str = url.path
        self._body = body
        self._source = source or source_of(url.host) or adapter.source
        regional = _REGIONAL.match(url.host)
        self._region = regional[1] if regional else None
        self._scope = current_scope()._replace(attempts=None)
        if self._scope.model_run is not None:
            self._scope.model_run.is_observed = True
        self._id = create_uuid()
        self._start_ms = time.time() * 1000
        self._started = time.monotonic()
        self._first_chunk_ms: float | None = None
        self._is_over = False
        # The child of a fork has a copy of a call that is its parent's to record.
        self._pid = os.getpid()
        self.retries = 0
        self.request_id: str | None = None
        #: Why the last attempt failed. Another one may follow.
        self.error: EventError | None = None

    @property
    def elapsed_ms(self) -> float:
        return round((time.monotonic() - self._started) * 1000, 3)

    def note_chunk(self) -> None:
        if self._first_chunk_ms is None:
            self._first_chunk_ms = self.elapsed_ms

    def finish(self, answer: LlmAnswer | None = None, error: EventError | None = None) -> None:
        if self._is_over or self._pid != os.getpid():
            return
        self._is_over = True
        error = error or (answer.error if answer is not None else None)
        if answer is not None and answer.region is None:
            answer = answer._replace(region=self._region)
        llm = compose_llm(
            self._read_request(),
            answer,
            requestId=self.request_id,
            timeToFirstChunkMs=self._first_chunk_ms,
            retries=self.retries or None,
        )
        if answer is not None and answer.response_id is not None:
            self._recorder.observed_responses.append(answer.response_id)
        status = {"state": "error", "error": error} if error else {"state": "ok"}
        with entered(self._scope):
            self._record(llm, id=self._id, status=status)
            # Another model has another price. The provider says nothing of their times.
            for inner in answer.inner_calls if answer is not None else ():
                self._record(inner, additionalProperties={"otel.parent_event_id": self._id})

    def _record(self, llm: Json, **others: Any) -> None:
        event: Any = {
            **others,
            "type": "llm",
            "startTimeMs": self._start_ms,
            "durationMs": self.elapsed_ms,
            "instrumentation": {
                "source": self._source,
                "sourcePackage": self._adapter.source_package,
                "sourceFunction": self._adapter.source_function,
            },
            "properties": {"llm": llm},
        }
        self._recorder.record(event)

    def _read_request(self) -> LlmRequest | None:
        try:
            return None if self._body is None else self._adapter.read_request(self._body, self._path)
        except (ValueError, RecursionError):
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
