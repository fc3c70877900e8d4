"""The applications of the servers of ``test_servers``: each records an event a request or a task."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable
from typing import Any

import celery
import fastapi
import fastapi.responses

import weir

_FOLDER = os.environ.get("BROKER", "")

worker = celery.Celery(broker="filesystem://", set_as_current=False)
worker.conf.broker_transport_options = {
    "data_folder_in": _FOLDER,
    "data_folder_out": _FOLDER,
    "control_folder": f"{_FOLDER}/control",
}


def record(who: str) -> None:
    llm = {"model": "m", "input": {"prompt": "Hi"}, "output": {"response": "Hello"}}
    weir.record({"type": "llm", "additionalProperties": {"who": who}, "properties": {"llm": llm}})


@worker.task(name="answer")  # type: ignore[untyped-decorator]
def answer(trace_id: str) -> None:
    with weir.trace(trace_id=trace_id):
        record("task")


def wsgi(environ: dict[str, Any], start_response: Callable[..., Any]) -> list[bytes]:
    record("request")
    start_response("200 OK", [])
    return [b"Hi"]


asgi = fastapi.FastAPI()


@asgi.get("/{thread}")
async def stream(thread: str) -> Any:
    async def body() -> AsyncIterator[str]:
        for part in ("H", "i"):
            record("stream")
            yield part

    # The server reads the body when this function has returned.
    with weir.trace(thread=thread):
        return fastapi.responses.StreamingResponse(weir.wrap(body()))


if "PRELOAD" in os.environ:
    record("preload")
