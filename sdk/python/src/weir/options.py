"""The options of a client, completed from environment variables and defaults."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, TypedDict
from urllib.parse import SplitResult, urlsplit

from weir.event.redact import Mask
from weir.limits import SPOOL_BYTES_MAX
from weir.reports import DropReport, Receipt


class Options(TypedDict, total=False):
    """The arguments of ``Weir`` and ``init``."""

    #: Address of ingest. Default: ``WEIR_URL``, or ``http://127.0.0.1:8080``.
    url: str
    #: Default: ``WEIR_API_KEY``. Without a key nothing is recorded, and one warning is logged.
    api_key: str
    #: False turns recording off: wrappers pass calls through unchanged. ``WEIR_DISABLED`` does the same.
    enabled: bool
    #: The value that this Weir requires in ``instrumentation.vendor``. Default ``weir``.
    vendor: str
    #: Stored as dimensions. Default: ``WEIR_RELEASE``, ``WEIR_ENVIRONMENT``.
    release: str
    environment: str
    #: Tags of every event, stored joined by ``, ``.
    tags: str | Sequence[str]
    #: ``metadata`` leaves out prompts, responses, tool arguments and results, and error messages.
    content: Literal["full", "metadata"]
    #: Changes each event before it is stored anywhere. If it raises, all content of the event is removed.
    mask: Mask
    #: Share of traces to keep, 0 to 1. Events with errors are always kept.
    sample_rate: float
    #: A folder that keeps events until Weir has accepted them. Default: ``WEIR_SPOOL``.
    spool: str | os.PathLike[str]
    #: Writes each event of the spool through to the disk: then it survives a power cut, too.
    spool_fsync: bool
    #: Most bytes on disk of this process. Default 1 GiB.
    spool_bytes_max: int
    #: On 402: drop events, or keep them in the spool until the quota resets. Default ``drop``.
    on_quota: Literal["drop", "spool"]
    #: Called with the number of dropped events, at most every 10 s, in the sender's thread.
    on_drop: Callable[[DropReport], object]
    #: Called for each batch that is durable in Weir, in the sender's thread.
    on_accepted: Callable[[Receipt], object]
    #: Additional request headers, for a proxy in front of Weir.
    headers: Mapping[str, str]
    #: Delivers when SIGTERM arrives, and then does what the signal did before. Default False.
    flush_on_sigterm: bool


_DEFAULTS: Options = {
    "url": "http://127.0.0.1:8080",
    "api_key": "",
    "vendor": "weir",
    "content": "full",
    "sample_rate": 1.0,
    "spool_fsync": False,
    "spool_bytes_max": SPOOL_BYTES_MAX,
    "headers": {},
    "flush_on_sigterm": False,
}

_VARIABLES = ("url", "api_key", "release", "environment", "spool")


def complete_options(options: Options) -> tuple[Mapping[str, Any], str | None]:
    """The options with ``enabled``, and what is wrong with them, which turns recording off. Never raises."""
    variables = {name: os.environ.get(f"WEIR_{name.upper()}") for name in _VARIABLES}
    is_wanted = options.get("enabled", not os.environ.get("WEIR_DISABLED"))
    known: Any = {**_DEFAULTS, **_known(variables), **_known(options)}
    try:
        fault = _find_fault(known) if is_wanted else None
    except (TypeError, AttributeError) as error:
        fault = f"An option has the wrong type: {error}."
    known["enabled"] = is_wanted and fault is None
    return known, fault


def _known(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None and value != ""}


def _find_fault(options: Mapping[str, Any]) -> str | None:
    unknown = set(options) - set(Options.__annotations__)
    if unknown:
        return f"There is no option {sorted(unknown)[0]}."
    if options["content"] not in ("full", "metadata"):
        return "The option content is neither full nor metadata."
    if not 0 <= options["sample_rate"] <= 1:
        return "The option sample_rate is not a number from 0 to 1."
    if not options["api_key"]:
        return "There is no API key: set WEIR_API_KEY, or the option api_key."
    # A header value with other characters would make every request fail.
    if not re.fullmatch(r"[\x21-\x7e]+", options["api_key"]):
        return "The API key contains characters that are not allowed in a header."
    try:
        parse_address(options["url"])
    except ValueError:
        return f"The address is not a URL: {options['url']}."
    return None


_PATH = "/v1/ingest-events"


def parse_address(url: str) -> SplitResult:
    """The endpoint of ingest, from an address with or without its path. Without credentials, which are not for a log.

    Raises:
        ValueError: when it is no HTTP address.
    """
    parts = urlsplit(url.strip())
    # Reading the port raises an error for one that is no number.
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.port == 0:
        raise ValueError("not an address")
    base = parts.path.rstrip("/")
    path = base if base.endswith(_PATH) else base + _PATH
    return SplitResult(parts.scheme, parts.netloc.rpartition("@")[2], path, "", "")
