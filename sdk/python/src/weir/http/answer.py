"""Reads a response while the application reads it."""

from __future__ import annotations

import codecs
import json
from typing import Any

from weir.event.errors import as_code
from weir.event.types import EventError, drop_none
from weir.limits import ANSWER_CHARS_MAX, ERROR_CHARS_MAX
from weir.wire.adapter import Adapter, LlmAnswer
from weir.wire.read import as_object, as_text, first_text
from weir.wire.sse import LineParser, SseParser

_EMPTY: EventError = {"code": "empty_answer", "message": "The answer has no content."}
_MALFORMED: EventError = {"code": "malformed_answer", "message": "The answer is not valid JSON."}
_INCOMPLETE: EventError = {"code": "incomplete", "message": "The stream ended before the answer did."}


class AnswerReader:
    """Chooses JSON or an event stream by the first character: some proxies send streams as ``text/plain``."""

    def __init__(self, adapter: Adapter) -> None:
        self._adapter = adapter
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._parser: SseParser | LineParser | None = None
        self._stream = adapter.open_stream()
        self._text = ""
        self._is_malformed = False

    @property
    def is_stream(self) -> bool:
        return self._parser is not None

    def push(self, data: bytes) -> None:
        text = self._decoder.decode(data)
        if self._parser is None:
            if len(self._text) <= ANSWER_CHARS_MAX:
                self._text += text
            if not self._is_stream_text():
                return
            text, self._text = self._text, ""
            self._parser = self._adapter.parser(self._on_event)
        self._parser.push(text)

    def finish(self, is_end: bool) -> LlmAnswer | None:
        """The answer; ``is_end`` tells whether the body was read to its end. None when nothing is known."""
        if self._parser is None:
            return self._read_whole(is_end)
        if is_end:
            self._parser.end()
        answer = self._stream.answer()
        if answer.is_complete or answer.error is not None:
            return answer
        # Clients stop reading at a malformed event: that is no abort by the application.
        error = _MALFORMED if self._is_malformed else _INCOMPLETE if is_end else None
        return answer._replace(error=error)

    def _read_whole(self, is_end: bool) -> LlmAnswer | None:
        if len(self._text) > ANSWER_CHARS_MAX:
            return None
        if not self._text.strip():
            return _failed(_EMPTY) if is_end else None
        try:
            return self._adapter.read_answer(self._text)
        except (ValueError, RecursionError):
            # A body that was not read to its end is no error.
            return _failed(_MALFORMED) if is_end else None

    def _is_stream_text(self) -> bool:
        first = self._text.lstrip()[:1]
        return first != "" and (self._adapter.parser is LineParser or first not in "{[")

    def _on_event(self, data: str) -> None:
        try:
            self._stream.push(data)
        except (ValueError, RecursionError):
            self._is_malformed = True


def read_http_error(content: bytes, status: int) -> EventError:
    """The ``error`` of a response: an object, a text (Ollama), or the body itself (Mistral).

    The code is ``code`` if it is a text, else Google's ``status``, else the number, else ``type``.
    """
    text = content[:ERROR_CHARS_MAX].decode(errors="replace")
    known: Any
    try:
        body = json.loads(text)
        # Google's streams send a list.
        body = as_object(body[0] if isinstance(body, list) and body else body)
        given = body.get("error", body)
        error = as_object(given)
        codes = (
            as_text(error.get("code")),
            as_text(error.get("status")),
            as_code(error.get("code")),
            as_code(error.get("type")),
        )
        code = next((known for known in codes if known is not None), None)
        message = first_text(error.get("message"), given) or ""
        known = drop_none({"code": code, "httpStatus": status, "message": message})
    except (ValueError, RecursionError):
        known = {"httpStatus": status, **({"message": text[:1_000]} if text else {})}
    described: EventError = known
    return described


def _failed(error: EventError) -> LlmAnswer:
    return LlmAnswer(is_complete=False, error=error)
