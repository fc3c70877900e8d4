"""OpenAI's Agents SDK: ``add_trace_processor(weir_trace_processor())``."""

from __future__ import annotations

from typing import Any

from agents.tracing import TracingProcessor

from weir.api import Weir
from weir.event.json_text import json_text
from weir.event.types import EventError, Json, uuid_of
from weir.frameworks import Run, Runs, as_json, read_or_none
from weir.wire.adapter import Adapter, LlmAnswer, LlmRequest
from weir.wire.chat import chat_completions
from weir.wire.read import as_object, as_text
from weir.wire.responses import responses
from weir.wire.usage import compose_usage


def weir_trace_processor(client: Weir | None = None) -> TracingProcessor:  # pyright: ignore[reportUnknownParameterType]
    """Records model calls and tools. Agents, guardrails and custom spans are the spans around them.

    An agent's name is the ``agentId``, and the group of a trace the ``threadId``.
    """
    return _TraceProcessor(client)


class _TraceProcessor(TracingProcessor):
    def __init__(self, client: Weir | None) -> None:
        self._runs = Runs(client, "openai-agents")
        self._groups: dict[str, str | None] = {}

    def on_trace_start(self, trace: Any) -> None:
        self._groups[trace.trace_id] = getattr(trace, "group_id", None)

    def on_trace_end(self, trace: Any) -> None:
        self._groups.pop(trace.trace_id, None)

    def on_span_start(self, span: Any) -> None:
        if not self._runs.client.is_enabled:
            return
        thread = self._groups.get(span.trace_id)
        digits = span.trace_id[-32:]
        trace_id = uuid_of(digits) if len(digits) == 32 and all(d in "0123456789abcdef" for d in digits) else None
        run = self._runs.open(
            span.span_id,
            span.parent_id,
            None,
            lambda scope: scope._replace(thread=thread or scope.thread),
            trace_id=trace_id,
        )
        _enter(run, span.span_data)
        run.enter()

    def on_span_end(self, span: Any) -> None:
        run = self._runs.close(span.span_id)
        if run is None:
            return
        data, error = span.span_data, _read_error(span.error)
        if data.type == "function":
            run.end_tool(data.name, as_json(data.input), as_json(data.output), error, function="function")
        elif data.type in _MODELS:
            read, function = _MODELS[data.type]
            request, answer = read_or_none(read, data) or (None, None)
            run.end_model(request, answer, error, source="openai", function=function)

    def force_flush(self) -> None:
        self._runs.client.flush()

    shutdown = force_flush


def _enter(run: Run, data: Any) -> None:
    name = as_text(getattr(data, "name", None)) or data.type
    if data.type == "function":
        run.as_tool(name)
    elif data.type in _MODELS:
        run.as_model()
    elif data.type in ("agent", "guardrail", "custom"):
        run.as_span(name)
    if data.type == "agent":
        run.inner = run.inner._replace(agent=name)


def _read_error(error: Any) -> EventError | None:
    """The message of the thrown error is in the data."""
    if error is None:
        return None
    cause = as_object(as_object(error).get("data")).get("error")
    message = str(error.get("message"))
    return {"message": message if cause is None else f"{message}: {cause}"}


def _read_response(data: Any) -> tuple[LlmRequest | None, LlmAnswer | None]:
    """The response repeats the instructions and tools of its request."""
    if data.response is None:
        return _read_request(responses, {"input": data.input}), None
    text = data.response.model_dump_json()
    body = data.response.model_dump(include={"model", "instructions", "tools", "text"}, mode="json")
    return _read_request(responses, {**body, "input": data.input}), responses.read_answer(text)


def _read_generation(data: Any) -> tuple[LlmRequest | None, LlmAnswer | None]:
    request = _read_request(chat_completions, {"model": data.model, "messages": data.input})
    if not data.output:
        return request, None
    if data.output[0].get("object") == "response":
        # Of a stream.
        return request, responses.read_answer(json_text(data.output[0]))
    choices = [{"message": message, "finish_reason": None} for message in data.output]
    answer = chat_completions.read_answer(json_text({"model": data.model, "choices": choices}))
    usage = as_object(data.usage)
    counted = compose_usage(input=usage.get("input_tokens"), output=usage.get("output_tokens"))
    return request, answer._replace(usage=counted, is_complete=True)


def _read_request(adapter: Adapter, body: Json) -> LlmRequest | None:
    return read_or_none(adapter.read_request, json_text(body), "")


#: Spans of model calls.
_MODELS = {"response": (_read_response, "responses.create"), "generation": (_read_generation, "get_response")}
