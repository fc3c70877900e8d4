"""MCP: ``observe_mcp(session)`` records the tools that a client calls."""

from __future__ import annotations

from typing import Any, TypeVar

from weir.api import Weir
from weir.calls.activity import Activity, instrument
from weir.event.json_text import JsonText
from weir.event.scope import current_scope
from weir.event.types import EventError
from weir.frameworks import Run, RunOf, client_of, read_or_none

T = TypeVar("T")


def observe_mcp(session: T, client: Weir | None = None) -> T:
    """Records each ``call_tool`` of a client or session of MCP, in place, and returns it.

    A call that a framework reports, too, is one event. On a server, decorate the functions: ``@weir.tool``.
    """
    observed: Any = session
    weir = client_of(client)

    def begin(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Activity:
        # A group of sessions calls the arguments ``args``.
        given = {**dict(zip(("name", "arguments"), args, strict=False)), **kwargs}
        name, arguments = str(given.get("name")), JsonText.of(given.get("arguments", given.get("args")) or {})
        if current_scope().reported_tool == name or not weir.is_enabled:
            return Activity(current_scope())
        run = Run(weir.recorder, "mcp").as_tool(name)

        def end(result: Any, error: EventError | None) -> None:
            output = read_or_none(_read_result, result)
            failed = getattr(result, "is_error", getattr(result, "isError", False))
            thrown = error or ({"message": str(output)} if failed else None)
            run.end_tool(name, arguments, output, thrown, function="call_tool")

        return RunOf(run, end)

    observed.call_tool = instrument(observed.call_tool, begin)
    return session


def _read_result(result: Any) -> Any:
    structured = getattr(result, "structured_content", getattr(result, "structuredContent", None))
    if structured is not None:
        return structured
    texts = [getattr(part, "text", None) for part in getattr(result, "content", ())]
    known = [text for text in texts if text is not None]
    return known[0] if len(known) == 1 else known
