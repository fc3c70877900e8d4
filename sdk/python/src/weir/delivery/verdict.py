"""How to proceed after a response, by the retry rules (docs/api.md §7.1)."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable
from email.utils import parsedate_to_datetime
from typing import Literal, NamedTuple

from weir.limits import RETRY_AFTER_MAX_S
from weir.reports import DropReason

_NEVER = float("inf")


class Verdict(NamedTuple):
    """``pause``: no request will be accepted until something changes elsewhere."""

    kind: Literal["accepted", "bad_event", "too_large", "retry", "pause"]
    cause: str = ""
    #: ``error.details`` of docs/api.md §7; empty when the response is not from Weir.
    details: str = ""
    #: The first invalid event, if the response names it.
    event_index: int | None = None
    #: Seconds before which no request may be sent.
    after: float = 0
    reason: DropReason = "refused"
    #: ``Weir-Batch-Id`` of a 202.
    batch_id: str | None = None


def judge(status: int, header: Callable[[str], str | None], content: bytes = b"") -> Verdict:
    details, location = _read_details(content), header("Location")
    cause = ": ".join(filter(None, (f"status {status}", details or (location and f"It redirects to {location}"))))
    if status == 202:
        return Verdict("accepted", batch_id=header("Weir-Batch-Id"))
    if status == 400:
        named = re.search(r"\bevents\[(\d+)\]", details)
        return Verdict("bad_event", cause, details, event_index=int(named[1]) if named else None)
    if status == 413:
        return Verdict("too_large", cause, details)
    if status == 402:
        return Verdict("pause", cause, after=_seconds(header("Weir-Quota-Reset"), _NEVER), reason="quota")
    # Any other 2xx comes from a proxy, such as a captive portal: the events are not stored. Retry later.
    if status in (408, 429) or status >= 500 or 200 <= status < 300:
        return Verdict("retry", cause, after=min(_seconds(header("Retry-After"), 0), RETRY_AFTER_MAX_S))
    return Verdict("pause", cause, after=_NEVER, reason="unauthorized" if status == 401 else "refused")


def _read_details(content: bytes) -> str:
    try:
        return str(json.loads(content)["error"]["details"] or "")
    except (ValueError, KeyError, TypeError):
        return ""


def _seconds(header: str | None, default: float) -> float:
    """Seconds or a date (RFC 9110 §10.2.3)."""
    if header is None or header.isdecimal():
        return default if header is None else float(header)
    try:
        return max(0.0, parsedate_to_datetime(header).timestamp() - time.time())
    except (ValueError, OverflowError):
        return default
