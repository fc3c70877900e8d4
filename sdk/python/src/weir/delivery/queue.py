"""The events that wait to be sent: in memory, oldest first, bounded by count and bytes."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import NamedTuple

from weir.limits import BATCH_EVENTS_MAX, BODY_BYTES_MAX, EVENT_BYTES_MAX, QUEUE_BYTES_MAX, QUEUE_EVENTS_MAX


class QueuedEvent(NamedTuple):
    """A snapshot of an event, as JSON in UTF-8."""

    id: str
    data: bytes
    #: ``time.monotonic()`` of its recording.
    at: float


class Queue:
    """Not thread-safe. Taken events count until they are settled."""

    def __init__(self) -> None:
        self._events: deque[QueuedEvent] = deque()
        self._taken = self._taken_bytes = 0
        self.bytes = 0

    def __len__(self) -> int:
        return len(self._events)

    def push(self, event: QueuedEvent) -> bool:
        """False when the event does not fit: the newest is dropped, so that waiting events stay in order."""
        is_full = len(self._events) + self._taken >= QUEUE_EVENTS_MAX
        if is_full or self.bytes + self._taken_bytes + len(event.data) > QUEUE_BYTES_MAX:
            return False
        self._events.append(event)
        self.bytes += len(event.data)
        return True

    def take(self) -> list[QueuedEvent]:
        """The oldest events of one request. They count against the bounds until ``settle``."""
        taken: list[QueuedEvent] = []
        size = 0
        while self._events and len(taken) < BATCH_EVENTS_MAX:
            # One byte for the comma.
            size += len(self._events[0].data) + 1
            if taken and size > EVENT_BYTES_MAX:
                break
            taken.append(self._events.popleft())
        self._account(taken, 1)
        return taken

    def take_before(self, at: float) -> list[QueuedEvent]:
        taken = []
        while self._events and self._events[0].at < at:
            taken.append(self._events.popleft())
        self._account(taken, 1)
        return taken

    def settle(self, events: Iterable[QueuedEvent]) -> None:
        """Frees the room of taken events, which were delivered or dropped."""
        for event in events:
            self._taken -= 1
            self._taken_bytes -= len(event.data)

    def _account(self, events: Iterable[QueuedEvent], sign: int) -> None:
        for event in events:
            self.bytes -= sign * len(event.data)
            self._taken += sign
            self._taken_bytes += sign * len(event.data)


assert EVENT_BYTES_MAX < BODY_BYTES_MAX
