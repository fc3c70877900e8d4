"""A file of events, one JSON text per line. Folders of the TypeScript SDK may have gzipped ones."""

from __future__ import annotations

import json
import os
import re
import time
import zlib
from typing import NamedTuple

from weir.delivery.source import QueuedEvent
from weir.limits import SEGMENT_BYTES_MAX

#: A segment can exceed ``SEGMENT_BYTES_MAX`` by one event. A few bytes could decompress into all memory.
_READ_BYTES_MAX = 2 * SEGMENT_BYTES_MAX

#: ``{"id":"`` comes before the id of every event.
_ID = slice(7, 43)


class Segment(NamedTuple):
    path: str
    events: int
    bytes: int
    #: Another process wrote it, and may have been killed while it did.
    is_adopted: bool = False


def read_segment(segment: Segment) -> list[QueuedEvent]:
    """The events of a segment, without lines that a crash damaged.

    Raises:
        OSError, ValueError: when it cannot be read.
    """
    with open(segment.path, "rb") as file:
        content = file.read(_READ_BYTES_MAX + 1)
    if segment.path.endswith(".gz"):
        unpacker = zlib.decompressobj(31)
        try:
            content = unpacker.decompress(content, _READ_BYTES_MAX + 1)
        except zlib.error as error:
            raise ValueError("not gzip") from error
    if len(content) > _READ_BYTES_MAX:
        raise ValueError("a segment is too large")
    now = time.monotonic()
    # What comes after the last line feed was being written when the process ended.
    lines = content.split(b"\n")[:-1]
    return [QueuedEvent(line[_ID].decode(), line, now) for line in lines if not segment.is_adopted or _is_whole(line)]


def _is_whole(line: bytes) -> bool:
    """A power cut may leave zeros instead of text, and one broken line would make the batch invalid."""
    try:
        return len(line) > 43 and isinstance(json.loads(line), dict)
    except ValueError:
        return False


def adopt_segment(path: str, target: str) -> Segment | None:
    """Moves a segment of an abandoned folder. None when another process was faster."""
    try:
        os.rename(path, target)
        size = os.stat(target).st_size
        return Segment(target, _count_events(target), size, is_adopted=True)
    except OSError:
        return None


def _count_events(path: str) -> int:
    """The count is in the name of a segment that was compressed; plain ones are read, and there are few."""
    named = re.search(r"\.(\d+)\.ndjson(\.gz)?$", path)
    if named:
        return int(named[1])
    with open(path, "rb") as file:
        return file.read().count(b"\n")


def delete_segment(segment: Segment) -> None:
    try:
        os.unlink(segment.path)
    except OSError:
        # It is gone, or the disk is read-only: the next process sends its events again, stored once.
        pass
