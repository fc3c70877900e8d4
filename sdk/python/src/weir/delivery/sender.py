"""Sends events to Weir, one request at a time, in a thread of its own."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple, Protocol

from weir.delivery.address import Address
from weir.delivery.backoff import Backoff
from weir.delivery.batch import Delivery, Receipt, deliver_batch, post_events
from weir.delivery.counters import Counters, DropReason
from weir.delivery.notices import Notices
from weir.delivery.queue import QueuedEvent
from weir.delivery.source import Batch, BatchSource
from weir.delivery.verdict import Answer, Verdict
from weir.limits import FLUSH_BYTES, FLUSH_EVENTS, FLUSH_INTERVAL_S, HEARTBEAT_S, PROBE_INTERVAL_S

_FAULTS: dict[DropReason, str] = {
    "unauthorized": "refuses the API key",
    "quota": "takes no more events at present",
    "refused": "is not Weir's ingest: check WEIR_URL, or the option url",
}

if TYPE_CHECKING:
    from weir.spool.file_spool import FileSpool


class Post(Protocol):
    """The connection to Weir: a ``Link``."""

    #: Seconds for connecting, and for each read.
    timeout: float

    def post(self, body: bytes) -> Answer: ...
    def close(self) -> None: ...


class SenderOptions(NamedTuple):
    address: Address
    link: Post
    spool: FileSpool | None
    #: On 402: keep events in the spool until the quota resets.
    keeps_on_quota: bool
    on_accepted: Callable[[Receipt], object] | None


class Sender:
    """The sender of one process: the child of a fork has another one.

    Every attribute is guarded by ``_changed``. Requests are sent outside of it, under ``_pumping``.
    """

    def __init__(self, options: SenderOptions, counters: Counters, notices: Notices) -> None:
        self._options = options
        self._counters = counters
        self._notices = notices
        self._source = BatchSource(options.spool, counters)
        # Reentrant: a signal handler of the application may record while its thread is in here.
        self._changed = threading.Condition(threading.RLock())
        self._delivery = Delivery(options.link.post, counters, options.on_accepted, self._changed)
        self._backoff = Backoff()
        self._pumping = threading.Lock()
        self._thread: threading.Thread | None = None
        self._is_stopped = self._is_draining = self._is_idle = self._is_woken = False
        self._pause: Verdict | None = None
        self._failure = "no answer in time"
        self._failures = 0
        self._first_at = 0.0

    @property
    def pending(self) -> int:
        return self._source.pending

    @property
    def spooled(self) -> int:
        return self._source.spool.events if self._source.spool else 0

    @property
    def refusal(self) -> DropReason | None:
        """Why new events are dropped at once: Weir takes none of them, and there is no spool."""
        pause = self._pause
        return pause.reason if pause is not None and self._must_drop(pause.reason) else None

    def push(self, event: QueuedEvent) -> bool:
        """Takes an event. False when there is no room, or after ``stop``."""
        with self._changed:
            if self._is_stopped or not self._source.push(event):
                return False
            if self._first_at == 0.0:
                self._first_at = time.monotonic()
            self.wake()
            return True

    def wake(self) -> None:
        """Starts the thread, or tells it of events. Cheap, because it is called after every event."""
        with self._changed:
            if self._thread is None:
                self._start()
            elif not self._is_woken and (self._is_idle or (self._is_due and self._backoff.wait == 0)):
                self._is_woken = True
                self._changed.notify_all()

    def drain(self, timeout: float, *, once: bool = False) -> None:
        """Sends what is pending now, until ``timeout`` in seconds. With ``once``, until a request fails."""
        deadline = time.monotonic() + timeout
        with self._changed:
            goal = self._counters.settled + self._source.pending
            failures = self._failures
            self._backoff.skip_jitter()
            while self._source.pending and self._counters.settled < goal:
                left = deadline - time.monotonic()
                if left <= 0 or self._is_stopped or (once and self._failures > failures):
                    break
                if self._pause is not None and self._backoff.wait > left:
                    break
                self._is_draining = True
                if self._thread is None and not self._start():
                    break
                self._changed.notify_all()
                self._changed.wait(min(left, 0.5))
            self._is_draining = False
            is_alone = self._thread is None and not self._is_stopped
        if is_alone:
            # At the end of the interpreter no thread can be started.
            self._is_draining = True
            self._options.link.timeout = max(0.1, deadline - time.monotonic())
            self._pump()
            self._is_draining = False

    def say_pending(self) -> None:
        """Says once that a flush ended with pending events. The reason of a pause was said already."""
        if self.pending and self._pause is None:
            self._say("pending", f"has not taken {self.pending} events ({self._failure}).")

    def stop(self) -> None:
        """Ends the thread. What is in memory goes to the spool, or is dropped."""
        with self._changed:
            self._is_stopped = True
            self._source.save_all()
            if self._source.spool is not None:
                self._source.spool.close()
            if self._thread is None:
                self._options.link.close()
            self._changed.notify_all()

    def leave(self) -> None:
        """For the child of a fork, where the thread does not exist: the events belong to the parent."""
        self._is_stopped = True
        if self._options.spool is not None:
            self._options.spool.leave()

    def _start(self) -> bool:
        thread = threading.Thread(target=self._run, name="weir-sender", daemon=True)
        try:
            thread.start()
        except RuntimeError:
            # "can't start new thread": the events wait for the next one, or for a flush.
            return False
        self._thread = thread
        return True

    @property
    def _is_due(self) -> bool:
        source = self._source
        return self._is_draining or source.is_retrying or source.pending >= FLUSH_EVENTS or source.bytes >= FLUSH_BYTES

    def _run(self) -> None:
        while True:
            with self._changed:
                while not self._is_stopped and (wait := self._wait) > 0:
                    self._is_idle, self._is_woken = self._source.pending == 0, False
                    if not self._changed.wait(wait) and self._source.spool is not None:
                        self._source.spool.adopt()
                if self._is_stopped:
                    return self._options.link.close()
                self._is_idle = False
            self._pump()
            if self._counters.report_wait == 0:
                self._counters.report()

    @property
    def _wait(self) -> float:
        """Seconds until there is something to do."""
        waits = [HEARTBEAT_S]
        if self._source.pending:
            age = time.monotonic() - self._first_at
            waits.append(max(0 if self._is_due else FLUSH_INTERVAL_S - age, self._backoff.wait))
        elif self._pause is not None:
            waits.append(self._backoff.wait)
        report = self._counters.report_wait
        return min(waits if report is None else [*waits, report])

    def _pump(self) -> None:
        """Sends the events that are due. It never raises: the thread must not end."""
        is_more = True
        while is_more:
            try:
                with self._pumping:
                    is_more = self._send_next()
            except Exception as error:
                is_more = False
                self._failure = f"{type(error).__name__}: {error}"
                self._failures += 1
                self._backoff.fail(0)
            with self._changed:
                self._changed.notify_all()

    def _send_next(self) -> bool:
        """Sends a batch. True when another one is due."""
        with self._changed:
            if self._is_stopped or self._backoff.wait > 0:
                return False
        if not self._may_resume():
            return False
        with self._changed:
            batch = None if self._is_stopped else self._source.next()
            if batch is None:
                self._first_at = 0.0
                return False
        outcome = self._deliver(batch)
        with self._changed:
            if self._is_stopped:
                return False
            if outcome is not None:
                self._fail(batch, outcome)
                return False
            self._backoff.reset()
            self._source.release(batch)
            self._first_at = time.monotonic() if self._source.pending else 0.0
            return self._is_due and self._source.pending > 0

    def _deliver(self, batch: Batch) -> Verdict | None:
        """Before events are dropped, an empty batch confirms the answer: the request may have been damaged."""
        outcome = deliver_batch(self._delivery, batch.events)
        if outcome is None or outcome.kind != "pause" or not self._must_drop(outcome.reason):
            return outcome
        _, again = post_events(self._delivery, [])
        return again if again.kind == "pause" else Verdict("retry", outcome.cause)

    def _fail(self, batch: Batch, outcome: Verdict) -> None:
        self._failures += 1
        if outcome.kind == "retry":
            self._failure = outcome.cause
            self._backoff.fail(outcome.after)
        else:
            self._start_pause(outcome)
        if outcome.kind == "pause" and self._must_drop(outcome.reason):
            self._drop_all(batch, outcome.reason)
        else:
            self._source.keep(batch)

    def _drop_all(self, first: Batch, reason: DropReason) -> None:
        batch: Batch | None = first
        while batch is not None:
            self._counters.drop(reason, len(batch.events))
            batch.events.clear()
            self._source.release(batch)
            batch = self._source.next()

    def _may_resume(self) -> bool:
        """During a pause an empty batch finds out whether it is over."""
        if self._pause is None:
            return True
        _, verdict = post_events(self._delivery, [])
        with self._changed:
            if verdict.kind == "retry":
                self._backoff.fail(verdict.after)
            elif verdict.kind == "pause":
                self._start_pause(verdict)
            else:
                if self._pause.reason == "quota" and self._source.spool is not None:
                    self._source.spool.renew()
                self._pause = None
                self._backoff.reset()
            return self._pause is None

    def _start_pause(self, verdict: Verdict) -> None:
        self._pause = verdict
        fate = "dropped" if self._must_drop(verdict.reason) else "kept"
        self._say(verdict.reason, f"{_FAULTS[verdict.reason]} ({verdict.cause}). Events are {fate}.")
        self._backoff.hold(min(PROBE_INTERVAL_S, verdict.after))

    def _must_drop(self, reason: DropReason) -> bool:
        # `refused` comes from a proxy or a wrong URL and may pass. docs/api.md §7.1 forbids a retry after the others.
        if reason == "refused":
            return False
        return self._options.spool is None or (reason == "quota" and not self._options.keeps_on_quota)

    def _say(self, problem: str, text: str) -> None:
        self._notices.say(problem, f"{self._options.address.origin} {text}")
