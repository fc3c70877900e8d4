"""Amazon's binary streams, ``application/vnd.amazon.eventstream``, as server-sent events."""

from __future__ import annotations

import base64
import json
import re

from weir.event.json_text import dumps
from weir.limits import ANSWER_CHARS_MAX
from weir.wire.read import as_object

#: Size of a frame and of its headers, and a checksum; at the end of a frame is another one.
_PRELUDE_BYTES = 12
_CHECKSUM_BYTES = 4

#: A header whose value is a text, with its length in two bytes.
_FAULT = re.compile(rb":(?:exception-type|error-code)\x07(..)", re.DOTALL)


class FrameDecoder:
    """Decodes frames, which may be split anywhere. The client has checked their checksums."""

    def __init__(self) -> None:
        self._rest = bytearray()

    def __call__(self, data: bytes) -> bytes:
        """The server-sent events of the frames that this chunk completes. Raises ValueError for other data."""
        self._rest += data
        events = b""
        while len(self._rest) >= _PRELUDE_BYTES:
            size, headers_size = (int.from_bytes(self._rest[at : at + 4], "big") for at in (0, 4))
            if not _PRELUDE_BYTES + headers_size + _CHECKSUM_BYTES <= size <= ANSWER_CHARS_MAX:
                raise ValueError("not a frame")
            if len(self._rest) < size:
                break
            payload_at = _PRELUDE_BYTES + headers_size
            headers, payload = self._rest[_PRELUDE_BYTES:payload_at], self._rest[payload_at : size - _CHECKSUM_BYTES]
            events += _read_frame(bytes(headers), bytes(payload))
            del self._rest[:size]
        return events


def _read_frame(headers: bytes, payload: bytes) -> bytes:
    """An event of the provider, or the exception that ends the stream, as Anthropic's own API says it."""
    body = as_object(json.loads(payload or b"{}"))
    fault = _FAULT.search(headers)
    if fault is not None:
        code = headers[fault.end() : fault.end() + int.from_bytes(fault[1], "big")].decode()
        event = dumps({"type": "error", "error": {"type": code, "message": body.get("message")}}).encode()
    elif "bytes" in body:
        event = base64.b64decode(body["bytes"])
    else:
        return b""
    return b"data: " + event + b"\n\n"
