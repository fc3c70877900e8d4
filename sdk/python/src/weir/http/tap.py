"""Taps a response: the application gets the same bytes at the same time, and nothing is read for it."""

from __future__ import annotations

import sys
import zlib
from collections.abc import AsyncIterator, Callable, Iterator
from functools import lru_cache, partial
from typing import Any

from weir.event.errors import describe_error
from weir.event.types import EventError
from weir.http.answer import AnswerSink, ErrorSink
from weir.http.call import Call
from weir.wire.adapter import LlmAnswer
from weir.wire.aws_frames import FrameDecoder

Change = Callable[[bytes], bytes]

_ABORTED: EventError = {"code": "aborted", "message": "The caller stopped reading the answer."}


class Tap:
    """Records a call when its response ends, fails, is closed, or is forgotten."""

    def __init__(self, call: Call, sink: AnswerSink | ErrorSink, decode: Change, is_last: bool) -> None:
        self._call = call
        self._sink = sink
        self._decode = decode
        self._is_last = is_last
        self._is_over = False

    def chunk(self, data: bytes) -> None:
        try:
            content = self._decode(data)
            if content:
                self._sink.push(content)
            if self._sink.is_stream:
                self._call.note_chunk()
        except Exception:
            # A body that cannot be decoded is recorded without content. The application gets it unchanged.
            self._decode = lambda _: b""

    def __enter__(self) -> None:
        """Reads to the end."""

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        if error is None:
            self._finish(True, None)
        elif not isinstance(error, GeneratorExit):
            self._finish(False, describe_error(error))

    def cancel(self) -> None:
        self._finish(False, _ABORTED)

    def settle(self) -> None:
        """The response will not be read to its end, which is no failure of the call."""
        self._finish(False, None)

    def _finish(self, is_end: bool, error: EventError | None) -> None:
        if self._is_over:
            return
        self._is_over = True
        if isinstance(self._sink, AnswerSink):
            self._call.finish(partial(_read, self._sink, is_end, error), answer_bytes=self._sink.size)
        else:
            # Whether another attempt follows only the client knows.
            _, self._call.error = _read(self._sink, is_end, error)
            if self._is_last:
                self._call.finish(error=self._call.error)


def _read(
    sink: AnswerSink | ErrorSink, is_end: bool, error: EventError | None
) -> tuple[LlmAnswer | None, EventError | None]:
    try:
        answer = sink.finish(is_end)
    except Exception:
        return None, error
    # After the provider's end mark an error does not matter: clients stop reading there. An error of the
    # provider comes first: clients stop reading there, too.
    is_settled = answer is not None and (answer.is_complete or answer.error is not None)
    return answer, answer.error if answer is not None and is_settled else error


class _Tapped:
    """The stream of a response, plain or asynchronous."""

    def __init__(self, inner: Any, tap: Tap, change: Change) -> None:
        self._inner, self._tap, self._change = inner, tap, change

    def __iter__(self) -> Iterator[bytes]:
        with self._tap:
            for data in self._inner:
                self._tap.chunk(data)
                yield self._change(data)

    async def __aiter__(self) -> AsyncIterator[bytes]:
        with self._tap:
            async for data in self._inner:
                self._tap.chunk(data)
                yield self._change(data)

    def close(self) -> None:
        try:
            self._inner.close()
        finally:
            self._tap.cancel()

    async def aclose(self) -> None:
        try:
            await self._inner.aclose()
        finally:
            self._tap.cancel()

    def __del__(self) -> None:
        self._tap.settle()


def tap_stream(package: str, response: Any, tap: Tap, change: Change) -> None:
    """Replaces the stream of a response that is not read yet.

    Args:
        change: changes the bytes that the application gets.
    """
    inner: Any = response.stream
    module: Any = sys.modules[package]
    bases = tuple(kind for kind in (module.SyncByteStream, module.AsyncByteStream) if isinstance(inner, kind))
    response.stream = _tapped(bases)(inner, tap, change)


@lru_cache
def _tapped(bases: tuple[type, ...]) -> Any:
    """``httpx`` and ``httpx2`` take streams of their own classes only."""
    return type("Tapped", (_Tapped, *bases), {})


def decoder_of(response: Any) -> Change:
    """A decoder beside the client's own, for a stream that is compressed or in frames."""
    if response.headers.get("content-type") == "application/vnd.amazon.eventstream":
        return FrameDecoder()
    encoding = response.headers.get("content-encoding", "").strip().lower()
    if encoding in ("", "identity"):
        return bytes
    if encoding == "gzip":
        return zlib.decompressobj(31).decompress
    package = type(response).__module__.split(".")[0]
    known = getattr(sys.modules.get(f"{package}._decoders"), "SUPPORTED_DECODERS", {})
    decode: Change = known[encoding]().decode if encoding in known else lambda _: b""
    return decode
