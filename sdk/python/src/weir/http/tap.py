"""Taps a response: the application gets the same bytes at the same time, and nothing is read for it."""

from __future__ import annotations

import sys
import zlib
from collections.abc import AsyncIterator, Callable, Iterator
from functools import lru_cache
from typing import Any

from weir.event.errors import describe_error
from weir.event.types import EventError
from weir.http.answer import AnswerReader, read_http_error
from weir.http.call import Call
from weir.wire.adapter import Adapter

_ABORTED: EventError = {"code": "aborted", "message": "The caller stopped reading the answer."}

#: Changes the bytes that the application gets.
Filter = Callable[[bytes], bytes]


class Tap:
    """Records a call when its response ends, fails, is closed, or is forgotten."""

    def __init__(self, call: Call, adapter: Adapter, response: Any) -> None:
        self._call = call
        self._reader = AnswerReader(adapter)
        self._decode = _decoder_of(response)
        self._is_over = False

    def chunk(self, data: bytes) -> None:
        try:
            text = self._decode(data)
            if text:
                self._reader.push(text)
            if self._reader.is_stream:
                self._call.note_chunk()
        except Exception:
            # A body that cannot be decoded is recorded without content. The application gets it unchanged.
            self._decode = lambda _: b""

    def end(self) -> None:
        self._finish(True, None)

    def fail(self, error: BaseException) -> None:
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
        try:
            answer = self._reader.finish(is_end)
        except Exception:
            answer = None
        # After the provider's end mark an error does not matter: clients stop reading there. An error of the
        # provider comes first: clients stop reading there, too.
        if answer is not None and (answer.is_complete or answer.error is not None):
            error = answer.error
        self._call.finish(answer, error)


class ErrorTap(Tap):
    """Reads the body of an error. Whether another attempt follows only the client knows."""

    def __init__(self, call: Call, status: int, response: Any, *, is_last: bool) -> None:
        self._call = call
        self._status = status
        self._is_last = is_last
        self._decode = _decoder_of(response)
        self._content = b""
        self._is_over = False
        call.error = read_http_error(b"", status)

    def chunk(self, data: bytes) -> None:
        try:
            self._content += self._decode(data)
        except Exception:
            self._decode = lambda _: b""

    def _finish(self, is_end: bool, error: EventError | None) -> None:
        if self._is_over:
            return
        self._is_over = True
        self._call.error = read_http_error(self._content, self._status)
        if self._is_last:
            self._call.finish(error=self._call.error)


def tap_stream(package: str, response: Any, tap: Tap, change: Filter | None) -> None:
    """Replaces the stream of a response that is not read yet."""
    plain, asynchronous = _stream_types(package)
    is_async = not hasattr(response.stream, "__iter__") or hasattr(response.stream, "__aiter__")
    response.stream = (asynchronous if is_async else plain)(response.stream, tap, change)


@lru_cache
def _stream_types(package: str) -> tuple[type[Any], type[Any]]:
    """``httpx`` and ``httpx2`` take streams of their own classes only."""
    module: Any = sys.modules[package]

    class Tapped(module.SyncByteStream):  # type: ignore[misc]
        def __init__(self, inner: Any, tap: Tap, change: Filter | None) -> None:
            self._inner, self._tap, self._change = inner, tap, change or bytes

        def __iter__(self) -> Iterator[bytes]:
            try:
                for data in self._inner:
                    self._tap.chunk(data)
                    yield self._change(data)
            except GeneratorExit:
                raise
            except BaseException as error:
                self._tap.fail(error)
                raise
            self._tap.end()

        def close(self) -> None:
            try:
                self._inner.close()
            finally:
                self._tap.cancel()

        def __del__(self) -> None:
            self._tap.settle()

    class AsyncTapped(module.AsyncByteStream):  # type: ignore[misc]
        def __init__(self, inner: Any, tap: Tap, change: Filter | None) -> None:
            self._inner, self._tap, self._change = inner, tap, change or bytes

        async def __aiter__(self) -> AsyncIterator[bytes]:
            try:
                async for data in self._inner:
                    self._tap.chunk(data)
                    yield self._change(data)
            except GeneratorExit:
                raise
            except BaseException as error:
                self._tap.fail(error)
                raise
            self._tap.end()

        async def aclose(self) -> None:
            try:
                await self._inner.aclose()
            finally:
                self._tap.cancel()

        def __del__(self) -> None:
            self._tap.settle()

    return Tapped, AsyncTapped


def _decoder_of(response: Any) -> Callable[[bytes], bytes]:
    """A decoder beside the client's own, for a stream that is compressed."""
    encoding = response.headers.get("content-encoding", "").strip().lower()
    if encoding in ("", "identity"):
        return bytes
    if encoding == "gzip":
        return zlib.decompressobj(31).decompress
    package = type(response).__module__.split(".")[0]
    known = getattr(sys.modules.get(f"{package}._decoders"), "SUPPORTED_DECODERS", {})
    decode: Callable[[bytes], bytes] = known[encoding]().decode if encoding in known else lambda _: b""
    return decode
