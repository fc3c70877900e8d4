"""Records events and delivers them to Weir in the background."""

from __future__ import annotations

import threading
import time
from collections import deque
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakSet

from weir.delivery.counters import Counters, DropReason
from weir.delivery.notices import Notices
from weir.delivery.queue import QueuedEvent
from weir.delivery.sender import Sender, SenderOptions
from weir.event.complete import complete_event
from weir.event.compose import compose_event
from weir.event.json_text import encode
from weir.event.redact import mask_event, to_metadata
from weir.event.sample import is_sampled
from weir.event.truncate import truncate_event
from weir.event.types import Event, create_uuid
from weir.limits import EVENT_BYTES_MAX, EXIT_TIMEOUT_S, FLUSH_TIMEOUT_S
from weir.options import Options, read_settings
from weir.process import at_exit, register, watch_children

if TYPE_CHECKING:
    from weir.spool.file_spool import FileSpool


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


class Recorder:
    """No method raises into the application, and none waits for Weir but ``flush`` and ``close``.

    Threads share it. The child of a fork gets a queue, a thread and a folder of the spool of its own.
    """

    def __init__(self, options: Options) -> None:
        self.notices = Notices()
        self._settings = read_settings(options, self.notices)
        # Not at the import of the package, which has to be quick, and not in a thread: the child of a fork in the
        # middle of an import would wait for it for ever.
        from weir.delivery.link import Link

        self._open_link = Link
        self._is_closed = False
        #: Called at the end of the process: they record calls in flight with the data so far.
        self.open_calls: WeakSet[Any] = WeakSet()
        #: The last responses that observed clients have recorded, by id: frameworks report them, too.
        self.observed_responses: deque[str] = deque(maxlen=1_000)
        self._start()
        if self._settings.is_enabled:
            register(self)
            if self._settings.spool is not None and self._open_sender().pending:
                # What earlier processes left is sent also by a program that records nothing.
                self._open_sender().wake()

    def _start(self) -> None:
        self.counters = Counters(self.notices, self._settings.options.get("on_drop"))
        self._is_watching = False
        self._opening = threading.Lock()
        self._sender: Sender | None = None

    def _open_sender(self) -> Sender:
        if self._sender is not None:
            return self._sender
        with self._opening:
            return self._sender or self._create_sender()

    def _create_sender(self) -> Sender:
        settings, options = self._settings, self._settings.options
        link = self._open_link(settings.address, settings.api_key, options.get("headers", {}))
        keeps = options.get("on_quota") == "spool"
        sender = SenderOptions(settings.address, link, self._open_spool(), keeps, options.get("on_accepted"))
        self._sender = Sender(sender, self.counters, self.notices)
        return self._sender

    def _open_spool(self) -> FileSpool | None:
        settings, options = self._settings, self._settings.options
        if settings.spool is None:
            return None
        # Loaded at the start of the program, not in a thread: `__init__` opens the spool.
        from weir.spool.file_spool import FileSpool

        limit = {"bytes_max": options["spool_bytes_max"]} if "spool_bytes_max" in options else {}
        try:
            return FileSpool(settings.spool, fsync=options.get("spool_fsync", False), **limit)
        except OSError as error:
            self.notices.say("spool", f"the spool cannot be used ({error}): events are kept in memory only.")
            return None

    @property
    def is_enabled(self) -> bool:
        return self._settings.is_enabled and not self._is_closed

    def record(self, event: Event) -> str:
        """Records an event of docs/api.md §2.2; missing fields are filled in. Returns its id in Weir."""
        try:
            complete = complete_event(event, self._settings.defaults, time.time() * 1000)
            reason = self._take(complete)
            event_id = complete["id"]
        except Exception:
            reason, event_id = "unserializable", create_uuid()
        if reason is not None:
            self.counters.recorded += 1
            self.counters.drop(reason)
        return event_id

    def flush(self, timeout: float = FLUSH_TIMEOUT_S) -> FlushResult:
        """Delivers what was recorded so far, and returns after ``timeout`` seconds at the latest."""
        return self._flush(timeout, once=False)

    def close(self, timeout: float = FLUSH_TIMEOUT_S) -> FlushResult:
        """Flushes, and ends recording. What is pending then stays in the spool, or is dropped and counted."""
        self._settle_calls()
        result = self._flush(timeout, once=False)
        self._is_closed = True
        if self._sender is not None:
            self._sender.stop()
        self.counters.report()
        return result

    def stats(self) -> Stats:
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
        if self._sender is not None:
            self._sender.leave()
        self.open_calls = WeakSet()
        self._start()

    def flush_at_exit(self) -> None:
        """At the end of a process. With a spool one attempt is enough: the events are on disk."""
        if self._is_closed:
            return
        self._settle_calls()
        if self._sender is not None:
            self._flush(EXIT_TIMEOUT_S, once=self._settings.spool is not None)
        self._is_watching = False

    def end(self) -> None:
        """After the last flush: nothing runs any more that could deliver."""
        if not self._is_closed and self._sender is not None:
            self._sender.stop()
            self._sender = None
        self.counters.report()

    def _take(self, event: Event) -> DropReason | None:
        """Serializes the event now, because applications change their messages later. Why it is dropped, or None."""
        if not self.is_enabled:
            return "disabled"
        sender = self._open_sender()
        if sender.refusal is not None:
            return sender.refusal
        is_error = event["status"].get("state") == "error"
        if not is_error and not is_sampled(event.get("traceId", event["id"]), self._settings.sample_rate):
            self.counters.sampled_out += 1
            return None
        redacted = self._redact(event)
        if redacted is None:
            return "masked"
        text = compose_event(redacted)
        data: bytes | None = encode(text)
        if data is not None and len(data) > EVENT_BYTES_MAX:
            data = truncate_event(text)
            self.counters.truncated += data is not None
        if data is None:
            return "too_large"
        if not sender.push(QueuedEvent(event["id"], data, time.monotonic())):
            return "queue_full"
        self.counters.recorded += 1
        self._watch()
        return None

    def _redact(self, event: Event) -> Event | None:
        visible = to_metadata(event) if self._settings.content == "metadata" else event
        if self._settings.mask is None:
            return visible
        masked, has_failed = mask_event(visible, self._settings.mask)
        self.counters.mask_failures += has_failed
        return masked

    def _flush(self, timeout: float, *, once: bool) -> FlushResult:
        counters = self.counters
        accepted, dropped = counters.accepted, counters.dropped.total()
        sender = self._sender
        if sender is not None:
            sender.drain(timeout, once=once)
            sender.say_pending()
        pending = sender.pending if sender else 0
        return FlushResult(counters.accepted - accepted, counters.dropped.total() - dropped, pending)

    def _settle_calls(self) -> None:
        for call in list(self.open_calls):
            call.settle()

    def _watch(self) -> None:
        """Processes of multiprocessing end without ``atexit``: they flush by what that module offers."""
        if not self._is_watching:
            self._is_watching = True
            watch_children(at_exit)
