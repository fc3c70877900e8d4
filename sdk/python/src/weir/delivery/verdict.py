"""How to proceed after a response, by the retry rules (docs/api.md §7.1)."""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

from weir.limits import RETRY_AFTER_MAX_S
from weir.reports import DropReason

_NEVER = float("inf")


class Answer(NamedTuple):
    """The response to a request."""

    status: int
    #: ``error.details`` of docs/api.md §7; empty when the response is not from Weir.
    details: str = ""
    #: Seconds of Retry-After, and of Weir-Quota-Reset.
    retry_after: float = 0
    quota_reset: float = _NEVER
    #: Weir-Batch-Id of a 202.
    batch_id: str | None = None


class Verdict(NamedTuple):
    """``pause``: no request will be accepted until something changes elsewhere."""

    kind: Literal["accepted", "bad_event", "too_large", "retry", "pause"]
    cause: str = ""
    #: The ``details`` of Weir's error.
    details: str = ""
    #: The first invalid event, if the response names it.
    event_index: int | None = None
    #: Seconds before which no request may be sent.
    after: float = 0
    reason: DropReason = "refused"
    batch_id: str | None = None


def judge(answer: Answer) -> Verdict:
    status, details = answer.status, answer.details
    cause = f"status {status}: {details}" if details else f"status {status}"
    if status == 202:
        return Verdict("accepted", batch_id=answer.batch_id)
    if status == 400:
        named = re.search(r"\bevents\[(\d+)\]", details)
        return Verdict("bad_event", cause, details, event_index=int(named[1]) if named else None)
    if status == 413:
        return Verdict("too_large", cause, details)
    if status == 402:
        return Verdict("pause", cause, after=answer.quota_reset, reason="quota")
    # Any other 2xx comes from a proxy, such as a captive portal: the events are not stored. Retry later.
    if status in (408, 429) or status >= 500 or 200 <= status < 300:
        return Verdict("retry", cause, after=min(answer.retry_after, RETRY_AFTER_MAX_S))
    return Verdict("pause", cause, after=_NEVER, reason="unauthorized" if status == 401 else "refused")
