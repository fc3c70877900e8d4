"""Counts recorded, accepted and dropped events since the start of the process."""

from __future__ import annotations

import sys
import threading
import time
from collections import Counter
from collections.abc import Callable

from weir.limits import DROP_REPORT_INTERVAL_S
from weir.reports import DropReason, DropReport


class Notices:
    """Says each problem once: delivery is in the background, where a failure would go unnoticed."""

    def __init__(self) -> None:
        self._said: set[str] = set()

    def say(self, problem: str, text: str) -> None:
        """Logs a warning for the logger ``weir``, which Python prints when nobody has configured logging."""
        if problem in self._said:
            return
        self._said.add(problem)
        # Not imported for this: it takes time, and in a thread a fork could come in between.
        get_logger = getattr(sys.modules.get("logging"), "getLogger", None)
        try:
            if get_logger is not None:
                get_logger("weir").warning("weir: %s", text)
            elif sys.stderr is not None:
                print(f"weir: {text}", file=sys.stderr)
        except Exception:
            # A closed pipe, or a filter of the application: neither may end it, or delivery.
            pass


#: Reasons that the application knows already, from its own doing or from the notice of a pause.
_KNOWN = ("masked", "disabled", "unauthorized", "quota", "refused")


class Counters:
    def __init__(self, notices: Notices, on_drop: Callable[[DropReport], object] | None) -> None:
        self.recorded = self.accepted = self.sampled_out = self.truncated = self.mask_failures = 0
        self.embeddings = 0
        self.dropped: Counter[DropReason] = Counter()
        # Reentrant, because a signal handler may record. The child of a fork has counters of its own.
        self._lock = threading.RLock()
        self._notices = notices
        self._on_drop = on_drop
        self._unreported: Counter[DropReason] = Counter()
        self._details: str | None = None
        self._reported_at = float("-inf")

    @property
    def settled(self) -> int:
        return self.accepted + self.dropped.total()

    def refuse(self, reason: DropReason) -> None:
        """Counts an event that is not taken."""
        self.recorded += 1
        self.drop(reason)

    def drop(self, reason: DropReason, events: int = 1, details: str | None = None) -> None:
        if events == 0:
            return
        with self._lock:
            self.dropped[reason] += events
            if self._on_drop is not None:
                self._unreported[reason] += events
                self._details = details or self._details
        if self._on_drop is None and reason not in _KNOWN:
            self._notices.say(reason, f"events dropped: {events} ({reason}{f': {details}' if details else ''})")

    @property
    def report_wait(self) -> float:
        """Seconds until ``on_drop`` may be called; infinite when there is nothing to report."""
        if not self._unreported:
            return float("inf")
        return max(0.0, self._reported_at + DROP_REPORT_INTERVAL_S - time.monotonic())

    def report(self) -> None:
        """Calls ``on_drop`` now, if drops were not reported yet. Its exceptions must not stop delivery."""
        if not self._unreported or self._on_drop is None:
            return
        with self._lock:
            report = DropReport(dict(self._unreported), self._details)
            self._unreported, self._details = Counter(), None
        self._reported_at = time.monotonic()
        try:
            self._on_drop(report)
        except Exception as error:
            self._notices.say("on_drop", f"on_drop failed: {type(error).__name__}")
