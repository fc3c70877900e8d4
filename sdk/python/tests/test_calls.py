"""Tools, agents, traces and spans of the application's own functions."""

from __future__ import annotations

import asyncio
import inspect
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from typing import Any

import pytest
from stub import Stub, llm_event

from weir import Weir
from weir.calls.trace import Trace
from weir.event.scope import Scope, current_scope
from weir.frameworks import Run

Make = Callable[..., Weir]


@pytest.fixture(autouse=True)
def no_scope_is_left() -> Iterator[None]:
    yield
    assert current_scope() == Scope()


def events_of(weir: Weir, stub: Stub) -> list[dict[str, Any]]:
    weir.flush()
    return stub.events


def test_a_function_a_method_and_a_coroutine_are_tools(make: Make, stub: Stub) -> None:
    weir = make()

    class Weather:
        @weir.tool
        def get(self, city: str, *, days: int = 1) -> list[int]:
            return [21] * days

        @weir.tool("static")
        @staticmethod
        def known() -> int:
            return 1

        @classmethod
        @weir.tool(None)
        def kind(cls, tool_call_id: str) -> str:
            return cls.__name__

    @weir.tool
    async def rate(symbol: str) -> float:
        await asyncio.sleep(0)
        return 1.5

    assert Weather().get("Bern", days=2) == [21, 21]
    assert (Weather.known(), Weather.kind("call_1")) == (1, "Weather")
    assert inspect.iscoroutinefunction(rate)
    assert asyncio.run(rate("CHF")) == 1.5
    tools = [event["properties"]["tool"] for event in events_of(weir, stub)]
    assert tools == [
        {"name": "get", "input": {"city": "Bern", "days": 2}, "output": [21, 21]},
        {"name": "static", "input": {}, "output": 1},
        {"name": "kind", "callId": "call_1", "input": {"tool_call_id": "call_1"}, "output": "Weather"},
        {"name": "rate", "input": {"symbol": "CHF"}, "output": 1.5},
    ]


def test_exceptions_are_recorded_and_unchanged(make: Make, stub: Stub) -> None:
    weir = make()
    error = TypeError("wrong")

    @weir.tool
    def fail() -> None:
        raise error

    with pytest.raises(TypeError) as caught:
        fail()
    assert caught.value is error
    with pytest.raises(TypeError, match="unexpected keyword"):
        fail(unknown=1)  # type: ignore[call-arg]
    first, second = events_of(weir, stub)
    assert first["status"] == {"state": "error", "error": {"code": "TypeError", "message": "wrong"}}
    assert second["status"]["state"] == "error"


def test_a_coroutine_function_that_refuses_its_arguments_is_recorded(make: Make, stub: Stub) -> None:
    weir = make()

    @weir.tool
    async def rate(symbol: str) -> float:
        return 1.5

    with pytest.raises(TypeError, match="unexpected keyword"):
        asyncio.run(rate(unknown=1))  # type: ignore[call-arg]
    (event,) = events_of(weir, stub)
    assert event["status"]["error"]["code"] == "TypeError"


def test_a_tool_is_recorded_as_it_was_called(make: Make, stub: Stub) -> None:
    weir = make()

    @weir.tool
    def change(given: list[int]) -> list[int]:
        given.append(2)
        return given

    change([1])
    (event,) = events_of(weir, stub)
    assert event["properties"]["tool"] == {"name": "change", "input": {"given": [1]}, "output": [1, 2]}


def test_generators_record_what_they_yield_and_keep_their_protocol(make: Make, stub: Stub) -> None:
    weir = make()

    @weir.tool
    def count(upto: int) -> Iterator[Any]:
        for at in range(upto):
            try:
                yield at
            except KeyError:
                yield "caught"

    @weir.tool
    async def letters() -> AsyncIterator[str]:
        for letter in "ab":
            yield letter

    assert list(count(3)) == [0, 1, 2]
    running: Any = count(3)
    assert next(running) == 0
    assert running.throw(KeyError()) == "caught"
    running.close()

    async def main() -> list[str]:
        return [letter async for letter in letters()]

    assert asyncio.run(main()) == ["a", "b"]
    outputs = [event["properties"]["tool"]["output"] for event in events_of(weir, stub)]
    assert outputs == [[0, 1, 2], [0, "caught"], ["a", "b"]]


def test_a_long_stream_is_bounded(make: Make, stub: Stub) -> None:
    weir = make()
    assert sum(1 for _ in weir.tool("many")(lambda: (at for at in range(5_000)))()) == 5_000
    (event,) = events_of(weir, stub)
    output = event["properties"]["tool"]["output"]
    assert len(output) == 1_002
    assert output[-2:] == [{"omitted": 3_999}, 4_999]


def test_spans_agents_and_tools_are_a_tree(make: Make, stub: Stub) -> None:
    weir = make(release="1.2.3")

    @weir.tool
    def search() -> None:
        with weir.span("rank"):
            weir.record(llm_event())

    @weir.agent("traveller")
    async def plan() -> None:
        await asyncio.sleep(0)
        search()

    with weir.trace(thread="thread-1", user="ada", tags=["beta"], dimensions={"plan": "pro"}) as trace:
        asyncio.run(plan())
        trace_id = trace.id
    inner, tool = events_of(weir, stub)
    assert inner["traceId"] == tool["traceId"] == trace_id
    assert inner["context"] == {"threadId": "thread-1", "agentId": "traveller", "userId": "ada"}
    dimensions = inner["additionalProperties"]
    assert dimensions["span.path"] == "traveller > rank"
    assert dimensions["otel.parent_event_id"] == tool["id"]
    assert (dimensions["release"], dimensions["tags"], dimensions["plan"]) == ("1.2.3", "beta", "pro")


def test_a_decorator_of_traces_needs_no_parentheses(make: Make, stub: Stub) -> None:
    weir = make()

    @weir.trace
    def plan(city: str) -> str:
        weir.record(llm_event())
        return city

    assert plan("Bern") == "Bern"
    (event,) = events_of(weir, stub)
    assert event["additionalProperties"]["span.path"] == "plan"


def test_no_task_is_created_and_a_time_out_of_the_caller_holds(make: Make) -> None:
    weir = make()

    @weir.agent
    async def step() -> Any:
        return asyncio.current_task()

    @weir.agent
    async def slow() -> None:
        await asyncio.sleep(60)

    async def main() -> None:
        assert await step() is asyncio.current_task()
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(slow(), 0.01)

    asyncio.run(main())


def test_threads_and_tasks_share_a_trace_and_end_it_in_any_order(make: Make) -> None:
    """Each has its own scope: the first to enter is the first to leave."""
    shared = make().trace(thread="thread-1")
    turns = [threading.Event() for _ in range(4)]
    seen: dict[str, list[Any]] = {"first": [], "second": []}

    def run(name: str, enter: int, leave: int) -> None:
        assert turns[enter].wait(10)
        with shared:
            seen[name].append(current_scope().thread)
            turns[enter + 1].set()
            assert turns[leave].wait(10)
        seen[name].append(current_scope())
        if leave < 3:
            turns[leave + 1].set()

    with ThreadPoolExecutor(2) as executor:
        running = [executor.submit(run, "first", 0, 2), executor.submit(run, "second", 1, 3)]
        turns[0].set()
        for future in running:
            future.result(20)
    assert seen == {name: ["thread-1", Scope()] for name in seen}

    async def step(first: asyncio.Event, last: asyncio.Event) -> Scope:
        with shared, shared:
            first.set()
            await last.wait()
        return current_scope()

    async def main() -> list[Scope]:
        one, other = asyncio.Event(), asyncio.Event()
        return await asyncio.gather(step(one, other), step(other, one))

    assert asyncio.run(main()) == [Scope(), Scope()]
    assert shared._entered == {}


def test_a_trace_ends_where_a_framework_left_its_own_scope(make: Make) -> None:
    """A run that is never reported to end, such as a stream that is not read to its end."""
    weir = make()
    shared = weir.trace(user="ann")
    for _ in range(2):
        with weir.trace(user="around"), shared:
            Run(weir.recorder, "langchain").as_model().enter()
        assert current_scope() == Scope()
    assert shared._entered == {}


def test_a_single_text_is_one_tag(make: Make, stub: Stub) -> None:
    weir = make(tags="prod")
    with weir.trace(tags="beta"):
        weir.record(llm_event())
    (event,) = events_of(weir, stub)
    assert event["additionalProperties"]["tags"] == "prod, beta"


def test_a_generator_has_the_scope_of_its_call_in_every_thread(make: Make, stub: Stub) -> None:
    weir = make()

    @weir.trace("stream")
    def body() -> Iterator[int]:
        for at in range(3):
            with weir.span(f"step {at}"):
                weir.record(llm_event())
                yield at

    def iterate(iterator: Iterator[int]) -> None:
        thread = threading.Thread(target=lambda: next(iterator, None))
        thread.start()
        thread.join()

    with weir.trace(thread="thread-1"):
        iterator = iter(body())
    for _ in range(4):
        iterate(iterator)
    events = events_of(weir, stub)
    assert {event["context"]["threadId"] for event in events} == {"thread-1"}
    paths = [event["additionalProperties"]["span.path"] for event in events]
    assert paths == [f"stream > step {at}" for at in range(3)]


def test_an_asynchronous_generator_that_is_abandoned_raises_nothing(make: Make) -> None:
    weir = make()

    async def body() -> AsyncIterator[int]:
        with weir.trace("inside"):
            yield 1
            yield 2

    async def main() -> None:
        async for _ in weir.trace("outside")(body)():
            break

    asyncio.run(main())


def test_executors_and_functions_carry_the_scope(make: Make, stub: Stub) -> None:
    weir = make()

    def record(at: int) -> None:
        weir.record(llm_event(additionalProperties={"at": at}))

    with ThreadPoolExecutor(2) as executor, weir.trace(thread="thread-1"):
        assert weir.wrap(weir.wrap(executor)) is executor
        list(executor.map(record, range(4)))
        wrapped = weir.wrap(record)
        loop = asyncio.new_event_loop()
        loop.run_until_complete(loop.run_in_executor(executor, record, 4))
        loop.close()
    wrapped(5)
    events = events_of(weir, stub)
    assert len(events) == 6
    assert {event["context"]["threadId"] for event in events} == {"thread-1"}


def test_a_wrapped_object_that_is_called_as_a_coroutine_function_is_known_as_one(make: Make) -> None:
    class Note:
        async def __call__(self) -> str | None:
            return current_scope().thread

    weir = make()
    with weir.trace(thread="thread-1"):
        note = weir.wrap(Note())
    assert inspect.iscoroutinefunction(note)
    assert asyncio.run(note()) == "thread-1"


def test_a_generator_tool_whose_end_raises_is_recorded(make: Make, stub: Stub) -> None:
    weir = make()

    @weir.tool
    def count() -> Iterator[int]:
        try:
            yield 1
        finally:
            raise ValueError("at its end")

    body = count()
    next(body)
    with pytest.raises(ValueError, match="at its end"):
        body.close()
    (event,) = events_of(weir, stub)
    assert event["status"]["state"] == "error"


def test_background_tasks_of_fastapi_await_wrapped_coroutine_functions(make: Make) -> None:
    fastapi = pytest.importorskip("fastapi")
    testclient = pytest.importorskip("fastapi.testclient")
    weir = make()
    app = fastapi.FastAPI()
    threads: list[str | None] = []

    async def note_async() -> None:
        threads.append(current_scope().thread)

    def note() -> None:
        threads.append(current_scope().thread)

    def answer(tasks: Any) -> None:
        with weir.trace(thread="thread-1"):
            tasks.add_task(weir.wrap(note_async))
            tasks.add_task(weir.wrap(note))

    answer.__annotations__ = {"tasks": fastapi.BackgroundTasks}
    app.get("/")(answer)
    testclient.TestClient(app).get("/")
    assert threads == ["thread-1", "thread-1"]


def current_thread_id(_: int) -> str | None:
    return current_scope().thread


def test_a_pool_of_processes_carries_the_scope(make: Make) -> None:
    weir = make()
    with ProcessPoolExecutor(1) as executor, weir.trace(thread="thread-1"):
        assert list(weir.wrap(executor).map(current_thread_id, [1])) == ["thread-1"]


def test_a_handler_of_a_serverless_platform_delivers_in_time(make: Make, stub: Stub) -> None:
    weir = make()

    class Context:
        def get_remaining_time_in_millis(self) -> int:
            return 3_000

    @weir.serverless
    def handler(event: dict[str, Any], context: Context) -> str:
        weir.record(llm_event())
        return "done"

    @weir.serverless
    async def handler_async(event: dict[str, Any]) -> str:
        weir.record(llm_event())
        return "done"

    assert handler({}, Context()) == asyncio.run(handler_async({})) == "done"
    assert len(stub.events) == 2


def test_a_streaming_response_of_fastapi_is_inside_of_its_trace(make: Make, stub: Stub) -> None:
    fastapi = pytest.importorskip("fastapi")
    responses = pytest.importorskip("fastapi.responses")
    testclient = pytest.importorskip("fastapi.testclient")
    weir = make()
    app = fastapi.FastAPI()

    @app.get("/")
    async def answer() -> Any:
        @weir.tool
        def body() -> Iterator[str]:
            weir.record(llm_event())
            yield "Hi"

        with weir.trace(thread="thread-1"):
            return responses.StreamingResponse(body())

    assert testclient.TestClient(app).get("/").text == "Hi"
    inner, tool = events_of(weir, stub)
    assert inner["context"] == tool["context"] == {"threadId": "thread-1"}
    assert inner["additionalProperties"]["otel.parent_event_id"] == tool["id"]


def test_an_identity_that_is_unknown_may_be_none() -> None:
    unknown: Any = dict.fromkeys(("thread", "tags", "dimensions"))
    scope = Trace("plan", unknown).scope()
    assert scope._replace(trace_id=None, spans=()) == Scope()


def test_names_and_depths_of_spans_are_bounded() -> None:
    scope = Scope()
    for _ in range(20):
        with_name = Trace("a > b" * 100, {})
        scope = with_name.scope()
        scope = scope.inside(scope.spans[0].name)
    assert len(scope.spans[0].name) == 100
    assert " > " not in scope.spans[0].name
