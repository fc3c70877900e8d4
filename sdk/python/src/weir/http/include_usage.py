"""Requests the usage of a chat stream for an application that does not, and removes what this adds."""

from __future__ import annotations

import codecs
import json
import re
from typing import Any

from weir.wire.adapter import Adapter
from weir.wire.read import as_object, slice_members
from weir.wire.sse import Splitter


def add_usage_option(adapter: Adapter, request: Any, body: bytes) -> bool:
    """Changes the request. False when no change is needed."""
    try:
        text = body.decode()
        given = as_object(json.loads(text))
        options = as_object(given.get("stream_options"))
        if not adapter.has_usage_option or given.get("stream") is not True or "include_usage" in options:
            return False
        members = slice_members(text)
    except (ValueError, RecursionError):
        return False
    members["stream_options"] = json.dumps({**options, "include_usage": True})
    text = "{" + ",".join(f"{json.dumps(name)}:{member}" for name, member in members.items()) + "}"
    # The stream is changed, which a compressed one cannot be.
    headers = {**request.headers, "accept-encoding": "identity"}
    headers.pop("content-length", None)
    changed = type(request)(request.method, request.url, headers=headers, content=text, extensions=request.extensions)
    vars(request).update(vars(changed))
    return True


class UsageFilter:
    """Removes the last chunk, which has no choices, and ``"usage":null`` in all others."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._splitter = Splitter()

    def __call__(self, data: bytes) -> bytes:
        events = self._splitter.push(self._decoder.decode(data))
        return "".join(map(_strip, events)).encode()


_USAGE = re.compile(r'^data:.*"choices":\s*\[\]', re.MULTILINE)
_NULL = re.compile(r',\s*"usage":\s*null(?=\s*[,}])')


def _strip(event: str) -> str:
    is_usage = _USAGE.search(event) and re.search(r'"usage":\s*\{', event)
    return "" if is_usage else _NULL.sub("", event, count=1)
