"""The batches that wait to be sent: from memory, and from the spool."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, NamedTuple

from weir.delivery.counters import Counters
from weir.delivery.queue import Queue, QueuedEvent
from weir.limits import MEMORY_AGE_MAX_S

if TYPE_CHECKING:
    from weir.spool.file_spool import FileSpool
    from weir.spool.segment import Segment


class Batch(NamedTuple):
    """Events that are sent together, and where they come from."""

    #: The events that are not settled yet.
    events: list[QueuedEvent]
    taken: tuple[QueuedEvent, ...]
    segment: Segment | None


class BatchSource:
    """With a spool an event is on disk until Weir has it. Memory holds those that the disk has no room for.

    Not thread-safe.
    """

    def __init__(self, spool: FileSpool | None, counters: Counters) -> None:
        self.spool = spool
        self._counters = counters
        self._queue = Queue()
        #: The batch of a failed request, and that of a request in flight.
        self._kept: Batch | None = None
        self._in_flight: Batch | None = None

    @property
    def is_retrying(self) -> bool:
        return self._kept is not None

    @property
    def pending(self) -> int:
        batch = self._kept or self._in_flight
        in_batch = len(batch.events) if batch is not None and batch.segment is None else 0
        return len(self._queue) + in_batch + (self.spool.events if self.spool else 0)

    @property
    def bytes(self) -> int:
        return self._queue.bytes + (self.spool.bytes if self.spool else 0)

    def push(self, event: QueuedEvent) -> bool:
        """False when neither the disk nor memory has room for the event."""
        return (self.spool is not None and self.spool.append(event)) or self._queue.push(event)

    def next(self) -> Batch | None:
        """The batch to send now; it is pending until ``release`` or ``keep``."""
        self.expire()
        batch, self._kept = self._kept, None
        if batch is not None and not batch.events:
            self.release(batch)
            batch = None
        # Memory first: its events are lost in a crash.
        self._in_flight = batch or self._from_memory() or self._from_spool()
        return self._in_flight

    def release(self, batch: Batch) -> None:
        """Frees the memory or the disk space of a batch whose events are settled."""
        self._in_flight = None
        if batch.segment is None:
            self._queue.settle(batch.taken)
        elif self.spool is not None:
            self.spool.release(batch.segment)

    def keep(self, batch: Batch) -> None:
        """Keeps a batch whose request failed."""
        self._in_flight, self._kept = None, batch
        self.expire()

    def expire(self) -> None:
        """Drops what is too old in memory, if there is no spool."""
        if self.spool is not None:
            return
        oldest = time.monotonic() - MEMORY_AGE_MAX_S
        expired = self._queue.take_before(oldest)
        self._queue.settle(expired)
        lost = len(expired)
        if self._kept is not None:
            kept = self._kept.events
            fresh = [event for event in kept if event.at >= oldest]
            lost += len(kept) - len(fresh)
            kept[:] = fresh
        self._counters.drop("expired", lost)

    def save_all(self) -> None:
        """At the end: what is in memory goes to the spool, or is dropped and counted."""
        batch = self._kept or self._in_flight
        unsaved = list(batch.events) if batch is not None and batch.segment is None else []
        while taken := self._queue.take():
            self._queue.settle(taken)
            unsaved += taken
        self._kept = self._in_flight = None
        spool = self.spool
        lost = [event for event in unsaved if spool is None or not spool.append(event)]
        self._counters.drop("queue_full" if spool else "unsent", len(lost))

    def _from_memory(self) -> Batch | None:
        events = self._queue.take()
        return Batch(events, tuple(events), None) if events else None

    def _from_spool(self) -> Batch | None:
        found = self.spool.next(self._counters.drop) if self.spool else None
        return Batch(found[1], (), found[0]) if found else None
