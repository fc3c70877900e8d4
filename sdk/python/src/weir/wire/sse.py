"""Splits the text of streams into events."""

from __future__ import annotations

import re
from collections.abc import Callable

from weir.limits import ANSWER_CHARS_MAX

#: The blank line that ends a server-sent event. Line ends are LF, CR or CRLF.
SSE_END = re.compile(r"\r\n\r\n|\n\n|\r\r|\n\r\n|\r\n\n")
LINE_END = re.compile(r"\n")

_line_end = re.compile(r"\r\n|\n|\r")


class Splitter:
    """Splits a stream into events, each with its end. Chunks may be split anywhere."""

    def __init__(self, end: re.Pattern[str] = SSE_END) -> None:
        self._end = end
        self.rest = ""
        self._searched = 0

    def push(self, text: str) -> list[str]:
        """The events that this chunk completes. All events and the rest, joined, equal the pushed chunks."""
        # A CR at the end may be the first half of a CRLF: it is looked at with the next chunk.
        self.rest += text
        end_max = len(self.rest) - 1 if self.rest.endswith("\r") else len(self.rest)
        events: list[str] = []
        start = 0
        # The last three characters may be the first part of an end.
        at = max(0, self._searched - 3)
        while found := self._end.search(self.rest, at, end_max):
            events.append(self.rest[start : found.end()])
            start = at = found.end()
        self.rest = self.rest[start:]
        self._searched = len(self.rest)
        return events

    def take_rest(self) -> str:
        rest, self.rest = self.rest, ""
        self._searched = 0
        return rest


class StreamParser:
    """Reports the data of server-sent events (WHATWG HTML §9.2), or of newline-delimited JSON.

    Only data: the providers repeat the name of an event in it.
    """

    def __init__(self, on_event: Callable[[str], None], end: re.Pattern[str]) -> None:
        self._on_event = on_event
        self._is_lines = end is LINE_END
        self._splitter = Splitter(end)

    def push(self, text: str) -> None:
        for event in self._splitter.push(text):
            self._parse(event)
        if len(self._splitter.rest) > ANSWER_CHARS_MAX:
            self._splitter.take_rest()

    def end(self) -> None:
        """An event without its end is dispatched, as in the providers' clients."""
        self._parse(self._splitter.take_rest())

    def _parse(self, event: str) -> None:
        if self._is_lines:
            if event.strip():
                self._on_event(event)
            return
        # The first event may begin with the mark of the byte order.
        fields = [line.partition(":") for line in _line_end.split(event.removeprefix("\ufeff"))]
        data = [value.removeprefix(" ") for name, _, value in fields if name == "data"]
        if data:
            self._on_event("\n".join(data))
