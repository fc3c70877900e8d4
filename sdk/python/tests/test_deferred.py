"""Events of observed calls are composed after the call, and count as if they had been composed in it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from stub import Stub, llm_event

from weir import Weir
from weir.limits import FLUSH_BYTES, QUEUE_BYTES_MAX

Make = Callable[..., Weir]


@pytest.fixture
def threadless(stub: Stub, monkeypatch: Any) -> Iterator[None]:
    """Only a flush composes and sends."""

    def refuse(self: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as patched:
        patched.setattr(threading.Thread, "start", refuse)
        yield


def defer(weir: Weir, size: int = 10, fails: bool = False) -> list[str]:
    """The ids of what was composed so far."""
    composed: list[str] = []

    def record() -> None:
        if fails:
            raise ValueError
        composed.append(weir.record(llm_event()))

    weir.recorder.defer(record, size)
    return composed


@pytest.mark.usefixtures("threadless")
def test_stats_count_what_was_deferred(make: Make) -> None:
    weir = make()
    composed = defer(weir)
    assert composed == []
    assert (weir.stats().recorded, weir.stats().pending) == (1, 1)
    assert len(composed) == 1


@pytest.mark.usefixtures("threadless")
@pytest.mark.parametrize("option", ["spool", "mask", "size"])
def test_what_must_be_known_before_the_program_goes_on_is_composed_at_once(
    option: str, make: Make, tmp_path: Path
) -> None:
    options: dict[str, Any] = {"spool": tmp_path} if option == "spool" else {"mask": lambda event: event}
    weir = make(**(options if option != "size" else {}))
    assert len(defer(weir, FLUSH_BYTES + 1 if option == "size" else 10)) == 1


@pytest.mark.usefixtures("threadless")
def test_what_is_deferred_is_bounded_by_its_bytes(make: Make) -> None:
    weir = make()
    for _ in range(QUEUE_BYTES_MAX // FLUSH_BYTES):
        assert defer(weir, FLUSH_BYTES) == []
    assert len(defer(weir, FLUSH_BYTES)) == 1
    assert weir.stats().dropped_by_reason == {"queue_full": 1}
    assert weir.stats().pending == QUEUE_BYTES_MAX // FLUSH_BYTES


@pytest.mark.usefixtures("threadless")
def test_what_a_close_has_no_time_for_is_counted(make: Make) -> None:
    weir = make()
    defer(weir)
    weir.close(0)
    assert (weir.stats().recorded, weir.stats().dropped_by_reason) == (1, {"unsent": 1})


def test_what_cannot_be_composed_is_counted(make: Make) -> None:
    weir = make()
    defer(weir, fails=True)
    assert (weir.stats().recorded, weir.stats().dropped_by_reason) == (1, {"unserializable": 1})


def test_a_flush_waits_for_an_event_that_another_thread_composes(make: Make, stub: Stub) -> None:
    weir = make()
    begun, may_end = threading.Event(), threading.Event()

    def record() -> None:
        begun.set()
        may_end.wait(30)
        weir.record(llm_event())

    weir.recorder.defer(record, 10)
    other = threading.Thread(target=weir.recorder.compose, args=(30,))
    other.start()
    assert begun.wait(30)
    flush = threading.Thread(target=weir.flush, args=(30,))
    flush.start()
    may_end.set()
    flush.join()
    assert len(stub.events) == 1
    other.join()
