"""The clients of the providers, observed: they behave as before, and each call is one event."""

from __future__ import annotations

import asyncio
import gc
import os
from collections.abc import Callable
from typing import Any

import pytest
from stub import Stub

import weir
from weir import Weir

openai = pytest.importorskip("openai")
httpx2 = pytest.importorskip("httpx2")
_URL = os.environ.get("PROVIDER_URL", "")
_ROOT = _URL.removesuffix("/v1")
pytestmark = pytest.mark.skipif(not _URL, reason="needs the provider of the TypeScript SDK's tests")

Make = Callable[..., Weir]
_MESSAGES: Any = [{"role": "user", "content": "How warm is it?"}]
_ANSWER = "It is 21 °C in Zürich 🌤."
_ARGUMENTS = '{"city":"Bern","ticket":9007199254740993123}'


def llm_of(weir: Weir, stub: Stub) -> list[dict[str, Any]]:
    weir.flush()
    events = sorted(stub.events, key=lambda event: event["startTimeMs"])
    return [event["properties"]["llm"] | {"status": event["status"]} for event in events]


def client_of(weir: Weir, **options: Any) -> Any:
    return weir.observe(openai.OpenAI(base_url=_URL, api_key="k", **options))


def test_the_client_itself_is_returned_and_its_answers_are_its_own(make: Make, stub: Stub) -> None:
    weir = make()
    bare = openai.OpenAI(base_url=_URL, api_key="k")
    client = weir.observe(openai.OpenAI(base_url=_URL, api_key="k"))
    assert type(client) is openai.OpenAI
    for kind in ("text", "tools", "json"):
        create = [made.chat.completions.create for made in (bare, client)]
        expected, observed = [call(model=kind, messages=_MESSAGES) for call in create]
        assert observed == expected
        raw = client.chat.completions.with_raw_response.create(model=kind, messages=_MESSAGES)
        assert (raw.status_code, raw.parse()) == (200, expected)
    assert len(llm_of(weir, stub)) == 6


def test_raw_streaming_and_parsed_answers(make: Make, stub: Stub) -> None:
    from pydantic import BaseModel

    class City(BaseModel):
        city: str

    weir = make()
    client = client_of(weir)
    parsed = client.chat.completions.parse(model="json", messages=_MESSAGES, response_format=City)
    assert parsed.choices[0].message.parsed == City(city="Bern")
    with client.responses.with_streaming_response.create(model="text", input="Hi") as response:
        assert b"resp_1" in b"".join(response.iter_bytes())
    with client.chat.completions.stream(model="text", messages=_MESSAGES) as stream:
        for _ in stream:
            pass
        assert stream.get_final_completion().choices[0].message.content == _ANSWER
    modes = [llm["output"]["mode"] for llm in llm_of(weir, stub)]
    assert modes == ["json", "text", "text"]


def test_a_stream_is_read_as_the_application_reads_it(make: Make, stub: Stub) -> None:
    weir = make()
    stream = client_of(weir).chat.completions.create(model="slow", messages=_MESSAGES, stream=True)
    first = next(stream)
    assert first.id == "chatcmpl-1"
    assert llm_of(weir, stub) == []
    stream.close()
    (llm,) = llm_of(weir, stub)
    assert llm["status"]["error"]["code"] == "aborted"
    assert llm["timeToFirstChunkMs"] > 0


def test_a_forgotten_stream_is_recorded(make: Make, stub: Stub) -> None:
    weir = make()
    stream = client_of(weir).chat.completions.create(model="slow", messages=_MESSAGES, stream=True)
    next(stream)
    del stream
    gc.collect()
    assert len(llm_of(weir, stub)) == 1


def test_a_call_with_retries_is_one_event(make: Make, stub: Stub) -> None:
    weir = make()
    client = client_of(weir, max_retries=2)
    for name in ("rate-limited-once", "broken-once"):
        client.with_options(timeout=20).chat.completions.create(model=name, messages=_MESSAGES)
    with pytest.raises(openai.RateLimitError):
        client.chat.completions.create(model="rate-limited", messages=_MESSAGES)
    first, second, third = llm_of(weir, stub)
    assert (first["retries"], second["retries"], third["retries"]) == (1, 1, 2)
    assert (first["status"], second["status"]) == ({"state": "ok"}, {"state": "ok"})
    assert third["status"]["error"] == {"code": "code_429", "httpStatus": 429, "message": "It is 429."}


@pytest.mark.parametrize(
    ("model", "code"),
    [("bad-request", "code_400"), ("error-in-stream", "overloaded_error"), ("cut-off", "RemoteProtocolError")],
)
def test_errors_are_the_clients_own(model: str, code: str, make: Make, stub: Stub) -> None:
    weir = make()
    thrown = []
    for client in (openai.OpenAI(base_url=_URL, api_key="k"), client_of(weir)):
        with pytest.raises(openai.APIError) as caught:
            list(client.chat.completions.create(model=model, messages=_MESSAGES, stream=True))
        thrown.append((type(caught.value), str(caught.value)))
    assert thrown[0] == thrown[1]
    (llm,) = llm_of(weir, stub)
    assert llm["status"]["error"]["code"] == code


def test_time_outs_and_cancellation_of_asynchronous_calls(make: Make, stub: Stub) -> None:
    weir = make()
    client = weir.observe(openai.AsyncOpenAI(base_url=_URL, api_key="k", max_retries=0))

    async def main() -> None:
        with pytest.raises(openai.APITimeoutError):
            await client.chat.completions.create(model="hang", messages=_MESSAGES, timeout=0.1)
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(client.chat.completions.create(model="hang", messages=_MESSAGES), 0.1)
        stream = await client.responses.create(model="tools", input="Hi", stream=True)
        assert [event.type async for event in stream][-1] == "response.completed"
        await client.close()

    asyncio.run(main())
    codes = [llm["status"].get("error", {}).get("code") for llm in llm_of(weir, stub)]
    assert codes == ["timeout", "aborted", None]


def test_the_usage_of_a_stream_is_requested_and_hidden_when_asked_for(make: Make, stub: Stub) -> None:
    weir = make()
    bare = openai.OpenAI(base_url=_URL, api_key="k")
    client = weir.observe(openai.OpenAI(base_url=_URL, api_key="k"), include_usage=True)
    chunks = [
        list(made.chat.completions.create(model="text", messages=_MESSAGES, stream=True)) for made in (bare, client)
    ]
    assert chunks[0] == chunks[1]
    (llm,) = llm_of(weir, stub)
    assert llm["usage"]["totalTokens"] == 150


def test_anthropic(make: Make, stub: Stub) -> None:
    from anthropic import Anthropic

    weir = make()
    client = weir.observe(Anthropic(base_url=_ROOT, api_key="k"))
    message = client.messages.create(model="tools", max_tokens=9, system="Be brief.", messages=_MESSAGES)
    assert message.stop_reason == "tool_use"
    with client.messages.stream(model="tools", max_tokens=9, messages=_MESSAGES) as stream:
        assert stream.get_final_message().stop_reason == "tool_use"
    for llm in llm_of(weir, stub):
        assert llm["output"]["toolCalls"][0]["arguments"] == _ARGUMENTS
        assert llm["usage"]["inputTokenDetails"] == {
            "uncachedTokens": 40,
            "cacheReadTokens": 64,
            "cacheWriteTokens": 16,
        }


def test_google(make: Make, stub: Stub) -> None:
    from google import genai

    weir = make()
    client = weir.observe(genai.Client(api_key="k", http_options={"base_url": _ROOT}))
    assert client.models.generate_content(model="text", contents="Hi").text == _ANSWER

    async def main() -> str:
        stream = await client.aio.models.generate_content_stream(model="text", contents="Hi")
        return "".join([chunk.text or "" async for chunk in stream])

    assert asyncio.run(main()) == _ANSWER
    assert list(client.models.generate_content_stream(model="tools", contents="Hi"))
    text, streamed, tools = llm_of(weir, stub)
    assert text["usage"] == streamed["usage"] == tools["usage"]
    assert tools["output"]["toolCalls"][0]["arguments"] == _ARGUMENTS


def test_ollama_and_mistral(make: Make, stub: Stub) -> None:
    import ollama
    from mistralai.client import Mistral

    weir = make()
    chat = weir.observe(ollama.Client(host=_ROOT)).chat
    assert chat(model="text", messages=_MESSAGES).message.content == _ANSWER
    assert (
        "".join(part.message.content or "" for part in chat(model="text", messages=_MESSAGES, stream=True)) == _ANSWER
    )
    mistral = weir.observe(Mistral(api_key="k", server_url=_ROOT))
    answer = mistral.chat.complete(model="tools", messages=_MESSAGES)
    assert answer.choices[0].message.tool_calls
    first, second, third = llm_of(weir, stub)
    assert first["output"] == second["output"]
    assert third["output"]["toolCalls"][0]["arguments"] == _ARGUMENTS


def test_a_compressed_stream_is_read(make: Make, stub: Stub) -> None:
    import gzip

    body = (
        b'data: {"id":"c","choices":[{"index":0,"delta":{"content":"Hi"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'
    )
    headers = {"content-encoding": "gzip", "content-type": "text/event-stream"}
    transport = httpx2.MockTransport(lambda request: httpx2.Response(200, headers=headers, content=gzip.compress(body)))
    weir = make()
    with weir.observe(httpx2.Client(transport=transport)) as client:
        response = client.post("https://api.openai.com/v1/chat/completions", json={"model": "m", "stream": True})
        assert response.content == body
    (llm,) = llm_of(weir, stub)
    assert llm["output"]["response"] == "Hi"


def test_embeddings_are_counted_and_an_unknown_client_is_said_once(make: Make, stub: Stub, caplog: Any) -> None:
    weir = make()
    transport = httpx2.MockTransport(lambda request: httpx2.Response(200, json={}))
    with weir.observe(httpx2.Client(transport=transport)) as client:
        client.post("https://api.openai.com/v1/embeddings", json={})
        client.get("https://api.openai.com/v1/models")
    assert weir.stats().embeddings == 1
    assert llm_of(weir, stub) == []
    for _ in range(2):
        assert weir.observe("no client") == "no client"
    assert len(caplog.records) == 1


def test_observing_twice_records_once(make: Make, stub: Stub) -> None:
    weir = make()
    client = weir.observe(client_of(weir))
    client.chat.completions.create(model="text", messages=_MESSAGES)
    assert len(llm_of(weir, stub)) == 1


def test_what_is_observed_follows_an_init_that_comes_later(stub: Stub) -> None:
    transport = httpx2.MockTransport(lambda request: httpx2.Response(200, json={"status": "completed"}))
    try:
        with weir.observe(httpx2.Client(transport=transport)) as client:
            for release in ("1", "2"):
                weir.init(url=stub.url, api_key="key", release=release)
                client.post("https://api.openai.com/v1/responses", json={"model": "m"})
                weir.flush()
    finally:
        weir.init(enabled=False)
    assert [event["additionalProperties"]["release"] for event in stub.events] == ["1", "2"]
