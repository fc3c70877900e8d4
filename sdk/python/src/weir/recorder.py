"""Records events and delivers them to Weir in the background."""

from __future__ import annotations

import os
import threading
import time
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

from weir.delivery.counters import Counters, Notices
from weir.delivery.link import Link, find_proxy
from weir.delivery.sender import Sender
from weir.delivery.source import QueuedEvent
from weir.event.complete import complete_event
from weir.event.json_text import compose_event, encode
from weir.event.redact import is_sampled, mask_event, to_metadata
from weir.event.truncate import truncate_event
from weir.event.types import Event, Json, create_uuid
from weir.limits import EVENT_BYTES_MAX, EXIT_TIMEOUT_S, FLUSH_TIMEOUT_S
from weir.options import Options, complete_options, parse_address
from weir.process import at_exit, flush_on_sigterm, forget, register, watch_children
from weir.reports import DropReason, FlushResult, Stats

if TYPE_CHECKING:
    from weir.spool.file_spool import FileSpool


class Recorder:
    """No method raises into the application, and none waits for Weir but ``flush`` and ``close``.

    Threads share it. The child of a fork gets a queue, a thread and a folder of the spool of its own.
    """

    def __init__(self, options: Options) -> None:
        self.notices = Notices()
        self._options, fault = complete_options(options)
        if fault is not None:
            self.notices.say("options", f"{fault} Nothing is recorded.")
        self._is_closed = False
        #: Called at the end of the process: they record calls in flight with the data so far.
        self.open_calls: WeakSet[Any] = WeakSet()
        #: The last responses that observed clients have recorded, by id: frameworks report them, too.
        self.observed_responses: deque[str] = deque(maxlen=1_000)
        self._start()
        if not self._options["enabled"]:
            return
        # Here, because in a thread nothing may be imported.
        self._address = parse_address(self._options["url"])
        try:
            self._proxy = find_proxy(self._address)
        except ValueError:
            self._proxy = None
            self.notices.say("proxy", "cannot read the proxy's address of the environment, and goes without one.")
        register(self)
        if "spool" in self._options:
            # What earlier processes left is sent also by a program that records nothing.
            self._open_sender()
        if self._options["flush_on_sigterm"]:
            try:
                flush_on_sigterm(lambda: self.flush(EXIT_TIMEOUT_S))
            except ValueError:
                self.notices.say("sigterm", "flush_on_sigterm needs the main thread: SIGTERM is as it was.")

    def _start(self) -> None:
        self.counters = Counters(self.notices, self._options.get("on_drop"))
        self._is_watching = False
        self._pid = os.getpid()
        # Reentrant: a signal handler, or a handler of the log, may record while a sender is created.
        self._opening = threading.RLock()
        self._own_sender: Sender | None = None

    @property
    def _sender(self) -> Sender | None:
        # A fork by C code, such as uWSGI's, calls no function of Python in the child.
        if self._pid != os.getpid():
            self.after_fork()
        return self._own_sender

    def _open_sender(self) -> Sender:
        while (sender := self._sender) is None:
            with self._opening:
                created = None if self._own_sender else self._create_sender()
                self._own_sender = self._own_sender or created
        return sender

    def _create_sender(self) -> Sender:
        options, address = self._options, self._address
        return Sender(
            Link(address, options["api_key"], options["headers"], proxy=self._proxy),
            self._open_spool(),
            self.counters,
            keeps_on_quota=options.get("on_quota") == "spool",
            on_accepted=options.get("on_accepted"),
            say=lambda problem, text: self.notices.say(problem, f"{address.scheme}://{address.netloc} {text}"),
        )

    def _open_spool(self) -> FileSpool | None:
        options = self._options
        if "spool" not in options:
            return None
        # The constructor comes here first: in a thread nothing may be imported.
        from weir.spool.file_spool import FileSpool

        try:
            # Absolute: the program may change its working directory before it forks.
            folder = os.path.abspath(options["spool"])
            return FileSpool(folder, fsync=options["spool_fsync"], bytes_max=options["spool_bytes_max"])
        except (OSError, TypeError, ValueError) as error:
            self.notices.say("spool", f"the spool cannot be used ({error}): events are kept in memory only.")
            return None

    @property
    def is_enabled(self) -> bool:
        return self._options["enabled"] and not self._is_closed

    def record(self, event: Event) -> str:
        """Records an event. Returns its id in Weir."""
        try:
            complete = complete_event(event, self._options, time.time() * 1000)
            reason = self._take(complete)
            event_id: str = complete["id"]
        except Exception:
            reason, event_id = "unserializable", create_uuid()
        if reason is not None:
            self.counters.refuse(reason)
        return event_id

    def defer(self, record: Callable[[], object], size: int) -> None:
        """Calls ``record``, which records events, in the sender's thread: composing them costs more than a call may.

        At once with a spool, which has the event before the program goes on; with a mask, which is the application's
        code; and when there is no room for ``size`` bytes.
        """
        if self.is_enabled and "mask" not in self._options:
            sender = self._open_sender()
            if sender.refusal is None and sender.defer(partial(self._compose, record), size):
                self._watch_children()
                return
        self._compose(record)

    def compose(self, timeout: float = FLUSH_TIMEOUT_S) -> None:
        """Records what was deferred so far."""
        sender = self._sender
        if sender is not None:
            sender.compose(timeout)

    def _compose(self, record: Callable[[], object]) -> None:
        try:
            record()
        except Exception:
            self.counters.refuse("unserializable")

    def flush(self, timeout: float, *, once: bool = False) -> FlushResult:
        """Delivers what was recorded so far. With ``once``, until a request fails."""
        counters = self.counters
        accepted, dropped = counters.accepted, counters.dropped.total()
        sender = self._sender
        if sender is not None:
            sender.drain(timeout, once=once)
        pending = sender.pending if sender else 0
        return FlushResult(counters.accepted - accepted, counters.dropped.total() - dropped, pending)

    def close(self, timeout: float) -> FlushResult:
        self._settle_calls()
        result = self.flush(timeout)
        self._is_closed = True
        if self._sender is not None:
            self._sender.stop()
        self.counters.report()
        forget(self)
        return result

    def stats(self) -> Stats:
        self.compose()
        counters, sender = self.counters, self._sender
        return Stats(
            counters.recorded,
            counters.accepted,
            counters.dropped.total(),
            sender.pending if sender else 0,
            sender.spooled if sender else 0,
            counters.sampled_out,
            counters.truncated,
            counters.mask_failures,
            counters.embeddings,
            dict(counters.dropped),
        )

    def after_fork(self) -> None:
        """For the child of a fork: the parent's events, thread, locks and files are the parent's."""
        if self._own_sender is not None:
            self._own_sender.leave()
        self.open_calls = WeakSet()
        self._start()

    def flush_at_exit(self) -> None:
        """At the end of a process. With a spool one attempt is enough: the events are on disk."""
        self._settle_calls()
        if self._sender is not None:
            self.flush(EXIT_TIMEOUT_S, once="spool" in self._options)
        self._is_watching = False

    def end(self) -> None:
        """After the last flush: nothing runs any more that could deliver."""
        if self._sender is not None:
            self._sender.stop()
            self._own_sender = None
        self.counters.report()

    def _take(self, event: Json) -> DropReason | None:
        """Serializes the event now, because applications change their messages later. Why it is dropped, or None."""
        if not self.is_enabled:
            return "disabled"
        sender = self._open_sender()
        if sender.refusal is not None:
            return sender.refusal
        is_error = event["status"].get("state") == "error"
        if not is_error and not is_sampled(event.get("traceId") or event["id"], self._options["sample_rate"]):
            self.counters.sampled_out += 1
            return None
        redacted = self._redact(event)
        if redacted is None:
            return "masked"
        text = compose_event(redacted)
        data = encode(text)
        if len(data) > EVENT_BYTES_MAX:
            truncated = truncate_event(text)
            if truncated is None:
                return "too_large"
            data = truncated
            self.counters.truncated += 1
        if not sender.push(QueuedEvent(event["id"], data, time.monotonic())):
            return "queue_full"
        self.counters.recorded += 1
        self._watch_children()
        return None

    def _watch_children(self) -> None:
        if not self._is_watching:
            self._is_watching = True
            watch_children(at_exit)

    def _redact(self, event: Json) -> Json | None:
        visible = to_metadata(event) if self._options["content"] == "metadata" else event
        if "mask" not in self._options:
            return visible
        masked, has_failed = mask_event(visible, self._options["mask"])
        self.counters.mask_failures += has_failed
        return masked

    def _settle_calls(self) -> None:
        for call in list(self.open_calls):
            call.settle()
