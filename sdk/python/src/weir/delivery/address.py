"""Where the events go."""

from __future__ import annotations

from typing import NamedTuple
from urllib.parse import urlsplit

_PATH = "/v1/ingest-events"


class Address(NamedTuple):
    """The endpoint of ingest."""

    is_secure: bool
    host: str
    port: int | None
    path: str

    @property
    def origin(self) -> str:
        """Without credentials and paths, which are not for a log."""
        port = "" if self.port is None else f":{self.port}"
        return f"{'https' if self.is_secure else 'http'}://{self.host}{port}"


def parse_address(url: str) -> Address:
    """Reads the address of ingest, with or without the path of the endpoint.

    Raises:
        ValueError: when it is no HTTP address.
    """
    parts = urlsplit(url.strip())
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError(f"The address is not a URL: {url}.")
    base = parts.path.rstrip("/")
    return Address(parts.scheme == "https", parts.hostname, parts.port, base if base.endswith(_PATH) else base + _PATH)
