"""The batches that wait to be sent: from memory, and from the spool."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from weir import limits
from weir.delivery.counters import Counters

if TYPE_CHECKING:
    from weir.spool.file_spool import FileSpool
    from weir.spool.segment import Segment


class QueuedEvent(NamedTuple):
    """A snapshot of an event, as JSON in UTF-8."""

    id: str
    data: bytes
    #: ``time.monotonic()`` of its recording.
    at: float


class Batch(NamedTuple):
    """Events that are sent together."""

    #: The events that are not settled yet.
    events: list[QueuedEvent]
    #: Where they are on disk; None when they are in memory.
    segment: Segment | None
    #: Bytes in memory until the batch is released.
    bytes: int = 0


class BatchSource:
    """With a spool an event is on disk until Weir has it. Memory holds those that the disk has no room for.

    Not thread-safe.
    """

    def __init__(self, spool: FileSpool | None, counters: Counters) -> None:
        self.spool = spool
        self._counters = counters
        #: Oldest first, bounded by count and bytes, which include those of the batch.
        self._memory: deque[QueuedEvent] = deque()
        self._memory_bytes = 0
        #: What records events that are not composed yet, each with its bytes.
        self._deferred: deque[tuple[Callable[[], None], int]] = deque()
        #: The batch of the request in flight, or of a failed one, which is sent again.
        self._batch: Batch | None = None

    @property
    def has_batch(self) -> bool:
        return self._batch is not None

    @property
    def pending(self) -> int:
        return self._in_memory + (self.spool.events if self.spool else 0)

    @property
    def deferred(self) -> int:
        return len(self._deferred)

    @property
    def bytes(self) -> int:
        return self._memory_bytes + (self.spool.bytes if self.spool else 0)

    def push(self, event: QueuedEvent) -> bool:
        """False when neither the disk nor memory has room: the newest is dropped, so that the others stay in order."""
        if self.spool is not None and self.spool.append(event):
            return True
        if not self._has_room(len(event.data)):
            return False
        self._memory.append(event)
        self._memory_bytes += len(event.data)
        return True

    def defer(self, record: Callable[[], None], size: int) -> bool:
        """Keeps what records an event, of about this size. False with a spool, or without room."""
        # A large event needs a module to be shortened, which the thread of the sender must not import.
        if self.spool is not None or size > limits.FLUSH_BYTES or not self._has_room(size):
            return False
        self._deferred.append((record, size))
        self._memory_bytes += size
        return True

    def take_deferred(self) -> Callable[[], None] | None:
        """What was deferred first, and now has to be called. It may push events."""
        if not self._deferred:
            return None
        record, size = self._deferred.popleft()
        self._memory_bytes -= size
        return record

    def next(self) -> Batch | None:
        """The batch to send now, which is pending until ``release``: of a failed request the same one again."""
        self.expire()
        if self._batch is None or not self._batch.events:
            self.release()
            # Memory first: its events are lost in a crash.
            self._batch = self._from_memory() or self._from_spool()
        return self._batch

    def release(self) -> None:
        """Frees the memory or the disk space of the batch, whose events are settled."""
        batch, self._batch = self._batch, None
        if batch is None:
            return
        self._memory_bytes -= batch.bytes
        if batch.segment is not None and self.spool is not None:
            self.spool.release(batch.segment)

    def expire(self) -> None:
        """Drops what is too old in memory, if there is no spool."""
        if self.spool is not None:
            return
        oldest = time.monotonic() - limits.MEMORY_AGE_MAX_S
        lost = 0
        while self._memory and self._memory[0].at < oldest:
            self._memory_bytes -= len(self._memory.popleft().data)
            lost += 1
        while self._batch is not None and self._batch.events and self._batch.events[0].at < oldest:
            del self._batch.events[0]
            lost += 1
        self._counters.drop("expired", lost)

    def save_all(self) -> None:
        """At the end: what is in memory goes to the spool, or is dropped and counted."""
        unsaved = [*self._batch_in_memory, *self._memory]
        self._memory.clear()
        self._batch = None
        lost = [event for event in unsaved if self.spool is None or not self.spool.append(event)]
        self._counters.drop("queue_full" if self.spool else "unsent", len(lost) + len(self._deferred))
        self._counters.recorded += len(self._deferred)
        self._deferred.clear()

    @property
    def _batch_in_memory(self) -> list[QueuedEvent]:
        return self._batch.events if self._batch is not None and self._batch.segment is None else []

    @property
    def _in_memory(self) -> int:
        return len(self._memory) + len(self._batch_in_memory) + len(self._deferred)

    def _has_room(self, size: int) -> bool:
        return self._in_memory < limits.QUEUE_EVENTS_MAX and self._memory_bytes + size <= limits.QUEUE_BYTES_MAX

    def _from_memory(self) -> Batch | None:
        events: list[QueuedEvent] = []
        size = 0
        while self._memory and len(events) < limits.BATCH_EVENTS_MAX:
            # One byte for the comma.
            size += len(self._memory[0].data) + 1
            if events and size > limits.EVENT_BYTES_MAX:
                break
            events.append(self._memory.popleft())
        return Batch(events, None, sum(len(event.data) for event in events)) if events else None

    def _from_spool(self) -> Batch | None:
        found = self.spool.next(self._counters.drop) if self.spool else None
        return Batch(found[1], found[0]) if found else None
