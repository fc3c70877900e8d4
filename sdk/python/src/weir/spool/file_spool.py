"""Events on disk. Every process writes segments to a folder of its own below the spool's."""

from __future__ import annotations

import os
import shutil
import time
from collections import deque
from collections.abc import Callable
from typing import Literal

from weir import limits
from weir.delivery.source import Batch, QueuedEvent
from weir.event.types import create_uuid
from weir.limits import HEARTBEAT_S
from weir.spool.owner import find_orphans, lock, touch, unlock
from weir.spool.segment import Segment, adopt_segment, delete_segment, read_segment

OnLost = Callable[[Literal["expired", "damaged"], int], None]

_APPEND = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | getattr(os, "O_BINARY", 0)


class FileSpool:
    """Not thread-safe. At the start it takes over the folders of processes that have ended."""

    def __init__(self, root: str, *, fsync: bool = False, bytes_max: int = limits.SPOOL_BYTES_MAX) -> None:
        """Raises OSError when the folder cannot be created, so that a wrong path is found at the start."""
        self._root = root
        self._fsync = fsync
        self._bytes_max = bytes_max
        self._folder = os.path.join(root, f"{os.getpid()}-0-{create_uuid()}")
        #: Of the active segment, and of those that wait.
        self.events = self.bytes = 0
        self._waiting: deque[Segment] = deque()
        self._fd: int | None = None
        self._active = Segment("", 0, 0)
        self._sequence = 0
        self._broken_until = self._beat_at = 0.0
        os.makedirs(self._folder, mode=0o700)
        lock(self._folder)
        self.beat()

    def append(self, event: QueuedEvent) -> bool:
        """Writes an event: after that it survives the end of the process. False when the disk does not take it."""
        line = event.data + b"\n"
        if self._active.events == limits.BATCH_EVENTS_MAX or self._active.bytes + len(line) > limits.SEGMENT_BYTES_MAX:
            self._seal()
        if self.bytes + len(line) > self._bytes_max or time.monotonic() < self._broken_until:
            return False
        try:
            fd = self._open()
            if os.write(fd, line) != len(line):
                # Without the rest of the line the next one would be a part of it.
                os.ftruncate(fd, self._active.bytes)
                raise OSError("the disk is full")
            if self._fsync:
                os.fsync(fd)
        except OSError:
            # An attempt for each event would slow the application down.
            self._seal()
            self._broken_until = time.monotonic() + limits.RETRY_WRITE_S
            return False
        active = self._active
        self._active = Segment(active.path, active.events + 1, active.bytes + len(line))
        self.events += 1
        self.bytes += len(line)
        return True

    def next(self, on_lost: OnLost) -> Batch | None:
        """The oldest segment with events; it stays on disk until ``release``."""
        while True:
            if not self._waiting:
                self._seal()
            if not self._waiting:
                return None
            segment = self._waiting[0]
            try:
                is_expired = os.stat(segment.path).st_mtime < time.time() - limits.SPOOL_AGE_MAX_S
                events = [] if is_expired else read_segment(segment)
            except (FileNotFoundError, ValueError):
                is_expired, events = False, []
            if len(events) < segment.events:
                on_lost("expired" if is_expired else "damaged", segment.events - len(events))
            # What is lost is counted once, also when the segment is read again after a failed request.
            self.events -= segment.events - len(events)
            self._waiting[0] = segment = segment._replace(events=len(events))
            if events:
                return Batch(segment, events)
            self.release()

    def release(self) -> None:
        """Deletes the segment of the last ``next``: all of its events are settled."""
        segment = self._waiting.popleft()
        self.events -= segment.events
        self.bytes -= segment.bytes
        delete_segment(segment)

    def beat(self) -> None:
        """Takes over what processes that have ended left, and shows that this one is alive, at most each minute."""
        now = time.monotonic()
        if now < self._beat_at:
            return
        self._beat_at = now + HEARTBEAT_S
        try:
            touch(self._folder)
            for folder in find_orphans(self._root):
                self._adopt_folder(folder)
        except OSError:
            # The folder was deleted from outside: appends will report it.
            pass

    def renew(self) -> None:
        """Restarts the age of everything on disk: waiting for a quota does not count."""
        self._seal()
        for segment in self._waiting:
            try:
                os.utime(segment.path)
            except OSError:
                pass

    def close(self) -> None:
        """Releases the folder. The next process delivers what is in it."""
        self._seal()
        try:
            if self._waiting:
                unlock(self._folder)
            else:
                shutil.rmtree(self._folder)
        except OSError:
            pass

    def leave(self) -> None:
        """For the child of a fork: the folder belongs to the parent."""
        fd, self._fd = self._fd, None
        if fd is not None:
            os.close(fd)

    def _open(self) -> int:
        if self._fd is None:
            path = self._next_path(".ndjson")
            self._fd = os.open(path, _APPEND, 0o600)
            self._active = Segment(path, 0, 0)
        return self._fd

    def _seal(self) -> None:
        """Closes the active segment; the next append opens a new one."""
        fd, self._fd = self._fd, None
        segment, self._active = self._active, Segment("", 0, 0)
        if fd is None:
            return
        os.close(fd)
        if segment.events > 0:
            self._waiting.append(segment)
        else:
            delete_segment(segment)

    def _adopt_folder(self, folder: str) -> None:
        names = sorted(name for name in os.listdir(folder) if name.endswith((".ndjson", ".ndjson.gz")))
        for name in names:
            # A plain segment beside its compressed form: its process ended before it deleted the plain one.
            if f"{name}.gz" in names:
                continue
            # Its name is a sequence number, followed by the number of events, if known, and the format.
            segment = adopt_segment(os.path.join(folder, name), self._next_path(name[name.index(".") :]))
            if segment is not None:
                self._waiting.append(segment)
                self.events += segment.events
                self.bytes += segment.bytes
        shutil.rmtree(folder, ignore_errors=True)

    def _next_path(self, suffix: str) -> str:
        self._sequence += 1
        return os.path.join(self._folder, f"{self._sequence:08}{suffix}")
