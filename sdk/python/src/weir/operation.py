"""A call that becomes one event."""

from __future__ import annotations

import os
import time
from typing import Literal

from weir.event.scope import Entered, current_scope
from weir.event.types import Event, EventError, Json, create_uuid
from weir.recorder import Recorder


class Operation:
    """Recorded exactly once, in the scope of its start: at its end other code may be running."""

    def __init__(self, recorder: Recorder) -> None:
        self.recorder = recorder
        self.id = create_uuid()
        self.outer = current_scope()
        self._start_ms = time.time() * 1000
        self._started = time.monotonic()
        self._duration_ms = 0.0
        self._pid = os.getpid()
        self._is_over = False

    def inside(self) -> Operation:
        """Another event of the same times, whose parent is this one."""
        inner = Operation(self.recorder)
        inner.outer = self.outer._replace(parent_event_id=self.id)
        inner._start_ms, inner._duration_ms, inner._is_over = self._start_ms, self._duration_ms, True
        return inner

    @property
    def elapsed_ms(self) -> float:
        return round((time.monotonic() - self._started) * 1000, 3)

    @property
    def is_over(self) -> bool:
        # The child of a fork has a copy of a call that is its parent's to record.
        return self._is_over or self._pid != os.getpid()

    def end(self) -> bool:
        """Stops the time. False when the operation has ended before, or belongs to another process."""
        if self.is_over:
            return False
        self._is_over = True
        self._duration_ms = self.elapsed_ms
        return True

    def record(
        self, kind: Literal["llm", "tool"], origin: tuple[str, str, str], payload: Json, error: EventError | None
    ) -> None:
        """Records the event of an operation that has ended, in its process.

        Args:
            origin: ``source``, ``sourcePackage`` and ``sourceFunction`` of docs/api.md §2.2.
        """
        if self._pid != os.getpid():
            return
        event: Event = {
            "id": self.id,
            "type": kind,
            "startTimeMs": self._start_ms,
            "durationMs": self._duration_ms,
            "status": {"state": "error", "error": error} if error else {"state": "ok"},
            "instrumentation": dict(zip(("source", "sourcePackage", "sourceFunction"), origin, strict=True)),
            "properties": {kind: payload},
        }
        with Entered(self.outer):
            self.recorder.record(event)
