"""Sends a batch, and repeats it without the events that Weir rejects."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import NamedTuple

from weir.delivery.counters import Counters
from weir.delivery.queue import QueuedEvent
from weir.delivery.verdict import Answer, Verdict, judge
from weir.limits import ISOLATE_ROUNDS_MAX


class Receipt(NamedTuple):
    """Events that are durable in Weir: the argument of ``on_accepted``."""

    event_ids: list[str]
    #: ``weir find ID`` tells where they are.
    batch_id: str | None


class Delivery(NamedTuple):
    """What a delivery needs."""

    post: Callable[[bytes], Answer]
    counters: Counters
    on_accepted: Callable[[Receipt], object] | None
    #: Held while events leave a batch and are counted: ``flush`` looks at both.
    settling: AbstractContextManager[object]


def deliver_batch(delivery: Delivery, events: list[QueuedEvent]) -> Verdict | None:
    """Sends a batch, and again without the events that Weir rejects, or in parts.

    Removes settled events from ``events``; the others can be sent again with the same ids and bytes.

    Returns:
        None when all are settled, or why Weir takes none at present.
    """
    size, attempts = len(events), 0
    while events:
        size = min(size, len(events))
        answer, verdict = post_events(delivery, events[:size])
        attempts += 1
        if verdict.kind in ("retry", "pause"):
            return verdict
        index = verdict.event_index
        if verdict.kind == "accepted":
            _settle_accepted(delivery, events, size, answer)
            size, attempts = 2 * size, 0
        elif size == 1:
            # A 400 that names no event: the body was damaged in transit, or a proxy rejects it, each time.
            if verdict.kind == "too_large" or index is not None or attempts == ISOLATE_ROUNDS_MAX:
                _drop(delivery, events, 0, verdict)
                attempts = 0
        elif index is not None and index < size and attempts <= ISOLATE_ROUNDS_MAX:
            _drop(delivery, events, index, verdict)
            size -= 1
        else:
            size, attempts = (size + 1) // 2, 0
    return None


def post_events(delivery: Delivery, events: Sequence[QueuedEvent]) -> tuple[Answer | None, Verdict]:
    """Sends events, or none to find out whether events are accepted without risking any."""
    body = b'{"events":[' + b",".join(event.data for event in events) + b"]}"
    try:
        answer = delivery.post(body)
    except (OSError, ValueError) as error:
        # The network failed. The batch may be stored: with the same ids it is safe to send it again.
        return None, Verdict("retry", f"{type(error).__name__}: {error}")
    return answer, judge(answer)


def _drop(delivery: Delivery, events: list[QueuedEvent], index: int, verdict: Verdict) -> None:
    with delivery.settling:
        delivery.counters.drop("too_large" if verdict.kind == "too_large" else "rejected", 1, verdict.details)
        del events[index]


def _settle_accepted(delivery: Delivery, events: list[QueuedEvent], count: int, answer: Answer | None) -> None:
    receipt = Receipt([event.id for event in events[:count]], answer.batch_id if answer else None)
    with delivery.settling:
        delivery.counters.accepted += count
        del events[:count]
    if delivery.on_accepted is None:
        return
    try:
        delivery.on_accepted(receipt)
    except Exception:
        # The application's own problem; delivery goes on.
        pass
