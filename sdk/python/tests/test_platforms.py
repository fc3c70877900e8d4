"""Claude on the platforms of Google and Amazon, by Anthropic's clients for them."""

from __future__ import annotations

import asyncio
import base64
import json
import zlib
from collections.abc import Callable
from typing import Any

import pytest
from stub import Stub

from weir import Weir

anthropic = pytest.importorskip("anthropic")
httpx2 = pytest.importorskip("httpx2")
pytest.importorskip("botocore")

Make = Callable[..., Weir]
_MODEL = "claude-opus-5"
_USAGE = {"input_tokens": 40, "cache_read_input_tokens": 64, "cache_creation_input_tokens": 16, "output_tokens": 1}
_MESSAGE: dict[str, Any] = {"id": "msg_1", "type": "message", "role": "assistant", "model": _MODEL, "usage": _USAGE}
_WHOLE = {**_MESSAGE, "content": [{"type": "text", "text": "Grüezi"}], "stop_reason": "end_turn"}
_STREAM: list[dict[str, Any]] = [
    {"type": "message_start", "message": {**_MESSAGE, "content": []}},
    {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
    *(
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}}
        for text in ("Grü", "ezi")
    ),
    {"type": "content_block_stop", "index": 0},
    {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 9}},
    {"type": "message_stop"},
]
_ASK: dict[str, Any] = {"max_tokens": 9, "messages": [{"role": "user", "content": "Hi"}]}


def frame(payload: dict[str, Any], **headers: str) -> bytes:
    """A frame of Amazon's binary streams, with its checksums."""
    named = {f":{name.replace('_', '-')}": value.encode() for name, value in headers.items()}
    head = b"".join(
        bytes((len(name),)) + name.encode() + b"\x07" + len(value).to_bytes(2, "big") + value
        for name, value in named.items()
    )
    body = json.dumps(payload).encode()
    prelude = (16 + len(head) + len(body)).to_bytes(4, "big") + len(head).to_bytes(4, "big")
    content = prelude + zlib.crc32(prelude).to_bytes(4, "big") + head + body
    return content + zlib.crc32(content).to_bytes(4, "big")


def chunk(event: dict[str, Any]) -> bytes:
    content = base64.b64encode(json.dumps(event).encode()).decode()
    return frame({"bytes": content, "p": "abc"}, event_type="chunk", message_type="event")


class Transport(httpx2.MockTransport):  # type: ignore[misc]
    """Answers as Vertex AI and Bedrock do; a model named ``throttled`` fails in the stream."""

    def __init__(self) -> None:
        super().__init__(self.answer)

    def answer(self, request: Any) -> Any:
        path = request.url.path
        if path.endswith("count-tokens:rawPredict"):
            return httpx2.Response(200, json={"input_tokens": 3})
        if "tream" not in path:
            return httpx2.Response(200, json=_WHOLE, headers={"x-amzn-requestid": "req_1"})
        if path.endswith(":streamRawPredict"):
            text = "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in _STREAM)
            return httpx2.Response(200, text=text, headers={"content-type": "text/event-stream"})
        frames = b"".join(map(chunk, _STREAM))
        if "throttled" in path:
            fault = {"exception_type": "throttlingException", "message_type": "exception"}
            frames = chunk(_STREAM[0]) + frame({"message": "Too many tokens."}, **fault)
        headers = {"content-type": "application/vnd.amazon.eventstream"}
        # Split anywhere.
        parts = [frames[at : at + 100] for at in range(0, len(frames), 100)]
        return httpx2.Response(200, stream=Parts(parts), headers=headers)


class Parts(httpx2.SyncByteStream, httpx2.AsyncByteStream):  # type: ignore[misc]
    def __init__(self, parts: list[bytes]) -> None:
        self._parts = parts

    def __iter__(self) -> Any:
        return iter(self._parts)

    async def __aiter__(self) -> Any:
        for part in self._parts:
            yield part


_PLATFORMS: dict[str, tuple[str, dict[str, str]]] = {
    "google": ("Vertex", {"region": "global", "project_id": "p", "access_token": "t"}),
    "aws": ("Bedrock", {"aws_region": "eu-central-1", "api_key": "k"}),
}


def client_of(weir: Weir, platform: str, *, is_async: bool = False) -> Any:
    name, options = _PLATFORMS[platform]
    kind = getattr(anthropic, f"{'Async' * is_async}Anthropic{name}")
    http = (httpx2.AsyncClient if is_async else httpx2.Client)(transport=Transport())
    return weir.observe(kind(**options, http_client=http, max_retries=0))


def llm_of(weir: Weir, stub: Stub) -> list[dict[str, Any]]:
    weir.flush()
    events = sorted(stub.events, key=lambda event: event["startTimeMs"])
    return [
        event["properties"]["llm"] | {"status": event["status"], "source": event["instrumentation"]["source"]}
        for event in events
    ]


def check(llm: dict[str, Any], source: str, output_tokens: int) -> None:
    assert (llm["model"], llm["source"], llm["status"]) == (_MODEL, source, {"state": "ok"})
    assert (llm["input"]["prompt"], llm["output"]["response"]) == ("Hi", "Grüezi")
    assert (llm["usage"]["inputTokens"], llm["usage"]["outputTokens"]) == (120, output_tokens)
    assert llm["usage"]["inputTokenDetails"]["cacheReadTokens"] == 64


@pytest.mark.parametrize("platform", _PLATFORMS)
def test_whole_answers_and_streams(platform: str, make: Make, stub: Stub) -> None:
    weir = make()
    client = client_of(weir, platform)
    model = f"eu.anthropic.{_MODEL}-v1:0" if platform == "aws" else f"{_MODEL}@20270101"
    assert client.messages.create(model=model, **_ASK).content[0].text == "Grüezi"
    with client.messages.stream(model=model, **_ASK) as stream:
        assert "".join(stream.text_stream) == "Grüezi"
    whole, streamed = llm_of(weir, stub)
    check(whole, platform, 1)
    check(streamed, platform, 9)
    assert streamed["timeToFirstChunkMs"] > 0


@pytest.mark.parametrize("platform", _PLATFORMS)
def test_asynchronous_clients(platform: str, make: Make, stub: Stub) -> None:
    weir = make()

    async def main() -> None:
        async with client_of(weir, platform, is_async=True) as client:
            await client.messages.create(model=f"anthropic.{_MODEL}", **_ASK)
            stream = await client.messages.create(model=f"anthropic.{_MODEL}", stream=True, **_ASK)
            assert [event.type async for event in stream][-1] == "message_stop"

    asyncio.run(main())
    whole, streamed = llm_of(weir, stub)
    check(whole, platform, 1)
    check(streamed, platform, 9)


def test_an_exception_in_a_stream_of_bedrock_is_the_error_and_the_path_has_the_model(make: Make, stub: Stub) -> None:
    weir = make()
    client = client_of(weir, "aws")
    profile = "arn:aws:bedrock:eu-central-1:1:application-inference-profile/throttled"
    with pytest.raises(anthropic.APIError, match="Too many tokens"):
        list(client.messages.create(model=profile, stream=True, **_ASK))
    client.messages.create(model=profile, **_ASK)
    failed, whole = llm_of(weir, stub)
    assert failed["status"]["error"] == {"code": "throttlingException", "message": "Too many tokens."}
    assert whole["requestId"] == "req_1"


def test_counting_tokens_is_no_call_of_a_model(make: Make, stub: Stub) -> None:
    weir = make()
    client_of(weir, "google").messages.count_tokens(model=_MODEL, messages=_ASK["messages"])
    assert llm_of(weir, stub) == []


def test_a_failed_request_has_the_model_of_its_path(make: Make, stub: Stub) -> None:
    weir = make()
    transport = httpx2.MockTransport(lambda request: httpx2.Response(403, json={"message": "No access."}))
    with weir.observe(httpx2.Client(transport=transport)) as http:
        host = "https://bedrock-runtime.eu-central-1.amazonaws.com"
        http.post(f"{host}/model/eu.anthropic.{_MODEL}-v1%3A0/invoke", json=_ASK)
    (llm,) = llm_of(weir, stub)
    assert llm["model"] == f"eu.anthropic.{_MODEL}-v1:0"
    assert llm["status"]["error"] == {"httpStatus": 403, "message": "No access."}
