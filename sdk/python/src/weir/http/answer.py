"""Reads a response while the application reads it."""

from __future__ import annotations

import codecs
import json

from weir.event.types import EventError
from weir.limits import ANSWER_CHARS_MAX, ERROR_CHARS_MAX
from weir.wire.adapter import Adapter, LlmAnswer
from weir.wire.read import read_error
from weir.wire.sse import LINE_END, StreamParser

_EMPTY: EventError = {"code": "empty_answer", "message": "The answer has no content."}
_MALFORMED: EventError = {"code": "malformed_answer", "message": "The answer is not valid JSON."}
_INCOMPLETE: EventError = {"code": "incomplete", "message": "The stream ended before the answer did."}


class AnswerSink:
    """Chooses JSON or an event stream by the first character: some proxies send streams as ``text/plain``."""

    def __init__(self, adapter: Adapter) -> None:
        self._adapter = adapter
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._parser: StreamParser | None = None
        self._reader = adapter.open_stream()
        self._text = ""
        self._is_malformed = False
        #: Bytes of the body so far: a bound for what is held.
        self.size = 0

    @property
    def is_stream(self) -> bool:
        return self._parser is not None

    def push(self, data: bytes) -> None:
        self.size += len(data)
        text = self._decoder.decode(data)
        if self._parser is None:
            if len(self._text) <= ANSWER_CHARS_MAX:
                self._text += text
            first = self._text.lstrip()[:1]
            if first == "" or (first in "{[" and self._adapter.event_end is not LINE_END):
                return
            text, self._text = self._text, ""
            self._parser = StreamParser(self._on_event, self._adapter.event_end)
        self._parser.push(text)

    def finish(self, is_end: bool) -> LlmAnswer | None:
        """The answer; ``is_end`` tells whether the body was read to its end. None when nothing is known."""
        if self._parser is None:
            return self._read_whole(is_end)
        if is_end:
            self._parser.end()
        answer = self._reader.answer()
        if answer.is_complete or answer.error is not None:
            return answer
        # Clients stop reading at a malformed event: that is no abort by the application.
        return answer._replace(error=_MALFORMED if self._is_malformed else _INCOMPLETE if is_end else None)

    def _read_whole(self, is_end: bool) -> LlmAnswer | None:
        if len(self._text) > ANSWER_CHARS_MAX:
            return None
        if self._text.strip():
            self._on_event(self._text)
            if not self._is_malformed:
                return self._reader.answer()
        # A body that was not read to its end is no error.
        error = _MALFORMED if self._is_malformed else _EMPTY
        return LlmAnswer(is_complete=False, error=error) if is_end else None

    def _on_event(self, data: str) -> None:
        try:
            self._reader.push(data)
        except (ValueError, RecursionError):
            self._is_malformed = True


class ErrorSink:
    """Reads the body of an error."""

    is_stream = False

    def __init__(self, status: int) -> None:
        self._status = status
        self._content = b""

    def push(self, data: bytes) -> None:
        if len(self._content) < ERROR_CHARS_MAX:
            self._content += data

    def finish(self, is_end: bool) -> LlmAnswer:
        error: EventError | None
        text = self._content[:ERROR_CHARS_MAX].decode(errors="replace")
        try:
            body = json.loads(text)
            # Google's streams send a list.
            body = body[0] if isinstance(body, list) and body else body
            # Mistral's body is the error itself.
            error = read_error(body.get("error", body) if isinstance(body, dict) else None, self._status)
        except (ValueError, RecursionError):
            error = {"httpStatus": self._status}
            if text:
                error["message"] = text[:1_000]
        return LlmAnswer(is_complete=False, error=error)
