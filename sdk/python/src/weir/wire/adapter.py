"""What an API of a provider says in a request and in an answer."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

from weir.event.errors import as_code
from weir.event.json_text import JsonText
from weir.event.types import EventError, Json, drop_none
from weir.wire.finish_reason import spell_reason
from weir.wire.json_slice import slice_members
from weir.wire.read import as_object, as_text
from weir.wire.sse import LineParser, SseParser


class LlmRequest(NamedTuple):
    model: str | None
    #: ``system``, ``prompt``, ``tools`` and ``messages``, which may be ``JsonText``.
    input: Json
    #: Whether JSON output was requested.
    is_json: bool = False


class LlmAnswer(NamedTuple):
    model: str | None = None
    #: The text of the response, or the transcript of an audio response.
    response: str = ""
    #: The text of the model's reasoning, or of its summary.
    reasoning: str | None = None
    #: ``{id, name, arguments}``; the arguments are the model's JSON text, unchanged.
    tool_calls: Sequence[Json] = ()
    #: The texts of further choices.
    other_responses: Sequence[str] = ()
    usage: Json | None = None
    #: ``{model, usage}`` of calls of other models within this one, such as to an advisor: not in ``usage``.
    inner_calls: Sequence[Json] = ()
    finish_reason: str | None = None
    #: The service tier of the response, and where inference is confined to it, as the provider names them.
    service_tier: str | None = None
    region: str | None = None
    #: US dollars, where the provider says what the call cost.
    cost: Any = None
    response_id: str | None = None
    #: A failure that the provider reported in a response with status 200.
    error: EventError | None = None
    #: Whether the whole response was received.
    is_complete: bool = True


class StreamReader(Protocol):
    """Collects a response from the data of its stream's events."""

    def push(self, data: str) -> None:
        """Raises ValueError for an event that cannot be read. Further events may be pushed."""

    def answer(self) -> LlmAnswer: ...


class Adapter(NamedTuple):
    """Reads requests and responses of one API. The readers raise ValueError for a body of another one."""

    #: Used for ``instrumentation.source`` when the host is unknown.
    source: str
    source_package: str
    source_function: str
    #: The paths of its requests, below any base URL.
    path: re.Pattern[str]
    read_request: Callable[[str, str], LlmRequest]
    read_answer: Callable[[str], LlmAnswer]
    open_stream: Callable[[], StreamReader]
    #: With lines an answer that begins with ``{`` may be a stream.
    parser: type[SseParser] | type[LineParser] = SseParser
    #: Streams report their usage only with ``stream_options.include_usage``.
    has_usage_option: bool = False


class RequestParts(NamedTuple):
    """How the parts of a request are found in its body."""

    system: str | None
    prompt: str | None
    #: The member that holds the messages.
    messages: str
    #: The object whose ``type`` asks for JSON.
    format: Any = None
    tools: Sequence[str] = ("tools",)


def compose_request(text: str, read: Callable[[Json], RequestParts], model: str | None = None) -> LlmRequest:
    """A request from the text of its body. Lists keep their JSON text. Empty parts are omitted."""
    body = as_object(json.loads(text))
    parts = read(body)
    members = slice_members(text)

    def list_of(*names: str) -> JsonText | None:
        found = next((members[name] for name in names if members.get(name, "").startswith("[")), None)
        return None if found is None else JsonText(found)

    given = {
        "system": parts.system or None,
        "prompt": parts.prompt,
        "tools": list_of(*parts.tools),
        "messages": list_of(parts.messages),
    }
    is_json = str(as_object(parts.format).get("type")).startswith("json")
    return LlmRequest(model or as_text(body.get("model")), drop_none(given), is_json)


def compose_llm(request: LlmRequest | None, answer: LlmAnswer | None, **others: Any) -> Json:
    """The payload of an LLM event (docs/api.md §2.6)."""
    output = None
    cost = answer and answer.cost
    if answer is not None:
        calls = [drop_none(call) for call in answer.tool_calls]
        mode = "tool_calls" if calls else "json" if request is not None and request.is_json else "text"
        output = drop_none(
            {
                "mode": mode,
                "response": answer.response,
                "reasoning": answer.reasoning,
                "toolCalls": calls,
                "otherResponses": list(answer.other_responses) or None,
                "finishReason": spell_reason(answer.finish_reason),
            }
        )
    return drop_none(
        {
            "model": (answer and answer.model) or (request and request.model),
            "input": request and request.input,
            "output": output,
            "usage": answer and answer.usage,
            "serviceTier": answer and answer.service_tier,
            "region": answer and answer.region,
            "cost": {"total": cost, "currency": "USD"} if isinstance(cost, (int, float)) and cost > 0 else None,
            "responseId": answer and answer.response_id,
            **others,
        }
    )


def read_error(error: Json) -> EventError | None:
    """An ``error`` object that was sent instead of an answer."""
    code = as_code(error.get("code"))
    code = as_code(error.get("type")) if code is None else code
    message = as_text(error.get("message"))
    if code is None and message is None:
        return None
    known: Any = drop_none({"code": code, "message": message})
    described: EventError = known
    return described
