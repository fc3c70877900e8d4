"""Sends a batch, and repeats it without the events that Weir rejects."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import NamedTuple

from weir.delivery.counters import Counters
from weir.delivery.link import Link
from weir.delivery.source import QueuedEvent
from weir.delivery.verdict import Verdict
from weir.limits import ISOLATE_ROUNDS_MAX
from weir.reports import Receipt


class Courier(NamedTuple):
    link: Link
    counters: Counters
    on_accepted: Callable[[Receipt], object] | None
    #: Held while events leave a batch and are counted: ``flush`` looks at both.
    settling: AbstractContextManager[object]

    def deliver(self, events: list[QueuedEvent]) -> Verdict:
        """Sends a batch, and again without the events that Weir rejects, or in parts.

        Removes settled events from ``events``; the others can be sent again with the same ids and bytes.

        Returns:
            ``accepted`` when all are settled, or why Weir takes none at present.
        """
        size, attempts = len(events), 0
        while events:
            size = min(size, len(events))
            verdict = self.post(events[:size])
            attempts += 1
            index = verdict.event_index
            if verdict.kind in ("retry", "pause"):
                return verdict
            if verdict.kind == "accepted":
                self._settle_accepted(events, size, verdict)
                size, attempts = 2 * size, 0
            elif size == 1:
                # A 400 that names no event: the body was damaged in transit, or a proxy rejects it, each time.
                if verdict.kind == "too_large" or index is not None or attempts == ISOLATE_ROUNDS_MAX:
                    self._drop(events, 0, verdict)
                    attempts = 0
            elif index is not None and index < size and attempts <= ISOLATE_ROUNDS_MAX:
                self._drop(events, index, verdict)
                size -= 1
            else:
                size, attempts = (size + 1) // 2, 0
        return Verdict("accepted")

    def post(self, events: Sequence[QueuedEvent]) -> Verdict:
        """Sends events, or none to find out whether events are accepted without risking any."""
        return self.link.post(b'{"events":[' + b",".join(event.data for event in events) + b"]}")

    def _drop(self, events: list[QueuedEvent], index: int, verdict: Verdict) -> None:
        with self.settling:
            self.counters.drop("too_large" if verdict.kind == "too_large" else "rejected", 1, verdict.details)
            del events[index]

    def _settle_accepted(self, events: list[QueuedEvent], count: int, verdict: Verdict) -> None:
        receipt = Receipt([event.id for event in events[:count]], verdict.batch_id)
        with self.settling:
            self.counters.accepted += count
            del events[:count]
        try:
            if self.on_accepted is not None:
                self.on_accepted(receipt)
        except Exception:
            # The application's own problem; delivery goes on.
            pass
