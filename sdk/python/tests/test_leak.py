"""Nothing of a call stays in memory after its event is delivered."""

from __future__ import annotations

import gc
import json
import sys
from collections.abc import Callable
from typing import Any

import pytest
from stub import Stub

from weir import Weir

httpx2 = pytest.importorskip("httpx2")
Make = Callable[..., Weir]


class SmallClient:
    """What ``observe`` changes in a client that retries, and nothing else: OpenAI's needs four times as long."""

    max_retries = 0

    def __init__(self, http: Any) -> None:
        self._client = http

    def request(self, kind: str) -> None:
        with self._client.stream("POST", "https://api.openai.com/v1/chat/completions", json={"model": kind}) as answer:
            for _ in answer.iter_bytes():
                if kind == "left":
                    return


def test_a_hundred_thousand_calls_leak_nothing(make: Make, stub: Stub) -> None:
    choice = {"index": 0, "message": {"content": "Hi"}, "finish_reason": "stop"}
    chunk = b'data: {"id":"c","choices":[{"index":0,"delta":{"content":"Hi"}}]}\n\n'
    whole = json.dumps({"id": "c", "model": "m", "choices": [choice]}).encode()
    answers = {"whole": [whole], "stream": [chunk, b"data: [DONE]\n\n"], "left": [chunk, chunk], "failed": [b"{}"]}

    def answer(request: Any) -> Any:
        kind = json.loads(request.content)["model"]
        return httpx2.Response(500 if kind == "failed" else 200, content=iter(answers[kind]))

    weir = make()
    client = weir.observe(SmallClient(httpx2.Client(transport=httpx2.MockTransport(answer))))

    @weir.tool
    def call(at: int) -> None:
        with weir.span("step"):
            client.request(tuple(answers)[at % 4])

    def run(calls: int) -> int:
        for at in range(calls):
            # Some in a tool: their events have a parent.
            (call if at % 8 == 0 else call.__wrapped__)(at)  # type: ignore[attr-defined]
            if at % 500 == 0:
                weir.flush()
        weir.flush()
        stub.forget()
        gc.collect()
        return sys.getallocatedblocks()

    # Of the first calls something stays, such as the last ids, by which frameworks find an observed call.
    before = run(4_000)
    after = run(100_000)
    assert after - before < 1_000
    assert weir.stats().accepted == 104_000 * 9 // 8
