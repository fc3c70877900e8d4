"""What the application is told of its events."""

from __future__ import annotations

from typing import Literal, NamedTuple

#: Why events were dropped (docs/sdk-python.md).
DropReason = Literal[
    "queue_full",
    "expired",
    "unsent",
    "damaged",
    "rejected",
    "unauthorized",
    "quota",
    "refused",
    "too_large",
    "unserializable",
    "masked",
    "disabled",
]


class DropReport(NamedTuple):
    """The argument of ``on_drop``: events dropped since its last call, by reason."""

    dropped: dict[DropReason, int]
    #: The ``details`` of Weir's last error, such as ``events[17].durationMs must be a number``.
    details: str | None


class Receipt(NamedTuple):
    """Events that are durable in Weir: the argument of ``on_accepted``."""

    event_ids: list[str]
    #: ``weir find ID`` tells where they are.
    batch_id: str | None


class FlushResult(NamedTuple):
    """Numbers of events since the flush began."""

    #: Durable in Weir.
    accepted: int
    dropped: int
    #: Still in memory or in the spool.
    pending: int


class Stats(NamedTuple):
    """Numbers of events of this process since its start."""

    recorded: int
    accepted: int
    dropped: int
    pending: int
    #: Pending events on disk.
    spooled: int
    #: Not recorded because of ``sample_rate``.
    sampled_out: int
    #: Shortened because they were larger than a request.
    truncated: int
    #: Reduced to metadata because ``mask`` failed.
    mask_failures: int
    #: Calls of embedding APIs by observed clients, which are not recorded: Weir has no type of event for them.
    embeddings: int
    dropped_by_reason: dict[DropReason, int]
