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

    #: Where they are on disk; None when they are in memory.
    segment: Segment | None
    #: The events that are not settled yet.
    events: list[QueuedEvent]
    #: In memory until the batch is released.
    bytes: int = 0


class BatchSource:
    """With a spool an event is on disk until Weir has it. Memory holds those that the disk has no room for.

    Not thread-safe.
    """

    def __init__(self, spool: FileSpool | None, counters: Counters) -> None:
        self.spool = spool
        self._counters = counters
        #: Oldest first. With the batch and what is deferred they are bounded by count and bytes.
        self._memory: deque[QueuedEvent] = deque()
        self._memory_bytes = 0
        #: What records events that are not composed yet, each with its bytes.
        self.deferred: deque[tuple[Callable[[], None], int]] = deque()
        #: The batch of the request in flight, or of a failed one, which is sent again.
        self.batch: Batch | None = None

    @property
    def pending(self) -> int:
        return self._in_memory + (self.spool.events if self.spool else 0)

    @property
    def bytes(self) -> int:
        return self._bytes_in_memory + (self.spool.bytes if self.spool else 0)

    def push(self, event: QueuedEvent) -> bool:
        """False when neither the disk nor memory has room: the newest is dropped, so that the others stay in order."""
        if self.spool is not None and self.spool.append(event):
            return True
        has_room = self._has_room(len(event.data))
        if has_room:
            self._memory.append(event)
            self._memory_bytes += len(event.data)
        return has_room

    def defer(self, record: Callable[[], None], size: int) -> bool:
        """Keeps what records an event, of about this size. False with a spool, or without room."""
        # A large event needs a module to be shortened, which the thread of the sender must not import.
        if self.spool is not None or size > limits.FLUSH_BYTES or not self._has_room(size):
            return False
        self.deferred.append((record, size))
        self._memory_bytes += size
        return True

    def take_deferred(self) -> Callable[[], None] | None:
        """What was deferred first, and now has to be called. It may push events."""
        if not self.deferred:
            return None
        record, size = self.deferred.popleft()
        self._memory_bytes -= size
        return record

    def next(self) -> Batch | None:
        """The batch to send now, which is pending until ``release``: of a failed request the same one again."""
        self.expire()
        if self.batch is None or not self.batch.events:
            self.release()
            # Memory first: its events are lost in a crash.
            self.batch = self._from_memory() or (self.spool.next(self._counters.drop) if self.spool else None)
        return self.batch

    def release(self) -> None:
        """Frees the memory or the disk space of the batch, whose events are settled."""
        batch, self.batch = self.batch, None
        if batch is not None and batch.segment is not None and self.spool is not None:
            self.spool.release()

    def expire(self) -> None:
        """Drops what is too old in memory, if there is no spool."""
        oldest = time.monotonic() - limits.MEMORY_AGE_MAX_S if self.spool is None else 0.0
        in_batch = sum(event.at < oldest for event in self._batch_in_memory)
        del self._batch_in_memory[:in_batch]
        in_queue = 0
        while self._memory and self._memory[0].at < oldest:
            self._pop()
            in_queue += 1
        self._counters.drop("expired", in_batch + in_queue)

    def save_all(self) -> None:
        """At the end: what is in memory goes to the spool, or is dropped and counted."""
        unsaved = [*self._batch_in_memory, *self._memory]
        self._memory.clear()
        self.batch = None
        lost = [event for event in unsaved if self.spool is None or not self.spool.append(event)]
        self._counters.drop("queue_full" if self.spool else "unsent", len(lost) + len(self.deferred))
        self._counters.recorded += len(self.deferred)
        self.deferred.clear()

    @property
    def _batch_in_memory(self) -> list[QueuedEvent]:
        return self.batch.events if self.batch is not None and self.batch.segment is None else []

    @property
    def _in_memory(self) -> int:
        return len(self._memory) + len(self._batch_in_memory) + len(self.deferred)

    @property
    def _bytes_in_memory(self) -> int:
        return self._memory_bytes + (self.batch.bytes if self.batch else 0)

    def _has_room(self, size: int) -> bool:
        return self._in_memory < limits.QUEUE_EVENTS_MAX and self._bytes_in_memory + size <= limits.QUEUE_BYTES_MAX

    def _from_memory(self) -> Batch | None:
        events: list[QueuedEvent] = []
        size = 0
        while self._memory and len(events) < limits.BATCH_EVENTS_MAX:
            if events and size + len(self._memory[0].data) >= limits.EVENT_BYTES_MAX:
                break
            events.append(self._pop())
            # One byte for the comma.
            size += len(events[-1].data) + 1
        return Batch(None, events, size) if events else None

    def _pop(self) -> QueuedEvent:
        event = self._memory.popleft()
        self._memory_bytes -= len(event.data)
        return event
