"""The connection to Weir, which is kept open between requests."""

from __future__ import annotations

import json
import time
import zlib
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from typing import Any
from urllib.parse import SplitResult, urlsplit
from urllib.request import getproxies, proxy_bypass

from weir.delivery.verdict import Answer
from weir.limits import ANSWER_BYTES_MAX, REQUEST_TIMEOUT_S

zstd: Any
try:
    # From Python 3.14 on.
    from compression import zstd  # type: ignore[import-not-found, no-redef, unused-ignore]
except ImportError:
    zstd = None

#: Events repeat their prompts: level 1 compresses them 10 to 30 times with a third of the time of level 6.
_LEVEL = 1


class Link:
    """Used by one thread at a time."""

    def __init__(self, address: SplitResult, api_key: str, headers: Mapping[str, str]) -> None:
        self._address = address
        self._headers = {**headers, "Authorization": f"Bearer {api_key}", "Content-Type": "application/json"}
        self._connection: HTTPConnection | None = None
        #: Seconds for connecting, and for each read.
        self.timeout = REQUEST_TIMEOUT_S

    def post(self, body: bytes) -> Answer:
        """Sends a body.

        Raises:
            OSError: after a network failure or a time-out. The batch may be stored.
        """
        encoding, packed = compress(body)
        headers = {**self._headers, "Content-Encoding": encoding}
        is_reused = self._connection is not None
        try:
            return self._send(packed, headers)
        except TimeoutError:
            raise
        except OSError:
            if not is_reused:
                raise
            # The server has closed the idle connection. A second copy of the batch is stored once.
            return self._send(packed, headers)

    def close(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    def _send(self, body: bytes, headers: Mapping[str, str]) -> Answer:
        try:
            return self._exchange(body, headers)
        except BaseException as error:
            self.close()
            if isinstance(error, HTTPException):
                raise ConnectionError(f"{type(error).__name__}: {error}") from error
            raise

    def _exchange(self, body: bytes, headers: Mapping[str, str]) -> Answer:
        connection = self._connection = self._connection or self._open()
        if connection.sock is not None:
            connection.sock.settimeout(self.timeout)
        connection.request("POST", self._target(connection), body, dict(headers))
        response = connection.getresponse()
        content = response.read(ANSWER_BYTES_MAX)
        if not response.isclosed():
            self.close()
        return _read_answer(response, content)

    def _open(self) -> HTTPConnection:
        address = self._address
        host, port = address.hostname or "", address.port
        proxy = None if proxy_bypass(host) else getproxies().get(address.scheme)
        make = HTTPSConnection if address.scheme == "https" else HTTPConnection
        if not proxy:
            return make(host, port, timeout=self.timeout)
        via = urlsplit(proxy if "//" in proxy else f"//{proxy}")
        connection = make(via.hostname or "", via.port, timeout=self.timeout)
        if address.scheme == "https":
            connection.set_tunnel(host, port)
        return connection

    def _target(self, connection: HTTPConnection) -> str:
        address = self._address
        is_direct = address.scheme == "https" or connection.host == address.hostname
        return address.path if is_direct else address.geturl()


def compress(body: bytes) -> tuple[str, bytes]:
    """The name of the content encoding, and the compressed body.

    Small bodies, too: a checksum tells a body damaged in transit from a bad event.
    """
    if zstd is None:
        packer = zlib.compressobj(_LEVEL, zlib.DEFLATED, 31)
        return "gzip", packer.compress(body) + packer.flush()
    options = {zstd.CompressionParameter.checksum_flag: 1, zstd.CompressionParameter.compression_level: _LEVEL}
    return "zstd", zstd.compress(body, options=options)


def _read_answer(response: HTTPResponse, content: bytes) -> Answer:
    location = response.getheader("Location")
    return Answer(
        response.status,
        _read_details(content) or (f"It redirects to {location}" if location else ""),
        _seconds(response.getheader("Retry-After"), 0),
        _seconds(response.getheader("Weir-Quota-Reset"), float("inf")),
        response.getheader("Weir-Batch-Id"),
    )


def _read_details(content: bytes) -> str:
    try:
        return str(json.loads(content)["error"]["details"] or "")
    except (ValueError, KeyError, TypeError):
        return ""


def _seconds(header: str | None, default: float) -> float:
    """Seconds or a date (RFC 9110 §10.2.3)."""
    if header is None or header.isdecimal():
        return default if header is None else float(header)
    try:
        return max(0.0, parsedate_to_datetime(header).timestamp() - time.time())
    except (ValueError, OverflowError):
        return default
