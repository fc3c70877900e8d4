"""What the integrations of frameworks share. A framework reports runs; each model call and tool call is one event."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from weir.calls.activity import Activity
from weir.event.errors import describe_error
from weir.event.json_text import JsonText
from weir.event.scope import Frame, ModelRun, Scope, current_scope, set_scope
from weir.event.types import EventError, create_uuid, drop_none
from weir.limits import RUNS_MAX
from weir.operation import Operation
from weir.recorder import Recorder
from weir.wire.adapter import LlmAnswer, LlmRequest, compose_llm

if TYPE_CHECKING:
    from weir.api import Weir

T = TypeVar("T")


def client_of(client: Weir | None) -> Weir:
    """A client, by default the one that the functions of ``weir`` use. ``init`` may give it another recorder."""
    import weir

    return client or weir.client()


class Run(Operation):
    """A run that a framework reported: a chain, an agent, a tool or a model call."""

    def __init__(self, recorder: Recorder, package: str, scope: Scope | None = None, data: Any = None) -> None:
        super().__init__(recorder)
        #: The scope of what the run calls; ``outer`` is that of its own event.
        self.outer = self.inner = scope or current_scope()
        self.data = data
        self._package = package
        self._previous = current_scope()
        self._frame = Frame()
        #: The scope that it was begun in, and the name that the other runs of its batch share.
        self.around = self.outer
        self.batch: str | None = None

    def as_span(self, name: str) -> Run:
        self.inner = self.outer.inside(name)
        return self

    def as_tool(self, name: str) -> Run:
        """A decorated function or an observed session of MCP below does not record the call again."""
        self.inner = self.outer._replace(parent_event_id=self.id, reported_tool=name)
        return self

    def as_model(self) -> Run:
        """An observed client below records the call, with more than the framework knows."""
        self.inner = self.outer._replace(model_run=ModelRun())
        return self

    def enter(self) -> None:
        """For frameworks that report in the context of the running code."""
        self._frame.inner = self.inner = self.inner._replace(frame=self._frame)
        set_scope(self.inner)

    def leave(self) -> None:
        self._frame.outside = self._previous

    def end_model(
        self,
        request: LlmRequest | None,
        answer: LlmAnswer | None,
        error: EventError | None = None,
        *,
        source: str,
        function: str,
        first_ms: float | None = None,
    ) -> None:
        if answer is not None and answer.response_id is not None:
            self.recorder.compose()
            is_observed = answer.response_id in self.recorder.observed_responses
        else:
            is_observed = self.inner.model_run is not None and self.inner.model_run.is_observed
        if not is_observed and self.end():
            llm = compose_llm(request, answer, timeToFirstChunkMs=first_ms)
            self.record("llm", (source, self._package, function), llm, error)

    def end_tool(
        self,
        name: str,
        given: Any,
        output: Any = None,
        error: EventError | None = None,
        *,
        function: str,
        call_id: str | None = None,
    ) -> None:
        tool = drop_none({"name": name, "callId": call_id, "input": given})
        if error is None:
            tool["output"] = output
        if self.end():
            self.record("tool", (name, self._package, function), tool, error)


class RunOf(Activity):
    """A run that is a call of a function: ``end_run`` gets its result or its error."""

    def __init__(self, run: Run, end_run: Callable[[Any, EventError | None], None]) -> None:
        super().__init__(run.inner)
        self._end_run = end_run

    def end(self, value: object) -> None:
        self._end_run(value, None)

    def fail(self, error: BaseException) -> None:
        self._end_run(None, describe_error(error))


class Runs:
    """The runs in progress, by the framework's ids. The oldest is forgotten when there are too many."""

    def __init__(self, client: Weir | None, package: str) -> None:
        self.client = client_of(client)
        self._package = package
        self._runs: dict[Any, Run] = {}

    def open(
        self,
        run_id: Any,
        parent_id: Any,
        data: Any,
        change: Callable[[Scope], Scope],
        *,
        trace_id: str | None = None,
        name: str | None = None,
    ) -> Run:
        """Begins a run: inside of its parent, or of the running code's scope, or of a new trace.

        Args:
            name: of a run that may be one of a batch, which begin one after another in the same code.
        """
        parent = self._runs.get(parent_id)
        if parent is not None:
            # What begins in it now is in its code.
            parent.batch = None
        around = parent.inner if parent is not None else self._scope_around(name)
        scope = around if around.trace_id is not None else around.of_trace(trace_id or create_uuid())
        run = self._runs[run_id] = Run(self.client.recorder, self._package, change(scope), data)
        run.around, run.batch = around, name if parent is None else None
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

    def _scope_around(self, name: str | None) -> Scope:
        """The running code's scope. Of the runs of a batch none is inside of the one that began before it."""
        scope = current_scope()
        last = next((run for run in reversed(list(self._runs.values())) if run.inner is scope), None)
        return last.around if last is not None and last.batch is not None and last.batch == name else scope


def read_or_none(read: Callable[..., T], *reported: Any) -> T | None:
    """What ``read`` knows of a framework's objects; None for other shapes, which must raise nothing there."""
    try:
        return read(*reported)
    except Exception:
        return None


def as_json(text: Any) -> Any:
    """Arguments and results of tools are texts, most often JSON."""
    try:
        return JsonText(text) if isinstance(text, str) and isinstance(json.loads(text), (dict, list)) else text
    except (ValueError, RecursionError):
        return text
