"""Splits the text of streams into events."""

from __future__ import annotations

import re
from collections.abc import Callable

from weir.limits import ANSWER_CHARS_MAX

#: The blank line that ends an event. Line ends are LF, CR or CRLF.
_event_end = re.compile(r"\r\n\r\n|\n\n|\r\r|\n\r\n|\r\n\n")
_line_end = re.compile(r"\r\n|\n|\r")


class SseSplitter:
    """Splits server-sent events, each with the blank line that ends it. Chunks may be split anywhere."""

    def __init__(self) -> None:
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
        while found := _event_end.search(self.rest, at, end_max):
            events.append(self.rest[start : found.end()])
            start = at = found.end()
        self.rest = self.rest[start:]
        self._searched = len(self.rest)
        return events

    def take_rest(self) -> str:
        rest, self.rest = self.rest, ""
        self._searched = 0
        return rest


class SseParser:
    """Parses server-sent events (WHATWG HTML §9.2). Only data is reported: the providers repeat the name in it."""

    def __init__(self, on_event: Callable[[str], None]) -> None:
        self._on_event = on_event
        self._splitter = SseSplitter()
        self._is_start = True

    def push(self, text: str) -> None:
        if self._is_start and text:
            self._is_start = False
            text = text.removeprefix("\ufeff")
        for event in self._splitter.push(text):
            self._parse(event)
        if len(self._splitter.rest) > ANSWER_CHARS_MAX:
            self._splitter.take_rest()

    def end(self) -> None:
        """An event without its blank line is dispatched, as in the providers' clients."""
        self._parse(self._splitter.take_rest())

    def _parse(self, event: str) -> None:
        data = []
        for line in _line_end.split(event):
            field, _, value = line.partition(":")
            if field == "data":
                data.append(value.removeprefix(" "))
        if data:
            self._on_event("\n".join(data))


class LineParser:
    """Splits newline-delimited JSON into its lines."""

    def __init__(self, on_event: Callable[[str], None]) -> None:
        self._on_event = on_event
        self._rest = ""

    def push(self, text: str) -> None:
        first, *others = text.split("\n")
        self._rest += first
        for line in others:
            self.end()
            self._rest = line
        if len(self._rest) > ANSWER_CHARS_MAX:
            self._rest = ""

    def end(self) -> None:
        line, self._rest = self._rest, ""
        if line.strip():
            self._on_event(line)
