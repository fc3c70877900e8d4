"""Delivery by the retry table of docs/sdk-python.md."""

from __future__ import annotations

import gc
import sys
import threading
import time
import weakref
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from stub import Reply, Stub, llm_event, until

from weir import DropReport, Receipt, Weir, limits
from weir import api as api_module
from weir.delivery import sender as sender_module
from weir.delivery.counters import Counters, Notices
from weir.delivery.courier import Courier
from weir.delivery.source import BatchSource, QueuedEvent
from weir.delivery.verdict import judge
from weir.limits import QUEUE_EVENTS_MAX

Make = Callable[..., Weir]


def test_events_are_sent_in_one_request_and_their_receipt_is_reported(make: Make, stub: Stub) -> None:
    receipts: list[Receipt] = []
    weir = make(on_accepted=receipts.append)
    ids = [weir.record(llm_event()) for _ in range(3)]
    assert weir.flush() == (3, 0, 0)
    assert [event["id"] for event in stub.events] == ids
    assert receipts == [(ids, "batch-1")]
    assert stub.headers[0]["authorization"] == "Bearer key"


def test_a_batch_is_sent_after_a_second_without_a_flush(make: Make, stub: Stub) -> None:
    make().record(llm_event())
    until(lambda: len(stub.events) == 1)


def test_connections_are_reused_and_a_closed_one_costs_no_event(make: Make, stub: Stub) -> None:
    weir = make()
    for _ in range(2):
        weir.record(llm_event())
        weir.flush()
    stub.close()
    stub.open()
    weir.record(llm_event())
    assert weir.flush() == (1, 0, 0)


@pytest.mark.parametrize("status", [200, 204, 408, 429, 500, 503])
def test_a_passing_failure_is_retried_with_the_same_ids(status: int, make: Make, stub: Stub) -> None:
    replies = [Reply(status)]
    stub.respond = lambda events: replies.pop() if replies else None
    weir = make()
    event_id = weir.record(llm_event())
    assert weir.flush() == (1, 0, 0)
    assert [event["id"] for request in stub.requests for event in request] == [event_id, event_id]


def test_a_lost_answer_stores_nothing_twice(make: Make, stub: Stub) -> None:
    def lose_first(events: list[Any]) -> None:
        if len(stub.requests) == 1:
            for event in events:
                stub.accepted[event["id"]] = event
            raise ConnectionError

    stub.respond = lose_first
    weir = make()
    weir.record(llm_event())
    assert weir.flush() == (1, 0, 0)
    assert (len(stub.requests), len(stub.events)) == (2, 1)


def test_the_event_that_a_400_names_is_dropped_alone(make: Make, stub: Stub) -> None:
    reports: list[DropReport] = []

    def reject(events: list[Any]) -> Reply | None:
        bad = [at for at, event in enumerate(events) if event["durationMs"] == -1]
        return Reply(400, f"events[{bad[0]}].durationMs must be a number") if bad else None

    stub.respond = reject
    weir = make(on_drop=reports.append)
    for at in range(30):
        weir.record(llm_event(durationMs=-1 if at in (3, 17) else 1))
    assert weir.flush() == (28, 2, 0)
    weir.close()
    assert sum(report.dropped["rejected"] for report in reports) == 2
    assert str(reports[0].details).endswith(".durationMs must be a number")


def test_a_400_that_names_no_event_is_bisected(make: Make, stub: Stub) -> None:
    stub.respond = lambda events: Reply(400, "bad") if any(event["durationMs"] == -1 for event in events) else None
    weir = make()
    for at in range(9):
        weir.record(llm_event(durationMs=-1 if at == 4 else 1))
    assert weir.flush() == (8, 1, 0)


def test_413_halves_the_batch(make: Make, stub: Stub) -> None:
    stub.respond = lambda events: Reply(413) if len(events) > 2 else None
    weir = make()
    for _ in range(7):
        weir.record(llm_event())
    assert weir.flush() == (7, 0, 0)


@pytest.mark.parametrize(("status", "reason"), [(401, "unauthorized"), (402, "quota")])
def test_a_refusal_drops_what_is_in_memory_after_an_empty_batch_has_confirmed_it(
    status: int, reason: str, make: Make, stub: Stub
) -> None:
    stub.respond = lambda events: Reply(status)
    weir = make()
    weir.record(llm_event())
    assert weir.flush() == (0, 1, 0)
    assert stub.requests[1] == []
    weir.record(llm_event())
    assert weir.stats().dropped_by_reason == {reason: 2}


def test_a_damaged_request_is_no_refusal(make: Make, stub: Stub) -> None:
    replies = [Reply(401)]
    stub.respond = lambda events: replies.pop() if replies else None
    weir = make()
    weir.record(llm_event())
    assert weir.flush() == (1, 0, 0)


@pytest.mark.parametrize("status", [401, 402])
def test_the_spool_keeps_events_until_the_pause_is_over(
    status: int, make: Make, stub: Stub, tmp_path: Any, monkeypatch: Any
) -> None:
    monkeypatch.setattr(limits, "PROBE_INTERVAL_S", 0.05)
    stub.respond = lambda events: Reply(status)
    weir = make(spool=tmp_path, on_quota="spool")
    weir.record(llm_event())
    assert weir.flush(1).pending == 1
    stub.respond = lambda events: None
    until(lambda: len(stub.events) == 1)


def test_a_wrong_address_keeps_events(make: Make, stub: Stub, caplog: Any) -> None:
    stub.respond = lambda events: Reply(404, "This is Weir's dashboard.")
    weir = make()
    weir.record(llm_event())
    assert weir.flush(1) == (0, 0, 1)
    assert "check WEIR_URL" in caplog.text
    assert "This is Weir's dashboard." in caplog.text


def test_flush_returns_in_time_when_the_server_hangs(make: Make, stub: Stub) -> None:
    is_over = threading.Event()
    stub.respond = lambda events: Reply(503) if is_over.wait(20) else None
    weir = make()
    weir.record(llm_event())
    started = time.monotonic()
    assert weir.flush(0.3).pending == 1
    assert time.monotonic() - started < 3
    is_over.set()


def test_memory_is_bounded_and_drops_are_counted() -> None:
    queue, big = [BatchSource(None, Counters(Notices(), None)) for _ in range(2)]
    pushed = [queue.push(QueuedEvent("id", b"x" * 10, 0.0)) for _ in range(QUEUE_EVENTS_MAX + 1)]
    assert pushed.count(False) == 1
    assert [big.push(QueuedEvent("id", b"x" * (20 * 1024 * 1024), 0.0)) for _ in range(2)] == [True, False]


def test_retry_after_is_followed_within_a_bound() -> None:
    assert judge(503, {"Retry-After": "7"}.get).after == 7
    assert judge(503, {"Retry-After": "10000"}.get).after == 300


class NoThread(threading.Thread):
    def start(self) -> None:
        raise RuntimeError("can't start new thread")


def test_a_program_that_cannot_start_a_thread_goes_on(make: Make, stub: Stub, monkeypatch: Any) -> None:
    monkeypatch.setattr(sender_module, "threading", SimpleNamespace(**{**vars(threading), "Thread": NoThread}))
    weir = make()
    weir.record(llm_event())
    # In the thread that calls it: at the end of the interpreter no other can be started.
    assert weir.flush(5) == (1, 0, 0)


def test_a_short_flush_leaves_later_requests_their_time(make: Make, stub: Stub, tmp_path: Path) -> None:
    weir = make(spool=tmp_path / "spool")
    weir.flush(0)
    sender: Any = weir.recorder._sender
    assert sender._courier.link.timeout == limits.REQUEST_TIMEOUT_S


def test_a_warning_that_cannot_be_written_ends_nothing(monkeypatch: Any) -> None:
    class Closed:
        def write(self, text: str) -> int:
            raise BrokenPipeError

    monkeypatch.delitem(sys.modules, "logging", raising=False)
    monkeypatch.setattr(sys, "stderr", Closed())
    Notices().say("problem", "text")


def test_a_flush_returns_in_a_signal_handler_that_interrupts_another_flush(
    make: Make, stub: Stub, monkeypatch: Any
) -> None:
    monkeypatch.setattr(sender_module, "threading", SimpleNamespace(**{**vars(threading), "Thread": NoThread}))
    weir = make()
    weir.record(llm_event())
    flushed: list[Any] = []
    post = Courier.post

    def post_interrupted(self: Courier, events: Any) -> Any:
        # As a handler does, in the thread that sends.
        flushed.append(weir.flush(0.2))
        return post(self, events)

    monkeypatch.setattr(Courier, "post", post_interrupted)
    assert weir.flush(30) == (1, 0, 0)
    assert flushed == [(0, 0, 1)]


def test_threads_that_record_first_at_the_same_time_share_a_recorder(monkeypatch: Any) -> None:
    both = threading.Barrier(2)

    def create(options: Any) -> Any:
        both.wait(30)
        return SimpleNamespace(options=options)

    monkeypatch.setattr(api_module, "_create_recorder", create)
    weir = Weir.__new__(Weir)
    recorders: list[Any] = []
    threads = [threading.Thread(target=lambda: recorders.append(weir.recorder)) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert recorders[0] is recorders[1]


def test_a_signal_handler_may_record_while_the_first_event_of_its_thread_is_recorded(
    make: Make, stub: Stub, monkeypatch: Any
) -> None:
    weir = make()
    create = weir.recorder._create_sender
    interruptions = [lambda: weir.record(llm_event())]

    def create_interrupted() -> Any:
        if interruptions:
            interruptions.pop()()
        return create()

    monkeypatch.setattr(weir.recorder, "_create_sender", create_interrupted)
    # In a thread of its own: a deadlock would be that of the test.
    thread = threading.Thread(target=lambda: weir.record(llm_event()), daemon=True)
    thread.start()
    thread.join(10)
    assert weir.flush() == (2, 0, 0)


def test_a_client_that_is_closed_is_forgotten(stub: Stub) -> None:
    weir = Weir(url=stub.url, api_key="key")
    weir.record(llm_event())
    recorder = weakref.ref(weir.recorder)
    assert weir.close() == (1, 0, 0)
    del weir
    until(lambda: gc.collect() is not None and recorder() is None)


def test_the_handler_of_sigterm_needs_the_main_thread(make: Make, caplog: Any) -> None:
    made: list[Weir] = []
    thread = threading.Thread(target=lambda: made.append(make(flush_on_sigterm=True)))
    thread.start()
    thread.join()
    assert made[0].is_enabled
    assert "needs the main thread" in caplog.text


def test_callbacks_that_raise_stop_nothing(make: Make, stub: Stub) -> None:
    def fail(argument: Any) -> None:
        raise ValueError

    stub.respond = lambda events: Reply(400, "events[0].x") if len(stub.requests) == 1 else None
    weir = make(on_accepted=fail, on_drop=fail)
    for _ in range(3):
        weir.record(llm_event())
    assert weir.flush() == (2, 1, 0)
    assert weir.close() == (0, 0, 0)


def test_threads_share_a_client(make: Make, stub: Stub) -> None:
    weir = make()
    threads = [threading.Thread(target=lambda: [weir.record(llm_event()) for _ in range(500)]) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    weir.flush()
    assert len(stub.events) == weir.stats().accepted == 4_000


def test_without_a_key_nothing_is_recorded_and_one_warning_is_logged(
    make: Make, stub: Stub, caplog: Any, monkeypatch: Any
) -> None:
    monkeypatch.delenv("WEIR_API_KEY", raising=False)
    weir = make(api_key="")
    weir.record(llm_event())
    assert weir.stats().dropped_by_reason == {"disabled": 1}
    assert "There is no API key" in caplog.text


_WRONG = (
    {"url": "ftp://x"},
    {"url": "http://x:y"},
    {"url": 1},
    {"api_key": "ä"},
    {"api_key": 1},
    {"sample_rate": "0.5"},
    {"sample_rate": 2},
    {"nonsense": 1},
)


@pytest.mark.parametrize("options", _WRONG)
def test_a_wrong_option_turns_recording_off_with_a_warning(options: Any, make: Make, caplog: Any) -> None:
    assert not make(**options).is_enabled
    assert len(caplog.records) == 1
