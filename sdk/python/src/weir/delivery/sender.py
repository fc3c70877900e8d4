"""Sends events to Weir, one request at a time, in a thread of its own."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal

from weir import limits
from weir.delivery.counters import Counters
from weir.delivery.courier import Courier
from weir.delivery.link import Link
from weir.delivery.source import BatchSource, QueuedEvent
from weir.delivery.verdict import Verdict
from weir.reports import DropReason, Receipt

if TYPE_CHECKING:
    from weir.spool.file_spool import FileSpool

_FAULTS: dict[DropReason, str] = {
    "unauthorized": "refuses the API key",
    "quota": "takes no more events at present",
    "refused": "is not Weir's ingest: check WEIR_URL, or the option url",
}


#: After this time of composing, a request is sent. A thread that waits for the interpreter gets it in the pauses.
_COMPOSE_MAX_S = 1.0
_COMPOSE_PAUSE_S = 0.0001


class Backoff:
    """When the next request may be sent: at once, or after a random wait below a ceiling that doubles each time."""

    def __init__(self) -> None:
        self._failures = 0
        #: ``flush()`` does not wait for it.
        self.jitter_until = 0.0
        self._held_until = 0.0

    @property
    def wait(self) -> float:
        """Seconds; 0 when a request may be sent now."""
        return max(0.0, max(self.jitter_until, self._held_until) - time.monotonic())

    def fail(self, after: float) -> None:
        """Retry-After gets a jitter, too: otherwise clients that were rejected together come back together."""
        ceiling = min(limits.BACKOFF_MAX_S, limits.BACKOFF_FIRST_S * 2 ** min(self._failures, 16))
        self._failures += 1
        # A number from the module `random` would change the sequence of an application that has seeded it.
        share = int.from_bytes(os.urandom(2), "big") / 2**16
        self.jitter_until = time.monotonic() + after + share * ceiling
        if after > 0:
            self.hold(after)

    def hold(self, seconds: float) -> None:
        """No request before this time, not even for ``flush()``."""
        self._held_until = time.monotonic() + seconds

    reset = __init__


class Sender:
    """The sender of one process: the child of a fork has another one.

    Every attribute is guarded by ``_changed``. Requests are sent outside of it, under ``_pumping``.
    """

    def __init__(
        self,
        link: Link,
        spool: FileSpool | None,
        counters: Counters,
        *,
        keeps_on_quota: bool,
        on_accepted: Callable[[Receipt], object] | None,
        say: Callable[[str, str], None],
    ) -> None:
        """``say`` tells the application of a problem, and ``keeps_on_quota`` keeps events in the spool on 402."""
        self._spool = spool
        self._keeps_on_quota = keeps_on_quota
        self._say = say
        self._counters = counters
        self._source = BatchSource(spool, counters)
        # Reentrant: a signal handler of the application may record while its thread is in here.
        self._changed = threading.Condition(threading.RLock())
        self._courier = Courier(link, counters, on_accepted, self._changed)
        self._backoff = Backoff()
        self._pumping = threading.Lock()
        # Held while a deferred event is composed, so that a flush can wait for it.
        self._composing = threading.RLock()
        self._thread: threading.Thread | None = None
        self._is_stopped = self._is_draining = False
        self._pause: Verdict | None = None
        self._failure = "no answer in time"
        self._failures = 0
        self._first_at = 0.0
        if self.pending:
            # What earlier processes left is sent also by a program that records nothing.
            self._start()

    @property
    def pending(self) -> int:
        return self._source.pending

    @property
    def spooled(self) -> int:
        return self._spool.events if self._spool else 0

    @property
    def refusal(self) -> DropReason | None:
        """Why new events are dropped at once: Weir takes none of them, and there is no spool."""
        pause = self._pause
        return pause.reason if pause is not None and self._must_drop(pause.reason) else None

    def push(self, event: QueuedEvent) -> bool:
        """Takes an event. False when there is no room, or after ``stop``."""
        return self._take(self._source.push, event)

    def defer(self, record: Callable[[], None], size: int) -> bool:
        """Takes what records an event, for the thread to call. False when it has to be called at once."""
        return self._take(self._source.defer, record, size)

    def _take(self, take: Callable[..., bool], *what: Any) -> bool:
        """Cheap: most events wake nobody."""
        with self._changed:
            if self._is_stopped or not take(*what):
                return False
            is_first, self._first_at = self._first_at == 0.0, self._first_at or time.monotonic()
            if self._thread is None:
                self._start()
            elif is_first or (self._is_due and self._backoff.wait == 0):
                self._changed.notify_all()
            return True

    def compose(self, timeout: float, pause: float = 0) -> None:
        """Records what was deferred so far, until ``timeout`` in seconds.

        Args:
            pause: seconds after each event, in which other threads get the lock of the interpreter.
        """
        deadline = time.monotonic() + timeout
        # Once more than there are events: another thread may be composing one.
        rounds = len(self._source.deferred) + 1
        while rounds and not self._is_stopped and (left := deadline - time.monotonic()) > 0:
            if not self._composing.acquire(timeout=min(left, 0.5)):
                continue
            try:
                with self._changed:
                    record = self._source.take_deferred()
                if record is None:
                    return
                record()
            finally:
                self._composing.release()
            rounds -= 1
            if pause:
                time.sleep(pause)

    def drain(self, timeout: float, *, once: bool = False) -> None:
        """Sends what is pending now, until ``timeout`` in seconds. With ``once``, until a request fails."""
        deadline = time.monotonic() + timeout
        self.compose(timeout)
        with self._changed:
            goal = self._counters.settled + self._source.pending
            failures = self._failures
            self._backoff.jitter_until = 0.0
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
            self._pump(deadline)
            self._is_draining = False
        if self.pending and self._pause is None:
            # The reason of a pause was said already.
            self._say("pending", f"has not taken {self.pending} events ({self._failure}).")

    def stop(self) -> None:
        """Ends the thread. What is in memory goes to the spool, or is dropped."""
        with self._changed:
            self._is_stopped = True
            self._source.save_all()
            if self._spool is not None:
                self._spool.close()
            if self._thread is None:
                self._courier.link.close()
            self._changed.notify_all()

    def leave(self) -> None:
        """For the child of a fork, where the thread does not exist: the events belong to the parent."""
        self._is_stopped = True
        if self._spool is not None:
            self._spool.leave()

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
        return (
            self._is_draining
            or source.batch is not None
            or source.pending >= limits.FLUSH_EVENTS
            or source.bytes >= limits.FLUSH_BYTES
        )

    @property
    def _wait(self) -> float:
        """Seconds until there is something to do."""
        wait = min(limits.HEARTBEAT_S, self._counters.report_wait)
        if self._source.pending:
            age = time.monotonic() - self._first_at
            return min(wait, max(0 if self._is_due else limits.FLUSH_INTERVAL_S - age, self._backoff.wait))
        return wait if self._pause is None else min(wait, self._backoff.wait)

    def _run(self) -> None:
        while True:
            with self._changed:
                while not self._is_stopped and (wait := self._wait) > 0 and self._changed.wait(wait):
                    pass
                if self._is_stopped:
                    return self._courier.link.close()
                if self._spool is not None:
                    self._spool.beat()
            self.compose(_COMPOSE_MAX_S, _COMPOSE_PAUSE_S)
            self._pump()
            if self._counters.report_wait == 0:
                self._counters.report()

    def _pump(self, deadline: float | None = None) -> None:
        """Sends the events that are due. It never raises: the thread must not end.

        Args:
            deadline: until then it waits for another sender, which a signal handler may have interrupted.
        """
        is_more = True
        while is_more:
            left = -1 if deadline is None else max(0.1, deadline - time.monotonic())
            if not self._pumping.acquire(timeout=left):
                return
            try:
                if deadline is not None:
                    self._courier.link.timeout = left
                is_more = self._send_next()
            except Exception as error:
                is_more = False
                with self._changed:
                    self._fail(Verdict("retry", f"{type(error).__name__}: {error}"))
            finally:
                self._courier.link.timeout = limits.REQUEST_TIMEOUT_S
                self._pumping.release()
            with self._changed:
                self._changed.notify_all()

    def _send_next(self) -> bool:
        """Sends the batch that is due, or none to find out whether a pause is over. True when another is due."""
        with self._changed:
            if self._is_stopped or self._backoff.wait > 0:
                return False
            pause = self._pause
            batch = self._source.next() if pause is None else None
            if batch is None and pause is None:
                self._note_rest()
                return False
        verdict = self._courier.deliver(batch.events) if batch is not None else self._courier.post([])
        if batch is not None and verdict.kind == "pause" and self._must_drop(verdict.reason):
            # Before events are dropped, an empty batch confirms the answer: the request may have been damaged.
            confirmed = self._courier.post([])
            is_confirmed = confirmed.kind in ("retry", "pause")
            verdict = confirmed if is_confirmed else Verdict("retry", verdict.cause)
        with self._changed:
            if self._is_stopped:
                return False
            if verdict.kind in ("retry", "pause"):
                return self._fail(verdict)
            if batch is not None:
                self._source.release()
            elif pause is not None and pause.reason == "quota" and self._spool is not None:
                self._spool.renew()
            self._pause = None
            self._backoff.reset()
            return self._note_rest()

    def _note_rest(self) -> bool:
        """The age of what is left counts from now. True when it is due."""
        self._first_at = time.monotonic() if self._source.pending else 0.0
        return self._is_due and self._source.pending > 0

    def _fail(self, verdict: Verdict) -> Literal[False]:
        """The batch is sent again, or is dropped with all others."""
        self._failures += 1
        if verdict.kind == "retry":
            self._failure = verdict.cause
            self._backoff.fail(verdict.after)
        else:
            self._pause = verdict
            must_drop = self._must_drop(verdict.reason)
            fate = "dropped" if must_drop else "kept"
            self._say(verdict.reason, f"{_FAULTS[verdict.reason]} ({verdict.cause}). Events are {fate}.")
            self._backoff.hold(min(limits.PROBE_INTERVAL_S, verdict.after))
            while must_drop and (batch := self._source.next()) is not None:
                self._counters.drop(verdict.reason, len(batch.events))
                batch.events.clear()
        self._source.expire()
        return False

    def _must_drop(self, reason: DropReason) -> bool:
        # `refused` comes from a proxy or a wrong URL and may pass. docs/api.md §7.1 forbids a retry after the others.
        if reason == "refused":
            return False
        return self._spool is None or (reason == "quota" and not self._keeps_on_quota)
