"""LangChain and LangGraph: ``chain.invoke(input, {"callbacks": [weir_callbacks()]})``."""

from __future__ import annotations

import re
from typing import Any
from uuid import UUID

from langchain_core.callbacks import BaseCallbackHandler

from weir.api import Weir
from weir.event.errors import describe_error
from weir.event.json_text import JsonText, json_text
from weir.event.scope import Scope
from weir.event.types import EventError, Json, drop_none
from weir.frameworks import Run, Runs, as_json, read_or_none
from weir.wire.adapter import LlmAnswer, LlmRequest
from weir.wire.read import as_list, as_object, as_text, first_text, last_text, text_of, texts_of
from weir.wire.usage import compose_usage, sum_known

_ROLES = {"human": "user", "ai": "assistant"}

#: Tags and metadata that LangChain and LangGraph add themselves.
_OWN_TAGS = re.compile(r"^(seq:step|map:key|graph:step|branch|condition|langsmith:|lc_)")
_OWN_METADATA = re.compile(
    r"^(ls_|lc_|langgraph_|langsmith|checkpoint|__|versions$|thread_id$|session_id$|conversation_id$|user_id$)"
)


def weir_callbacks(client: Weir | None = None) -> WeirCallbackHandler:
    """A handler that records models and tools. Chains, graph nodes and retrievers are the spans around them.

    ``thread_id``, ``session_id`` or ``conversation_id`` of the metadata is the thread, ``user_id`` the user.
    """
    return WeirCallbackHandler(client)


class WeirCallbackHandler(BaseCallbackHandler):
    """The names of the methods and their parameters are LangChain's."""

    # In the context of the running code, so that what it calls is inside of the run.
    run_inline = True

    def __init__(self, client: Weir | None = None) -> None:
        self._runs = Runs(client, "langchain")

    def on_chain_start(self, serialized: Any, inputs: Any, *, run_id: UUID, **about: Any) -> None:
        run = self._open(run_id, None, about, _name_of(serialized, about))
        if run is not None:
            if "langsmith:hidden" not in (about.get("tags") or ()):
                run.as_span(_name_of(serialized, about))
            run.enter()

    def _close(self, result: Any, *, run_id: UUID, **about: Any) -> None:
        self._runs.close(run_id)

    on_retriever_start: Any = on_chain_start
    on_chain_end: Any = _close
    on_chain_error: Any = _close
    on_retriever_end: Any = _close
    on_retriever_error: Any = _close

    def on_tool_start(self, serialized: Any, input_str: str, *, run_id: UUID, **about: Any) -> None:
        name = _name_of(serialized, about)
        given = about.get("inputs") or as_json(input_str)
        run = self._open(run_id, (name, given, about.get("tool_call_id")), about, name)
        if run is not None:
            run.as_tool(name).enter()

    def on_tool_end(self, output: Any, *, run_id: UUID, **about: Any) -> None:
        # A tool that an agent called returns a message with its result.
        is_message = getattr(output, "tool_call_id", None) is not None
        result = output.content if is_message else output
        failed = is_message and getattr(output, "status", None) == "error"
        self._end_tool(run_id, result, {"message": str(result)} if failed else None)

    def on_tool_error(self, error: BaseException, *, run_id: UUID, **about: Any) -> None:
        self._end_tool(run_id, None, describe_error(error))

    def on_chat_model_start(self, serialized: Any, messages: Any, *, run_id: UUID, **about: Any) -> None:
        request = read_or_none(_read_request, messages[0] if messages else [], about)
        source = as_text(as_object(about.get("metadata")).get("ls_provider")) or "langchain"
        run = self._open(run_id, [request, source, None], about, _name_of(serialized, about))
        if run is not None:
            run.as_model().enter()

    def on_llm_start(self, serialized: Any, prompts: list[str], *, run_id: UUID, **about: Any) -> None:
        messages = [{"role": "user", "content": prompt} for prompt in prompts]
        self.on_chat_model_start(serialized, [messages], run_id=run_id, **about)

    def on_llm_new_token(self, token: Any, *, run_id: UUID, **about: Any) -> None:
        run = self._runs.get(run_id)
        if run is not None and run.data[2] is None:
            run.data[2] = run.elapsed_ms

    def on_llm_end(self, response: Any, *, run_id: UUID, **about: Any) -> None:
        self._end_model(run_id, read_or_none(_read_answer, response), None)

    def on_llm_error(self, error: BaseException, *, run_id: UUID, **about: Any) -> None:
        self._end_model(run_id, None, describe_error(error))

    def _open(self, run_id: UUID, data: Any, about: Json, name: str) -> Run | None:
        if not self._runs.client.is_enabled:
            return None
        parent_id = about.get("parent_run_id")
        return self._runs.open(run_id, parent_id, data, lambda scope: _describe(scope, about), name=name)

    def _end_tool(self, run_id: UUID, output: Any, error: EventError | None) -> None:
        run = self._runs.close(run_id)
        if run is not None:
            name, given, call_id = run.data
            run.end_tool(name, given, output, error, function="tool", call_id=as_text(call_id))

    def _end_model(self, run_id: UUID, answer: LlmAnswer | None, error: EventError | None) -> None:
        run = self._runs.close(run_id)
        if run is not None:
            request, source, first_ms = run.data
            run.end_model(request, answer, error, source=source, function="invoke", first_ms=first_ms)


def _name_of(serialized: Any, about: Json) -> str:
    known = as_object(serialized)
    return first_text(about.get("name"), known.get("name"), *reversed(as_list(known.get("id")))) or "run"


def _describe(outer: Scope, about: Json) -> Scope:
    """What the tags and the metadata of a run say. They win over the context around the run."""
    metadata = as_object(about.get("metadata"))
    tags = [tag for tag in about.get("tags") or () if not _OWN_TAGS.match(tag) and tag not in outer.tags]
    own = {name: value for name, value in metadata.items() if not _OWN_METADATA.match(name)}
    dimensions = {name: value for name, value in own.items() if isinstance(value, (str, int, float))}
    threads = (metadata.get("thread_id"), metadata.get("session_id"), metadata.get("conversation_id"))
    return outer._replace(
        thread=first_text(*threads, outer.thread),
        user=first_text(metadata.get("user_id"), outer.user),
        agent=first_text(metadata.get("lc_agent_name"), outer.agent),
        tags=(*outer.tags, *tags),
        dimensions={**outer.dimensions, **dimensions},
    )


def _read_request(messages: Any, about: Json) -> LlmRequest:
    parameters = as_object(about.get("invocation_params"))
    plain = [_read_message(message) for message in messages]
    tools = parameters.get("tools") or as_object(about.get("options")).get("tools")
    model = (
        parameters.get("model"),
        parameters.get("model_name"),
        as_object(about.get("metadata")).get("ls_model_name"),
    )
    given = {
        "system": "\n\n".join(texts_of(plain, ("system", "developer"))) or None,
        "prompt": last_text(plain),
        "tools": JsonText(json_text(tools)) if isinstance(tools, list) else None,
        "messages": JsonText(json_text(plain)),
    }
    is_json = str(as_object(parameters.get("response_format")).get("type")).startswith("json")
    return LlmRequest(first_text(*model), drop_none(given), is_json)


def _read_message(message: Any) -> Json:
    members = message if isinstance(message, dict) else vars(message)
    role = first_text(members.get("role"), members.get("type")) or "user"
    optional = {name: members.get(name) or None for name in ("name", "tool_calls", "tool_call_id")}
    return {"role": _ROLES.get(role, role), "content": members.get("content"), **drop_none(optional)}


def _read_answer(response: Any) -> LlmAnswer:
    """The first generation of a prompt, and the texts of the others."""
    first, *others = response.generations[0]
    message = vars(getattr(first, "message", first))
    about = {**as_object(getattr(first, "generation_info", None)), **as_object(message.get("response_metadata"))}
    usage = as_object(message.get("usage_metadata"))
    old = as_object(as_object(response.llm_output).get("token_usage"))
    details = as_object(usage.get("input_token_details"))
    answered = as_object(usage.get("output_token_details"))
    hour = details.get("ephemeral_1h_input_tokens")
    lives = sum_known(hour, details.get("ephemeral_5m_input_tokens"))
    response_id = first_text(about.get("id"), message.get("id"))
    return LlmAnswer(
        model=first_text(about.get("model_name"), about.get("model")),
        response=first_text(text_of(message.get("content")), getattr(first, "text", None)) or "",
        reasoning=_read_reasoning(message),
        tool_calls=_read_calls(message),
        other_responses=[other.text for other in others],
        usage=compose_usage(
            input=usage.get("input_tokens", old.get("prompt_tokens")),
            cache_read=details.get("cache_read"),
            # LangChain empties the count of all writes when it has those of each life.
            cache_write=lives or details.get("cache_creation"),
            output=usage.get("output_tokens", old.get("completion_tokens")),
            reasoning=answered.get("reasoning"),
            total=usage.get("total_tokens", old.get("total_tokens")),
            input_parts={
                "cacheWriteHourTokens": hour,
                "audioTokens": details.get("audio"),
                "imageTokens": details.get("image"),
            },
            output_parts={"audioTokens": answered.get("audio"), "imageTokens": answered.get("image")},
        ),
        finish_reason=first_text(*(about.get(name) for name in ("finish_reason", "stop_reason", "done_reason"))),
        # LangChain makes one itself where the provider has none.
        response_id=None if re.match(r"(lc_)?run-", response_id or "") else response_id,
    )


def _read_reasoning(message: Json) -> str | None:
    parts = [as_object(part) for part in as_list(message.get("content"))]
    texts = [first_text(part.get("thinking"), part.get("reasoning")) or "" for part in parts]
    return first_text(as_object(message.get("additional_kwargs")).get("reasoning_content"), "".join(texts) or None)


def _read_calls(message: Json) -> list[Json]:
    """The calls with the model's JSON text, if the message still has it."""
    given = as_list(as_object(message.get("additional_kwargs")).get("tool_calls"))
    texts = {call.get("id"): as_object(call.get("function")).get("arguments") for call in map(as_object, given)}
    texts |= {chunk.get("id"): chunk.get("args") for chunk in map(as_object, as_list(message.get("tool_call_chunks")))}
    calls = [as_object(call) for name in ("tool_calls", "invalid_tool_calls") for call in as_list(message.get(name))]
    return [
        {
            "id": as_text(call.get("id")),
            "name": as_text(call.get("name")),
            "arguments": first_text(texts.get(call.get("id")), call.get("args")) or json_text(call.get("args") or {}),
        }
        for call in calls
    ]
