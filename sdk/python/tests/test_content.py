"""What of an event leaves the program: the mask, metadata, limits, and objects of the application."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from enum import Enum
from pathlib import Path
from typing import Any

import pytest
from stub import Stub, llm_event

from weir import Weir
from weir.event.json_text import encode, json_text
from weir.event.truncate import truncate_event
from weir.limits import EVENT_BYTES_MAX

Make = Callable[..., Weir]


def event_of(weir: Weir, stub: Stub) -> dict[str, Any]:
    weir.flush()
    (event,) = stub.events
    return event


def test_an_event_has_all_fields_of_the_contract(make: Make, stub: Stub) -> None:
    weir = make(tags=["a"], release="1", environment="test")
    event_id = weir.record(llm_event(durationMs=5, additionalProperties={"n": 1, "flag": True, "none": None}))
    event = event_of(weir, stub)
    assert next(iter(event)) == "id"
    assert (event["id"], event["durationMs"]) == (event_id, 5)
    assert event["endTimeMs"] - event["startTimeMs"] == pytest.approx(5)
    assert event["instrumentation"] == {"source": "application", "sourcePackage": "weir-sdk", "vendor": "weir"}
    assert event["additionalProperties"] == {
        "release": "1",
        "environment": "test",
        "tags": "a",
        "n": 1,
        "flag": "true",
    }


def test_the_mask_changes_and_drops(make: Make, stub: Stub) -> None:
    def mask(event: Any) -> Any:
        if event["properties"]["llm"]["model"] == "secret":
            return None
        event["properties"]["llm"]["input"]["prompt"] = "***"
        return event

    weir = make(mask=mask)
    weir.record({"type": "llm", "properties": {"llm": {"model": "secret"}}})
    thread = threading.Thread(target=lambda: weir.record(llm_event()))
    thread.start()
    thread.join()
    assert event_of(weir, stub)["properties"]["llm"]["input"] == {"prompt": "***"}
    assert weir.stats().dropped_by_reason == {"masked": 1}


@pytest.mark.parametrize("result", [ValueError, "no event", {"type": "tool"}, {"type": "llm", "properties": {}}])
def test_a_mask_that_fails_leaves_no_content(result: Any, make: Make, stub: Stub) -> None:
    def mask(event: Any) -> Any:
        if result is ValueError:
            raise ValueError
        return result

    weir = make(mask=mask)
    with weir.trace(user="ada", dimensions={"plan": "pro"}):
        weir.record(llm_event())
    event = event_of(weir, stub)
    assert event["properties"] == {"llm": {"model": "m", "output": {}}}
    assert (event["context"], event["additionalProperties"]) == ({}, {})
    assert weir.stats().mask_failures == 1


def test_metadata_has_no_content(make: Make, stub: Stub) -> None:
    weir = make(content="metadata")
    weir.record(llm_event(status={"state": "error", "error": {"code": "c", "httpStatus": 400, "message": "secret"}}))
    event = event_of(weir, stub)
    assert event["status"]["error"] == {"code": "c", "httpStatus": 400}
    assert event["properties"] == {"llm": {"model": "m", "output": {}}}


def test_a_share_of_the_traces_is_kept_and_every_error(make: Make, stub: Stub) -> None:
    weir = make(sample_rate=0)
    weir.record(llm_event())
    weir.record(llm_event(status={"state": "error"}))
    assert event_of(weir, stub)["status"] == {"state": "error"}
    assert weir.stats().sampled_out == 1


def test_an_event_above_a_request_is_shortened(make: Make, stub: Stub) -> None:
    weir = make()
    weir.record({"type": "llm", "properties": {"llm": {"model": "m", "input": {"prompt": "ä" * EVENT_BYTES_MAX}}}})
    prompt = json.loads(event_of(weir, stub)["properties"]["llm"]["input"]["prompt"])
    assert (prompt["truncated"], prompt["bytes"]) == (True, 2 * EVENT_BYTES_MAX)
    assert truncate_event('{"id":"x"}', 5) is None


class Color(Enum):
    RED = "red"


@dataclass
class Point:
    x: int
    tags: set[str]


class Row:
    """An ORM's: reading an attribute would load it."""

    def __getattr__(self, name: str) -> Any:
        raise AssertionError(f"{name} was read")

    def __repr__(self) -> str:
        raise AssertionError("repr ran")


def test_objects_are_converted_without_running_their_code() -> None:
    given = {
        "p": Point(1, {"a"}),
        "c": Color.RED,
        "d": date(2026, 1, 2),
        "b": b"xyz",
        "r": Row(),
        "e": ValueError("no"),
    }
    assert json.loads(json_text(given)) == {
        "p": {"x": 1, "tags": ["a"]},
        "c": "red",
        "d": "2026-01-02",
        "b": {"bytes": 3},
        "r": f"<{__name__}.Row>",
        "e": {"name": "ValueError", "message": "no"},
    }
    assert json_text(Path("a")) == '"a"'


def test_values_that_json_lacks_are_replaced() -> None:
    circular: list[Any] = [float("nan"), {1: 2, ("a",): 3}]
    circular.append(circular)
    assert json.loads(json_text(circular)) == ["nan", {"1": 2, "<tuple>": 3}, "[Circular]"]
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    assert "[Too deep]" in json_text(deep)
    assert encode(json_text("\ud800")) == b'"\\ud800"'
    many = json_text([object() for _ in range(20_000)])
    assert many.count("[Omitted]") == 10_000


def test_a_value_that_cannot_be_serialized_is_counted(make: Make, stub: Stub) -> None:
    class Broken(dict[str, Any]):
        def items(self) -> Any:
            raise ValueError

    weir = make()
    weir.record(llm_event(additionalProperties=Broken(a=1)))
    weir.record({})  # type: ignore[typeddict-item]
    assert weir.stats().dropped_by_reason["unserializable"] >= 1
    assert weir.flush().pending == 0
