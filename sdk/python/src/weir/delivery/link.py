"""The connection to Weir, which is kept open between requests."""

from __future__ import annotations

# Encodes addresses. A fork in the middle of an import by the sender's thread would lock the child's out.
import encodings.idna  # noqa: F401
import os
import sys
import zlib
from base64 import b64encode
from collections.abc import Mapping
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from typing import Any
from urllib.parse import SplitResult, unquote, urlsplit

from weir.delivery.verdict import Verdict, judge
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

    def __init__(
        self, address: SplitResult, api_key: str, headers: Mapping[str, str], *, proxy: SplitResult | None = None
    ) -> None:
        self._address = address
        self._proxy = proxy
        self._to_proxy = credentials_of(proxy) if proxy is not None else {}
        self._headers = {**headers, "Authorization": f"Bearer {api_key}", "Content-Type": "application/json"}
        self._connection: HTTPConnection | None = None
        #: Seconds for connecting, and for each read.
        self.timeout = REQUEST_TIMEOUT_S

    def post(self, body: bytes) -> Verdict:
        """Sends a body. After a network failure the batch may be stored: with the same ids it may be sent again."""
        is_reused = self._connection is not None
        try:
            return self._exchange(body)
        except (OSError, HTTPException, ValueError) as error:
            self.close()
            if is_reused and not isinstance(error, TimeoutError):
                # The server has closed the idle connection.
                return self.post(body)
            return Verdict("retry", f"{type(error).__name__}: {error}")

    def close(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    def _exchange(self, body: bytes) -> Verdict:
        encoding, packed = compress(body)
        connection = self._connection = self._connection or self._open()
        if connection.sock is not None:
            connection.sock.settimeout(self.timeout)
        headers = {**self._headers, "Content-Encoding": encoding}
        if self._address.scheme != "https":
            headers.update(self._to_proxy)
        connection.request("POST", self._target, packed, headers)
        response = connection.getresponse()
        content = response.read(ANSWER_BYTES_MAX)
        if not response.isclosed():
            self.close()
        return judge(response.status, response.getheader, content)

    def _open(self) -> HTTPConnection:
        address, via = self._address, self._proxy or self._address
        make = HTTPSConnection if address.scheme == "https" else HTTPConnection
        # A port always: without one http.client looks for it in the address, also in one of IPv6.
        connection = make(via.hostname or "", port_of(via), timeout=self.timeout)
        if self._proxy is not None and address.scheme == "https":
            connection.set_tunnel(address.hostname or "", port_of(address), self._to_proxy)
        return connection

    @property
    def _target(self) -> str:
        is_direct = self._proxy is None or self._address.scheme == "https"
        return self._address.path if is_direct else self._address.geturl()


def find_proxy(address: SplitResult) -> SplitResult | None:
    """The proxy that the environment names for an address. Not for a thread: it imports a module.

    Raises:
        ValueError: for one whose address cannot be read.
    """
    # The module takes time. Windows and macOS have proxies in their settings, too.
    if sys.platform not in ("win32", "darwin") and f"{address.scheme}_proxy" not in map(str.lower, os.environ):
        return None
    from urllib.request import getproxies, proxy_bypass

    proxy = None if proxy_bypass(address.hostname or "") else getproxies().get(address.scheme)
    if not proxy:
        return None
    found = urlsplit(proxy if "//" in proxy else f"//{proxy}")
    port_of(found)
    return found


def port_of(address: SplitResult) -> int:
    """The port of an address or of a proxy.

    Raises:
        ValueError: for one that is no number.
    """
    return address.port or (443 if address.scheme == "https" else 80)


def credentials_of(proxy: SplitResult) -> dict[str, str]:
    if proxy.username is None:
        return {}
    pair = f"{unquote(proxy.username)}:{unquote(proxy.password or '')}"
    return {"Proxy-Authorization": f"Basic {b64encode(pair.encode()).decode()}"}


def compress(body: bytes) -> tuple[str, bytes]:
    """The name of the content encoding, and the compressed body.

    Small bodies, too: a checksum tells a body damaged in transit from a bad event.
    """
    if zstd is None:
        packer = zlib.compressobj(_LEVEL, zlib.DEFLATED, 31)
        return "gzip", packer.compress(body) + packer.flush()
    options = {zstd.CompressionParameter.checksum_flag: 1, zstd.CompressionParameter.compression_level: _LEVEL}
    return "zstd", zstd.compress(body, options=options)
