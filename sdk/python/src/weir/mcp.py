"""MCP: ``observe_mcp(session)`` records the tools that a client calls."""

from __future__ import annotations

import functools
from typing import Any, TypeVar

from weir import client
from weir.event.errors import describe_error
from weir.event.json_text import JsonText, json_text
from weir.event.scope import current_scope, entered
from weir.frameworks import Reporter, Run
from weir.recorder import Recorder

T = TypeVar("T")


def observe_mcp(session: T, recorder: Recorder | None = None) -> T:
    """Records each ``call_tool`` of a client or session of MCP, in place, and returns it.

    A call that a framework reports, too, is one event. On a server, decorate the functions: ``@weir.tool``.
    """
    observed: Any = session
    call_tool = observed.call_tool
    reporter = Reporter(recorder or client(), "mcp")

    @functools.wraps(call_tool)
    async def call(name: str, arguments: dict[str, Any] | None = None, *args: Any, **kwargs: Any) -> Any:
        outer = current_scope()
        if outer.reported_tool == name or not reporter.is_enabled:
            return await call_tool(name, arguments, *args, **kwargs)
        run = Run(outer, None).as_tool(name)
        given = JsonText(json_text(arguments or {}))
        try:
            with entered(run.inner):
                result = await call_tool(name, arguments, *args, **kwargs)
        except BaseException as error:
            reporter.tool(run, name, given, None, describe_error(error), function="call_tool")
            raise
        output = _read_result(result)
        failed = getattr(result, "is_error", getattr(result, "isError", False))
        reporter.tool(run, name, given, output, {"message": str(output)} if failed else None, function="call_tool")
        return result

    observed.call_tool = call
    return session


def _read_result(result: Any) -> Any:
    structured = getattr(result, "structured_content", getattr(result, "structuredContent", None))
    if structured is not None:
        return structured
    texts = [getattr(part, "text", None) for part in getattr(result, "content", ())]
    known = [text for text in texts if text is not None]
    return known[0] if len(known) == 1 else known
