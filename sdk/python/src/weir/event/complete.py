"""Completes an event as docs/api.md §2.2 requires."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

from weir.event.json_text import json_text
from weir.event.scope import Scope, current_scope, read_tags
from weir.event.types import Json, create_uuid, drop_none, is_uuid


def complete_event(given: Mapping[str, Any], options: Mapping[str, Any], now_ms: float) -> Json:
    """Takes missing fields from the scope or from the options. ``id`` is the first member: the spool finds it there."""
    scope = current_scope()
    duration = given.get("durationMs")
    start = given.get("startTimeMs", now_ms - (duration or 0))
    end = given.get("endTimeMs")
    if end is None:
        end = start + (max(0, now_ms - start) if duration is None else duration)
    event_id, trace_id = given.get("id"), given.get("traceId", scope.trace_id)
    event: Json = {"id": event_id if event_id is not None and is_uuid(event_id) else create_uuid()}
    event["type"] = given["type"]
    if is_uuid(trace_id):
        event["traceId"] = str(trace_id)
    event["startTimeMs"], event["endTimeMs"] = start, end
    event["durationMs"] = end - start if duration is None else duration
    event["status"] = given.get("status") or {"state": "ok"}
    origin = {"source": "application", "sourcePackage": "weir-sdk", "vendor": options.get("vendor")}
    event["instrumentation"] = {**origin, **given.get("instrumentation", {})}
    identifiers = {
        "threadId": scope.thread,
        "agentId": scope.agent,
        "agentGroupId": scope.group,
        "userId": scope.user,
        **given.get("context", {}),
    }
    # Identifiers are texts.
    event["context"] = drop_none({name: _text_of(value) for name, value in identifiers.items()})
    event["additionalProperties"] = dimensions_of(
        {
            **({} if trace_id is None or is_uuid(trace_id) else {"traceId": trace_id}),
            **_own_dimensions(options, scope),
            **scope.dimensions,
            **given.get("additionalProperties", {}),
        }
    )
    event["properties"] = given["properties"]
    return event


def _own_dimensions(options: Mapping[str, Any], scope: Scope) -> Json:
    """The contract has no fields for these. The trace page builds its tree from the spans and the parent."""
    return {
        "release": scope.release or options.get("release"),
        "environment": scope.environment or options.get("environment"),
        "tags": ", ".join(dict.fromkeys((*read_tags(options.get("tags")), *scope.tags))) or None,
        "span.path": " > ".join(name for _, name in scope.spans) or None,
        "span.ids": "/".join(level_id for level_id, _ in scope.spans) or None,
        "otel.parent_event_id": scope.parent_event_id,
    }


def dimensions_of(members: Json) -> Json:
    """The members as Weir takes dimensions: texts and finite numbers. Others would have the event refused."""
    known = {str(name): value if _is_number(value) else _text_of(value) for name, value in members.items()}
    return drop_none(known)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def _text_of(value: Any) -> str | None:
    if value is None:
        return None
    if isinstance(value, str):
        return str(value)
    text = json_text(value)
    return str(json.loads(text)) if text.startswith('"') else text
