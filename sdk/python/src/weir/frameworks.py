"""What the integrations of frameworks share. A framework reports runs; each model call and tool call is one event."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

from weir.event.json_text import JsonText
from weir.event.scope import ModelRun, Scope, create_level, current_scope, entered, set_scope
from weir.event.types import Event, EventError, Json, create_uuid, drop_none
from weir.limits import RUNS_MAX
from weir.recorder import Recorder
from weir.wire.adapter import LlmAnswer, LlmRequest, compose_llm


class Run:
    """A run that a framework reported: a chain, an agent, a tool or a model call."""

    def __init__(self, outer: Scope, data: Any) -> None:
        #: The scope around the run, in which its own event is recorded, and that of what it runs.
        self.outer = self.inner = outer
        self.data = data
        self.event_id = create_uuid()
        self.start_ms = time.time() * 1000
        self._started = time.monotonic()
        self._previous = current_scope()

    def as_span(self, name: str) -> Run:
        self.inner = self.outer.inside(create_level(name))
        return self

    def as_tool(self, name: str) -> Run:
        """A decorated function or an observed session of MCP below does not record the call again."""
        self.inner = self.outer._replace(parent_event_id=self.event_id, reported_tool=name)
        return self

    def as_model(self) -> Run:
        """An observed client below records the call, with more than the framework knows."""
        self.inner = self.outer._replace(model_run=ModelRun())
        return self

    @property
    def elapsed_ms(self) -> float:
        return round((time.monotonic() - self._started) * 1000, 3)

    def enter(self) -> None:
        """For frameworks that report in the context of the running code."""
        set_scope(self.inner)

    def leave(self) -> None:
        if current_scope() is self.inner:
            set_scope(self._previous)


class Runs:
    """The runs in progress, by the framework's ids. The oldest is forgotten when there are too many."""

    def __init__(self) -> None:
        self._runs: dict[Any, Run] = {}

    def open(
        self, run_id: Any, parent_id: Any, data: Any, change: Callable[[Scope], Scope], trace_id: str | None
    ) -> Run:
        """Begins a run: inside of its parent, or of the running code's scope, or of a new trace."""
        parent = self._runs.get(parent_id)
        scope = parent.inner if parent is not None else current_scope()
        if scope.trace_id is None:
            scope = scope.of_trace(trace_id or create_uuid())
        run = self._runs[run_id] = Run(change(scope), data)
        if len(self._runs) > RUNS_MAX:
            self._runs.pop(next(iter(self._runs)), None)
        return run

    def get(self, run_id: Any) -> Run | None:
        return self._runs.get(run_id)

    def close(self, run_id: Any) -> Run | None:
        run = self._runs.pop(run_id, None)
        if run is not None:
            run.leave()
        return run


class Reporter:
    """Records the events of a framework's runs."""

    def __init__(self, recorder: Recorder, package: str) -> None:
        self._recorder = recorder
        self._package = package

    @property
    def is_enabled(self) -> bool:
        return self._recorder.is_enabled

    def model(
        self,
        run: Run,
        request: LlmRequest | None,
        answer: LlmAnswer | None,
        error: EventError | None = None,
        *,
        source: str,
        function: str,
        first_ms: float | None = None,
    ) -> None:
        if not self._is_observed(run, answer):
            llm = compose_llm(request, answer, timeToFirstChunkMs=first_ms)
            self._record(run, "llm", source, function, llm, error)

    def tool(
        self,
        run: Run,
        name: str,
        given: Any,
        output: Any = None,
        error: EventError | None = None,
        *,
        function: str,
        call_id: str | None = None,
    ) -> None:
        payload = drop_none({"name": name, "callId": call_id, "input": given})
        if error is None:
            payload["output"] = output
        self._record(run, "tool", name, function, payload, error)

    def _is_observed(self, run: Run, answer: LlmAnswer | None) -> bool:
        if answer is not None and answer.response_id is not None:
            return answer.response_id in self._recorder.observed_responses
        return run.inner.model_run is not None and run.inner.model_run.is_observed

    def _record(self, run: Run, kind: Any, source: str, function: str, payload: Json, error: EventError | None) -> None:
        event: Event = {
            "id": run.event_id,
            "type": kind,
            "startTimeMs": run.start_ms,
            "durationMs": run.elapsed_ms,
            "status": {"state": "error", "error": error} if error else {"state": "ok"},
            "instrumentation": {"source": source, "sourcePackage": self._package, "sourceFunction": function},
            "properties": {kind: payload},
        }
        with entered(run.outer):
            self._recorder.record(event)


def as_json(text: Any) -> Any:
    """Arguments and results of tools are texts, most often JSON."""
    try:
        return JsonText(text) if isinstance(text, str) and isinstance(json.loads(text), (dict, list)) else text
    except (ValueError, RecursionError):
        return text
