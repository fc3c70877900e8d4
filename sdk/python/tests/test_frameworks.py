"""LangChain, LangGraph, OpenAI's Agents SDK, Pydantic AI and MCP: one event a call, also above an observed client."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any
from uuid import uuid4

import pytest
from stub import Stub

from weir import Weir
from weir.event.scope import Scope, current_scope

pytest.importorskip("openai")
_URL = os.environ.get("PROVIDER_URL", "")
pytestmark = pytest.mark.skipif(not _URL, reason="needs the provider of the TypeScript SDK's tests")

Make = Callable[..., Weir]
_TICKET = '"ticket":9007199254740993123'


@pytest.fixture(autouse=True)
def no_scope_is_left() -> Any:
    yield
    assert current_scope() == Scope()


def calls(weir: Weir, stub: Stub) -> tuple[list[Any], list[Any]]:
    weir.flush()
    events = sorted(stub.events, key=lambda event: event["startTimeMs"])
    kinds = [[event for event in events if event["type"] == kind] for kind in ("llm", "tool")]
    return kinds[0], kinds[1]


def check(llm: list[Any], tools: list[Any], package: str) -> None:
    """The provider's first answer calls two tools, and the second one is text."""
    assert [event["properties"]["llm"]["output"]["mode"] for event in llm] == ["tool_calls", "text"]
    assert {event["properties"]["tool"]["name"] for event in tools} == {"get_weather", "get_rate"}
    assert len(tools) == 2
    assert {event["instrumentation"]["sourcePackage"] for event in llm} == {package}
    assert len({event["traceId"] for event in [*llm, *tools]}) == 1
    assert llm[0]["properties"]["llm"]["usage"]["totalTokens"] == 150
    assert all(event["status"] == {"state": "ok"} for event in [*llm, *tools])


def get_weather(city: str, ticket: int) -> str:
    """The weather."""
    return f"warm in {city}"


def get_rate(symbol: str) -> str:
    """The rate."""
    return "1.0"


@pytest.mark.parametrize("is_observed", [False, True], ids=["alone", "with observe"])
@pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])
@pytest.mark.filterwarnings("ignore")
def test_langgraph_agent(is_observed: bool, is_async: bool, make: Make, stub: Stub) -> None:
    import httpx2
    from langchain_core.tools import tool
    from langchain_openai import ChatOpenAI
    from langgraph.prebuilt import create_react_agent

    from weir.langchain import weir_callbacks

    weir = make()
    # LangChain's own is shared by the tests, whose event loops end.
    http: Any = httpx2.AsyncClient()
    model = ChatOpenAI(model="agent", base_url=_URL, api_key="k", http_async_client=http)
    if is_observed:
        weir.observe(model.root_client)
        weir.observe(model.root_async_client)
    # A decorated function below a tool of LangChain is one event.
    agent = create_react_agent(model, [tool(weir.tool(get_weather)), tool(get_rate)])
    config: Any = {
        "callbacks": [weir_callbacks(weir)],
        "metadata": {"thread_id": "thread-1", "user_id": "ada", "plan": "pro"},
    }
    given: Any = {"messages": [("user", "How warm is it?")]}
    if is_async:
        asyncio.run(agent.ainvoke(given, config))
    else:
        agent.invoke(given, config)
    llm, tools = calls(weir, stub)
    check(llm, tools, "openai" if is_observed else "langchain")
    assert llm[0]["context"] == {"threadId": "thread-1", "userId": "ada"}
    assert llm[0]["additionalProperties"]["plan"] == "pro"
    assert "agent" in llm[0]["additionalProperties"]["span.path"]
    assert "tools" in tools[0]["additionalProperties"]["span.path"]
    assert _TICKET in llm[0]["properties"]["llm"]["output"]["toolCalls"][0]["arguments"]


def test_calls_of_langchain_one_after_another_in_a_task_share_no_scope(make: Make, stub: Stub) -> None:
    from langchain_core.prompts import ChatPromptTemplate
    from langchain_openai import ChatOpenAI

    from weir.langchain import weir_callbacks

    weir = make()
    model = ChatOpenAI(model="text", base_url=_URL, api_key="k")
    chain = ChatPromptTemplate.from_messages([("user", "{question}")]) | model
    handler = weir_callbacks(weir)

    async def serve() -> None:
        for user in ("ada", None):
            metadata = {"user_id": user} if user else {}
            await chain.ainvoke({"question": "Hi"}, {"callbacks": [handler], "metadata": metadata})
            assert current_scope() == Scope()

    asyncio.run(serve())
    llm, _ = calls(weir, stub)
    assert [event.get("context", {}).get("userId") for event in llm] == ["ada", None]
    assert len({event["traceId"] for event in llm}) == 2
    assert len({event["additionalProperties"]["span.path"] for event in llm}) == 1


@pytest.mark.parametrize("is_observed", [False, True], ids=["alone", "with observe"])
def test_a_model_of_langchain_that_fails_and_one_that_streams(is_observed: bool, make: Make, stub: Stub) -> None:
    from langchain_openai import ChatOpenAI

    from weir.langchain import weir_callbacks

    weir = make()
    config: Any = {"callbacks": [weir_callbacks(weir)]}
    for name in ("bad-request", "text"):
        model = ChatOpenAI(model=name, base_url=_URL, api_key="k", stream_usage=True)
        if is_observed:
            weir.observe(model.root_client)
        if name == "text":
            assert "".join(str(chunk.content) for chunk in model.stream("Hi", config)).startswith("It is 21")
        else:
            with pytest.raises(Exception, match="It is 400"):
                model.invoke("Hi", config)
    llm, _ = calls(weir, stub)
    assert [event["status"]["state"] for event in llm] == ["error", "ok"]
    assert llm[0]["status"]["error"]["httpStatus"] == 400
    assert llm[1]["properties"]["llm"]["timeToFirstChunkMs"] > 0
    assert llm[1]["properties"]["llm"]["usage"]["totalTokens"] == 150


@pytest.mark.parametrize("is_observed", [False, True], ids=["alone", "with observe"])
@pytest.mark.filterwarnings("ignore")
def test_runs_of_a_batch_of_langchain_are_traces_of_their_own(is_observed: bool, make: Make, stub: Stub) -> None:
    from langchain_core.messages import HumanMessage
    from langchain_core.prompts import ChatPromptTemplate
    from langchain_openai import ChatOpenAI

    from weir.langchain import weir_callbacks

    weir = make()
    model = ChatOpenAI(model="text", base_url=_URL, api_key="k")
    if is_observed:
        weir.observe(model.root_client)
    config: Any = {"callbacks": [weir_callbacks(weir)]}
    chain = ChatPromptTemplate.from_messages([("user", "{question}")]) | model
    chain.batch([{"question": "Hi"}] * 3, config)
    assert current_scope() == Scope()
    model.generate([[HumanMessage("Hi")]] * 2, **config)
    assert current_scope() == Scope()
    llm, _ = calls(weir, stub)
    assert len(llm) == 5
    assert len({event["traceId"] for event in llm[:3]}) == 3
    assert {event["additionalProperties"]["span.path"] for event in llm[:3]} == {"RunnableSequence"}
    assert {event["traceId"] for event in llm[:3]}.isdisjoint(event["traceId"] for event in llm[3:])


@pytest.mark.parametrize("is_observed", [False, True], ids=["alone", "with observe"])
@pytest.mark.parametrize("api", ["chat", "responses"])
def test_openai_agents(api: str, is_observed: bool, make: Make, stub: Stub) -> None:
    import agents
    from openai import AsyncOpenAI

    from weir.openai_agents import weir_trace_processor

    weir = make()
    client = AsyncOpenAI(base_url=_URL, api_key="k")
    if is_observed:
        weir.observe(client)
    kind = agents.OpenAIChatCompletionsModel if api == "chat" else agents.OpenAIResponsesModel
    agents.set_trace_processors([weir_trace_processor(weir)])
    agents.set_tracing_disabled(False)
    agent = agents.Agent(
        name="traveller",
        instructions="Be brief.",
        model=kind(model="agent", openai_client=client),
        tools=[agents.function_tool(get_weather), agents.function_tool(get_rate)],
    )
    config = agents.RunConfig(group_id="thread-1")
    asyncio.run(agents.Runner.run(agent, "How warm is it?", run_config=config))
    llm, tools = calls(weir, stub)
    check(llm, tools, "openai" if is_observed else "openai-agents")
    assert {event["context"]["agentId"] for event in [*llm, *tools]} == {"traveller"}
    assert {event["context"]["threadId"] for event in [*llm, *tools]} == {"thread-1"}
    assert _TICKET in llm[0]["properties"]["llm"]["output"]["toolCalls"][0]["arguments"]


def test_a_streamed_chat_of_openai_agents(make: Make, stub: Stub) -> None:
    import agents
    from openai import AsyncOpenAI

    from weir.openai_agents import weir_trace_processor

    async def main() -> None:
        running = agents.Runner.run_streamed(agent, "How warm is it?")
        async for _ in running.stream_events():
            pass

    weir = make()
    agents.set_trace_processors([weir_trace_processor(weir)])
    agents.set_tracing_disabled(False)
    agent = agents.Agent(
        name="traveller",
        model=agents.OpenAIChatCompletionsModel(model="agent", openai_client=AsyncOpenAI(base_url=_URL, api_key="k")),
        model_settings=agents.ModelSettings(include_usage=True),
        tools=[agents.function_tool(get_weather), agents.function_tool(get_rate)],
    )
    asyncio.run(main())
    llm, tools = calls(weir, stub)
    check(llm, tools, "openai-agents")
    assert _TICKET in llm[0]["properties"]["llm"]["output"]["toolCalls"][0]["arguments"]


def test_a_version_of_pydantic_ai_with_other_shapes_is_not_disturbed(make: Make, stub: Stub) -> None:
    from weir.pydantic_ai import WeirCapability

    weir = make()

    async def handle(context: Any) -> str:
        return "no known response"

    call = WeirCapability(weir).wrap_model_request(None, request_context=SimpleNamespace(model=None), handler=handle)
    assert asyncio.run(call) == "no known response"
    assert [event["status"] for event in calls(weir, stub)[0]] == [{"state": "ok"}]


def test_calls_that_raise_before_they_can_be_awaited_are_recorded(make: Make, stub: Stub) -> None:
    from weir.mcp import observe_mcp
    from weir.pydantic_ai import WeirCapability

    class Session:
        def call_tool(self, name: str, arguments: Any = None) -> Any:
            raise ValueError("closed")

    def handle(context: Any) -> Any:
        raise ValueError("closed")

    async def main() -> None:
        capability = WeirCapability(weir)
        context, tool = SimpleNamespace(model=None), SimpleNamespace(tool_name="get_rate", tool_call_id="call_1")
        with pytest.raises(ValueError, match="closed"):
            await capability.wrap_model_request(None, request_context=context, handler=handle)
        with pytest.raises(ValueError, match="closed"):
            await capability.wrap_tool_execute(None, call=tool, tool_def=None, args={}, handler=handle)
        with pytest.raises(ValueError, match="closed"):
            await observe_mcp(Session(), weir).call_tool(name="get_weather", arguments={"city": "Bern"})

    weir = make()
    asyncio.run(main())
    llm, tools = calls(weir, stub)
    assert [event["status"]["error"]["code"] for event in [*llm, *tools]] == ["ValueError"] * 3
    assert [event["properties"]["tool"]["input"] for event in tools] == [{}, {"city": "Bern"}]


def test_a_version_of_langchain_with_other_shapes_ends_its_runs(make: Make, stub: Stub) -> None:
    from weir.langchain import weir_callbacks

    weir = make()
    handler = weir_callbacks(weir)
    run_id = uuid4()
    handler.on_chat_model_start({}, [[("user", "Hi")]], run_id=run_id)
    handler.on_llm_end(SimpleNamespace(generations=[], llm_output=None), run_id=run_id)
    assert [event["status"] for event in calls(weir, stub)[0]] == [{"state": "ok"}]


@pytest.mark.parametrize("is_observed", [False, True], ids=["alone", "with observe"])
def test_pydantic_ai(is_observed: bool, make: Make, stub: Stub) -> None:
    from openai import AsyncOpenAI
    from pydantic_ai import Agent
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider

    from weir.pydantic_ai import WeirCapability

    weir = make()
    client = AsyncOpenAI(base_url=_URL, api_key="k")
    if is_observed:
        weir.observe(client)
    model = OpenAIChatModel("agent", provider=OpenAIProvider(openai_client=client))
    agent: Any = Agent(model, name="traveller", tools=[get_weather, get_rate], capabilities=[WeirCapability(weir)])
    asyncio.run(agent.run("How warm is it?"))
    llm, tools = calls(weir, stub)
    check(llm, tools, "openai" if is_observed else "pydantic-ai")
    assert {event["context"]["agentId"] for event in [*llm, *tools]} == {"traveller"}


def test_mcp(make: Make, stub: Stub) -> None:
    from weir.mcp import observe_mcp

    class Session:
        async def call_tool(self, name: str, args: Any = None, **options: Any) -> Any:
            arguments = options.get("arguments", args)
            content = [SimpleNamespace(text=f"warm in {arguments['city']}")]
            return SimpleNamespace(content=content, structured_content=None, is_error=name == "broken")

    async def main() -> None:
        session = observe_mcp(Session(), weir)
        with weir.trace(thread="thread-1"):
            await session.call_tool("get_weather", {"city": "Bern"})
            # As a group of sessions names them.
            await session.call_tool("broken", args={"city": "Bern"})

    weir = make()
    asyncio.run(main())
    _, tools = calls(weir, stub)
    assert tools[0]["properties"]["tool"] == {
        "name": "get_weather",
        "input": {"city": "Bern"},
        "output": "warm in Bern",
    }
    assert tools[1]["status"] == {"state": "error", "error": {"message": "warm in Bern"}}
