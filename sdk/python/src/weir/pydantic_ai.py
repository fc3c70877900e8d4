"""Pydantic AI: ``Agent(…, capabilities=[WeirCapability()])``."""

from __future__ import annotations

from typing import Any

from pydantic_ai.capabilities import AbstractCapability

from weir.api import Weir
from weir.calls.activity import instrument
from weir.calls.trace import Trace
from weir.event.json_text import JsonText, json_text
from weir.event.types import EventError, Json, drop_none
from weir.frameworks import Run, RunOf, client_of, read_or_none
from weir.wire.adapter import LlmAnswer, LlmRequest
from weir.wire.usage import compose_usage


class WeirCapability(AbstractCapability[Any]):
    """Records model calls and tools; a run is a span, and its agent's name the ``agentId``."""

    def __init__(self, client: Weir | None = None) -> None:
        self._client = client_of(client)

    async def wrap_run(self, ctx: Any, *, handler: Any) -> Any:
        name = getattr(ctx.agent, "name", None) or "agent"
        with Trace(name, {"agent": name}):
            return await handler()

    async def wrap_model_request(self, ctx: Any, *, request_context: Any, handler: Any) -> Any:
        run = Run(self._client.recorder, "pydantic-ai").as_model()
        request = read_or_none(_read_request, request_context)
        source = getattr(request_context.model, "system", None) or "pydantic-ai"

        def end(response: Any, error: EventError | None) -> None:
            answer = read_or_none(_read_answer, response)
            run.end_model(request, answer, error, source=source, function="request")

        return await instrument(handler, lambda *_: RunOf(run, end))(request_context)

    async def wrap_tool_execute(self, ctx: Any, *, call: Any, tool_def: Any, args: Any, handler: Any) -> Any:
        name, call_id = call.tool_name, call.tool_call_id
        run = Run(self._client.recorder, "pydantic-ai").as_tool(name)
        given = JsonText.of(args)

        def end(output: Any, error: EventError | None) -> None:
            run.end_tool(name, given, output, error, function="tool", call_id=call_id)

        return await instrument(handler, lambda *_: RunOf(run, end))(args)


def _read_request(context: Any) -> LlmRequest:
    parts = [part for message in context.messages for part in message.parts]
    texts = {
        kind: [part.content for part in parts if part.part_kind == kind] for kind in ("system-prompt", "user-prompt")
    }
    prompts = [content for content in texts["user-prompt"] if isinstance(content, str)]
    tools = getattr(context.model_request_parameters, "function_tools", None)
    given = {
        "system": "\n\n".join(texts["system-prompt"]) or None,
        "prompt": prompts[-1] if prompts else None,
        "tools": JsonText.of(tools) if tools else None,
        "messages": JsonText.of(context.messages),
    }
    return LlmRequest(getattr(context.model, "model_name", None), drop_none(given))


def _read_answer(response: Any) -> LlmAnswer:
    usage = response.usage
    return LlmAnswer(
        model=response.model_name,
        response="".join(_contents(response, "text")),
        reasoning="\n\n".join(_contents(response, "thinking")) or None,
        tool_calls=[_read_call(part) for part in response.parts if part.part_kind == "tool-call"],
        usage=compose_usage(
            input=usage.input_tokens,
            cache_read=usage.cache_read_tokens,
            cache_write=usage.cache_write_tokens,
            output=usage.output_tokens,
            reasoning=usage.details.get("reasoning_tokens"),
        ),
        finish_reason=response.finish_reason,
        response_id=response.provider_response_id,
    )


def _contents(response: Any, kind: str) -> list[str]:
    return [part.content for part in response.parts if part.part_kind == kind and part.content]


def _read_call(part: Any) -> Json:
    arguments = part.args if isinstance(part.args, str) else json_text(part.args or {})
    return {"id": part.tool_call_id, "name": part.tool_name, "arguments": arguments}
