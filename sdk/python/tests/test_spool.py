"""The spool: events on disk until Weir has them."""

from __future__ import annotations

import errno
import gzip
import json
import os
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from stub import Stub, llm_event, until

from weir import Weir
from weir.delivery.source import QueuedEvent
from weir.event.types import create_uuid
from weir.limits import FLUSH_EVENTS, SEGMENT_BYTES_MAX
from weir.spool import file_spool
from weir.spool.file_spool import FileSpool

Make = Callable[..., Weir]


def queued(size: int = 100) -> QueuedEvent:
    event_id = create_uuid()
    data = json.dumps({"id": event_id, "pad": "x" * size}, separators=(",", ":")).encode()
    return QueuedEvent(event_id, data, 0.0)


def leave(root: Path, name: str, files: dict[str, bytes], owner: Any) -> None:
    """A folder of another process."""
    folder = root / name
    folder.mkdir(parents=True)
    for file, content in files.items():
        (folder / file).write_bytes(content)
    if owner is not None:
        (folder / "lock").write_text(json.dumps(owner))


def read_all(spool: FileSpool) -> list[str]:
    ids = []
    while found := spool.next(lambda reason, events: None):
        ids += [event.id for event in found[1]]
        spool.release()
    return ids


def test_an_event_is_on_disk_when_record_returns(make: Make, stub: Stub, tmp_path: Path) -> None:
    stub.close()
    weir = make(spool=tmp_path)
    event_id = weir.record(llm_event())
    (segment,) = tmp_path.glob("*/*.ndjson")
    assert json.loads(segment.read_text())["id"] == event_id
    assert segment.stat().st_mode & 0o077 == 0
    stub.open()
    assert weir.flush() == (1, 0, 0)
    assert not segment.exists()


def test_folders_of_processes_that_ended_are_taken_over_those_of_others_are_not(tmp_path: Path) -> None:
    events = [queued() for _ in range(5)]
    lines = [event.data + b"\n" for event in events]
    host = os.uname().nodename
    gone = {"host": host, "pid": 2**22 + 1, "threadId": 0, "startedAtMs": 0}
    # A line that a crash truncated, and one that a power cut left as zeros.
    leave(tmp_path, "crashed", {"00000001.ndjson": lines[0] + bytes(60) + b"\n" + lines[1][:20]}, gone)
    leave(tmp_path, "typescript", {"00000001.1.ndjson.gz": gzip.compress(lines[1])}, {**gone, "isClosed": True})
    ticks = int(Path("/proc/self/stat").read_text().rpartition(") ")[2].split()[19])
    running = {**gone, "pid": os.getpid(), "startTicks": ticks}
    leave(tmp_path, "running", {"00000001.ndjson": lines[2]}, running)
    leave(tmp_path, "reused pid", {"00000001.ndjson": lines[3]}, {**running, "startTicks": ticks - 1})
    leave(tmp_path, "other host", {"00000001.ndjson": lines[4]}, {**gone, "host": "elsewhere"})
    spool = FileSpool(str(tmp_path))
    lost: list[Any] = []
    ids = []
    while found := spool.next(lambda reason, count: lost.append((reason, count))):
        ids += [event.id for event in found[1]]
        spool.release()
    assert sorted(ids) == sorted([events[0].id, events[1].id, events[3].id])
    assert lost == [("damaged", 1)]
    spool.close()
    assert {path.name for path in tmp_path.iterdir()} == {"running", "other host"}


def test_the_folder_of_a_process_whose_parent_has_not_noticed_its_end_is_taken_over(tmp_path: Path) -> None:
    """As in a container whose first process does not wait for its children."""
    event = queued()
    with subprocess.Popen(["true"]) as ended:
        stat = Path(f"/proc/{ended.pid}/stat")
        until(lambda: ") Z " in stat.read_text())
        ticks = int(stat.read_text().rpartition(") ")[2].split()[19])
        owner = {"host": os.uname().nodename, "pid": ended.pid, "startTicks": ticks}
        leave(tmp_path, "a", {"00000001.ndjson": event.data + b"\n"}, owner)
        assert read_all(FileSpool(str(tmp_path))) == [event.id]


def test_a_process_that_sends_without_a_pause_shows_that_it_is_alive(
    make: Make, tmp_path: Path, monkeypatch: Any
) -> None:
    monkeypatch.setattr(file_spool, "HEARTBEAT_S", 0.0)
    weir = make(spool=tmp_path)
    weir.record(llm_event())
    (lock,) = tmp_path.glob("*/lock")
    os.utime(lock, (0, 0))

    def is_touched() -> bool:
        for _ in range(FLUSH_EVENTS):
            weir.record(llm_event())
        return lock.stat().st_mtime > 0

    until(is_touched)


def test_the_folder_of_another_host_is_taken_over_after_five_minutes(tmp_path: Path) -> None:
    event = queued()
    leave(tmp_path, "a", {"00000001.ndjson": event.data + b"\n"}, {"host": "elsewhere", "pid": 1})
    os.utime(tmp_path / "a" / "lock", (0, time.time() - 301))
    assert read_all(FileSpool(str(tmp_path))) == [event.id]


def test_segments_are_bounded_and_stay_until_they_are_released(tmp_path: Path) -> None:
    spool = FileSpool(str(tmp_path))
    events = [queued(100_000) for _ in range(60)]
    assert all(spool.append(event) for event in events)
    assert all(path.stat().st_size <= SEGMENT_BYTES_MAX for path in tmp_path.glob("*/*.ndjson"))
    first, again = spool.next(lambda *lost: None), spool.next(lambda *lost: None)
    assert first
    assert again
    assert first[0] == again[0]
    assert read_all(spool) == [event.id for event in events]
    assert (spool.events, spool.bytes) == (0, 0)


def test_the_disk_is_bounded_and_memory_takes_the_rest(make: Make, stub: Stub, tmp_path: Path) -> None:
    stub.close()
    weir = make(spool=tmp_path, spool_bytes_max=1_000)
    for _ in range(5):
        weir.record(llm_event())
    stats = weir.stats()
    assert 0 < stats.spooled < 5
    assert stats.pending == 5
    stub.open()
    assert weir.flush() == (5, 0, 0)


def test_a_full_disk_costs_no_event(make: Make, stub: Stub, tmp_path: Path, monkeypatch: Any) -> None:
    weir = make(spool=tmp_path)
    write = os.write

    def write_half(fd: int, data: bytes) -> int:
        return write(fd, data[: len(data) // 2])

    with monkeypatch.context() as patched:
        patched.setattr(os, "write", write_half)
        weir.record(llm_event())
    assert weir.flush() == (1, 0, 0)
    assert weir.stats().dropped == 0


def test_a_segment_that_cannot_be_opened_now_is_sent_later(
    make: Make, stub: Stub, tmp_path: Path, monkeypatch: Any
) -> None:
    failures = [OSError(errno.EMFILE, "Too many open files")]
    read = file_spool.read_segment

    def read_at_last(segment: Any) -> Any:
        if failures:
            raise failures.pop()
        return read(segment)

    monkeypatch.setattr(file_spool, "read_segment", read_at_last)
    weir = make(spool=tmp_path / "spool")
    weir.record(llm_event())
    assert weir.flush() == (1, 0, 0)
    assert failures == []


def test_old_events_are_deleted_and_counted(make: Make, stub: Stub, tmp_path: Path) -> None:
    leave(tmp_path, "old", {"00000001.ndjson": queued().data + b"\n"}, {"host": "elsewhere", "isClosed": True})
    os.utime(tmp_path / "old" / "00000001.ndjson", (0, time.time() - 25 * 3600))
    weir = make(spool=tmp_path)
    until(lambda: weir.stats().dropped_by_reason == {"expired": 1})


def test_each_event_can_be_written_through(make: Make, stub: Stub, tmp_path: Path, monkeypatch: Any) -> None:
    synced: list[int] = []
    monkeypatch.setattr(os, "fsync", synced.append)
    make(spool=tmp_path, spool_fsync=True).record(llm_event())
    assert len(synced) == 1


def test_a_spool_that_cannot_be_made_is_said_and_memory_is_used(make: Make, stub: Stub, caplog: Any) -> None:
    weir = make(spool="/proc/no")
    weir.record(llm_event())
    assert weir.flush() == (1, 0, 0)
    assert "the spool cannot be used" in caplog.text


def test_what_is_rejected_in_part_is_not_sent_twice_as_new(make: Make, stub: Stub, tmp_path: Path) -> None:
    weir = make(spool=tmp_path)
    stub.close()
    ids = [weir.record(llm_event()) for _ in range(3)]
    stub.open()
    assert weir.flush() == (3, 0, 0)
    assert [event["id"] for event in stub.events] == ids


@pytest.mark.parametrize("count", [1_200])
def test_a_backlog_is_sent_in_requests_of_at_most_500_events(
    count: int, make: Make, stub: Stub, tmp_path: Path
) -> None:
    stub.close()
    weir = make(spool=tmp_path)
    for _ in range(count):
        weir.record(llm_event())
    stub.open()
    assert weir.flush() == (count, 0, 0)
    assert max(map(len, stub.requests)) == 500
