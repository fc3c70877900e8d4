"""What an API of a provider says in a request and in an answer."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from weir.event.json_text import JsonText
from weir.event.types import EventError, Json, drop_none
from weir.wire.read import (
    as_object,
    as_text,
    first_text,
    last_text,
    member,
    model_of,
    slice_member,
    slice_members,
    text_of,
    texts_of,
)
from weir.wire.sse import SSE_END


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


class Choice:
    """One of the answers that a model gives."""

    def __init__(self) -> None:
        self.response = ""
        self.reasoning = ""
        self.calls: list[Json] = []
        self.finish_reason: str | None = None

    def add_text(self, response: str | None, reasoning: str | None) -> None:
        self.response += response or ""
        self.reasoning += reasoning or ""

    def add_call(self, raw: str, *, id: str, name: str, arguments: str) -> None:
        """Adds a call from its JSON text and the places in it: serializing arguments again would change numbers."""
        call = json.loads(raw)
        names = {"id": as_text(member(call, id)), "name": as_text(member(call, name))}
        self.calls.append({**names, "arguments": slice_member(raw, arguments) or "{}"})


class AnswerReader:
    """Collects an answer from the events of its stream. A whole answer is a stream of one event."""

    #: Fields of ``LlmAnswer``, and their places in ``body``.
    paths: tuple[tuple[str, str], ...]

    def __init__(self) -> None:
        #: What the events say of the whole answer.
        self.body: Json = {}
        #: By the provider's index: as a list's index 300,000,000 would block the program.
        self.choices: dict[int, Choice] = {}
        self.error: EventError | None = None
        self.is_over = False

    def push(self, data: str) -> None:
        """Raises ValueError for an event that cannot be read. Further events may be pushed."""
        raise NotImplementedError

    def read_usage(self) -> Json | None:
        raise NotImplementedError

    def choice(self, index: int = 0) -> Choice:
        return self.choices.setdefault(index, Choice())

    def answer(self) -> LlmAnswer:
        first, *others = [choice for _, choice in sorted(self.choices.items())] or [Choice()]
        known: Any = {name: as_text(member(self.body, path)) for name, path in self.paths}
        return LlmAnswer(
            response=first.response,
            reasoning=first.reasoning or None,
            tool_calls=first.calls,
            other_responses=[other.response for other in others],
            usage=self.read_usage(),
            finish_reason=first.finish_reason,
            error=self.error,
            is_complete=self.is_over,
            **known,
        )


def read_request(text: str, path: str) -> LlmRequest:
    """A request of every API but Google's: a name that one of them uses means nothing else in the others.

    Raises:
        ValueError: when the text is not JSON.
    """
    body = as_object(json.loads(text))
    messages = body.get("messages", body.get("input"))
    system = [text_of(body.get("system")), as_text(body.get("instructions")), *texts_of(messages, _SYSTEM_ROLES)]
    formats = [member(body, f"{place}.type") for place in _FORMATS]
    parts = {
        "system": "\n\n".join(part for part in system if part is not None) or None,
        "prompt": first_text(messages, last_text(messages), body.get("prompt")),
        **slice_lists(text, messages=("messages", "input")),
    }
    # Ollama's format is a name or a schema.
    is_json = bool(body.get("format")) or any(str(kind).startswith("json") for kind in formats)
    return LlmRequest(as_text(body.get("model")) or model_of(path), drop_none(parts), is_json)


_SYSTEM_ROLES = ("system", "developer")
_FORMATS = ("response_format", "text.format", "output_format", "output_config.format")


def slice_lists(text: str, messages: Sequence[str]) -> Json:
    """The lists of tools and messages, whose JSON text is kept."""
    members = slice_members(text)
    lists: Json = {}
    for name, places in (("tools", ("tools", "functions")), ("messages", messages)):
        found = next((members[place] for place in places if members.get(place, "").startswith("[")), None)
        lists[name] = found and JsonText(found)
    return lists


class Adapter(NamedTuple):
    """Reads requests and answers of one API."""

    #: Used for ``instrumentation.source`` when the host is unknown.
    source: str
    source_package: str
    source_function: str
    #: The paths of its requests, below any base URL.
    path: re.Pattern[str]
    open_stream: Callable[[], AnswerReader]
    read_request: Callable[[str, str], LlmRequest] = read_request
    #: The end of an event. With lines an answer that begins with ``{`` may be a stream.
    event_end: re.Pattern[str] = SSE_END
    #: Streams report their usage only with ``stream_options.include_usage``.
    has_usage_option: bool = False

    def read_answer(self, text: str) -> LlmAnswer:
        """A whole answer. Raises ValueError when it is not JSON."""
        stream = self.open_stream()
        stream.push(text)
        return stream.answer()


def compose_llm(request: LlmRequest | None, answer: LlmAnswer | None, **others: Any) -> Json:
    """The payload of an LLM event (docs/api.md §2.6)."""
    llm = {"model": request and request.model, "input": request and request.input, **others}
    if answer is None:
        return drop_none(llm)
    calls = [drop_none(call) for call in answer.tool_calls]
    mode = "tool_calls" if calls else "json" if request is not None and request.is_json else "text"
    cost = answer.cost if isinstance(answer.cost, (int, float)) and answer.cost > 0 else None
    output = {
        "mode": mode,
        "response": answer.response,
        "reasoning": answer.reasoning,
        "toolCalls": calls,
        "otherResponses": list(answer.other_responses) or None,
        "finishReason": spell_reason(answer.finish_reason),
    }
    llm |= {
        "model": answer.model or llm["model"],
        "output": drop_none(output),
        "usage": answer.usage,
        "serviceTier": answer.service_tier,
        "region": answer.region,
        "cost": cost and {"total": cost, "currency": "USD"},
        "responseId": answer.response_id,
    }
    return drop_none(llm)


_SPELLINGS = {
    **dict.fromkeys(("end_turn", "stop_sequence", "complete", "completed", "finished"), "stop"),
    **dict.fromkeys(("max_tokens", "max_output_tokens", "model_context_window_exceeded"), "length"),
    **dict.fromkeys(("tool_use", "tool_call", "function_call"), "tool_calls"),
    **dict.fromkeys(("safety", "refusal", "recitation", "blocklist", "prohibited_content", "spii"), "content_filter"),
}


def spell_reason(reason: str | None) -> str | None:
    """Why a model stopped, in the words of OpenAI's chats: ``tool_calls`` for ``tool-calls`` or ``tool_use``.

    Unknown reasons are in lower case.
    """
    if reason is None:
        return None
    name = reason.lower().replace("-", "_")
    return _SPELLINGS.get(name, name)
