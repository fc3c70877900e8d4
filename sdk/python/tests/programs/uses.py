# pyright: strict
"""Uses of the package whose types checkers have to infer. mypy and pyright read it; nothing runs it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from typing_extensions import assert_type

import weir


class Client:
    """Of a provider."""


assert_type(weir.observe(Client()), Client)
assert_type(weir.observe(Client(), source="proxy", include_usage=True), Client)
assert_type(weir.init(spool="/tmp/spool", tags=["a"], content="metadata"), weir.Weir)
weir.init(unknown=1)  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]


@weir.tool
def add(a: int, *, b: int = 1) -> int:
    return a + b


@weir.tool("rate")
async def rate(symbol: str) -> float:
    return 1.5


@weir.tool()
def count(upto: int) -> Iterator[int]:
    yield from range(upto)


@weir.agent("traveller", user="ada")
async def letters() -> AsyncIterator[str]:
    yield "a"


@weir.trace
def plan(question: str) -> list[str]:
    return [question]


@weir.span("rank", tags="a")
def rank(questions: list[str]) -> str:
    return questions[0]


@weir.serverless
def handler(event: dict[str, Any], context: object) -> str:
    return "done"


class Weather:
    @weir.tool
    def get(self, city: str) -> str:
        return city

    @staticmethod
    @weir.tool
    def known() -> int:
        return 1

    @classmethod
    @weir.tool("kind")
    def kind(cls, name: str) -> str:
        return name


async def wait() -> None:
    assert_type(await rate("CHF"), float)


assert_type(add(1, b=2), int)
assert_type(count(2), Iterator[int])
assert_type(letters(), AsyncIterator[str])
assert_type(plan("How?"), list[str])
assert_type(rank(["How?"]), str)
assert_type(handler({}, None), str)
assert_type(Weather().get("Bern"), str)
assert_type(Weather.known(), int)
assert_type(Weather.kind("a"), str)
add("1")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]

named: Callable[[list[str]], str] = weir.wrap(rank)
assert_type(weir.wrap(ThreadPoolExecutor()), ThreadPoolExecutor)
with weir.trace("plan", thread="thread-1", dimensions={"plan": "pro"}) as trace:
    assert_type(trace, weir.Trace)
    assert_type(trace.id, str | None)
assert_type(weir.record({"type": "llm", "properties": {"llm": {"model": "a"}}}), str)
assert_type(weir.flush(1), weir.FlushResult)
assert_type(weir.stats().recorded, int)
