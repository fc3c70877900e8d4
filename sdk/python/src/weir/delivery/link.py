"""The connection to Weir, which is kept open between requests."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from weir.delivery.address import Address
from weir.delivery.compression import compress
from weir.delivery.verdict import Answer
from weir.limits import ANSWER_BYTES_MAX, REQUEST_TIMEOUT_S


class Link:
    """Used by one thread at a time."""

    def __init__(self, address: Address, api_key: str, headers: Mapping[str, str]) -> None:
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
        except HTTPException as error:
            self.close()
            raise ConnectionError(f"{type(error).__name__}: {error}") from error
        except BaseException:
            self.close()
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
        is_secure, host, port, _ = self._address
        proxy = None if proxy_bypass(host) else getproxies().get("https" if is_secure else "http")
        make = HTTPSConnection if is_secure else HTTPConnection
        if not proxy:
            return make(host, port, timeout=self.timeout)
        via = urlsplit(proxy if "//" in proxy else f"//{proxy}")
        connection = make(via.hostname or "", via.port, timeout=self.timeout)
        if is_secure:
            connection.set_tunnel(host, port)
        return connection

    def _target(self, connection: HTTPConnection) -> str:
        is_direct = self._address.is_secure or connection.host == self._address.host
        return self._address.path if is_direct else self._address.origin + self._address.path


def _read_answer(response: HTTPResponse, content: bytes) -> Answer:
    location = response.getheader("Location")
    details = _read_details(content) or (f"It redirects to {location}" if location else "")
    return Answer(
        response.status,
        details,
        _seconds(response.getheader("Retry-After")) or 0,
        _seconds(response.getheader("Weir-Quota-Reset")),
        response.getheader("Weir-Batch-Id"),
    )


def _read_details(content: bytes) -> str:
    try:
        return str(json.loads(content)["error"]["details"] or "")
    except (ValueError, KeyError, TypeError):
        return ""


def _seconds(header: str | None) -> float | None:
    """Seconds or a date (RFC 9110 §10.2.3)."""
    if header is None:
        return None
    if header.isdecimal():
        return float(header)
    try:
        return max(0.0, parsedate_to_datetime(header).timestamp() - time.time())
    except (ValueError, OverflowError):
        return None
