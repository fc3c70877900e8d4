"""The options of a client, completed from environment variables and defaults."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, NamedTuple, TypedDict

from weir.delivery.address import Address, parse_address
from weir.delivery.batch import Receipt
from weir.delivery.counters import DropReport
from weir.delivery.notices import Notices
from weir.event.complete import Defaults
from weir.event.redact import Mask

_DEFAULT_URL = "http://127.0.0.1:8080"


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
    tags: Sequence[str]
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


class Settings(NamedTuple):
    address: Address
    api_key: str
    is_enabled: bool
    defaults: Defaults
    content: str
    mask: Mask | None
    sample_rate: float
    spool: str | None
    options: Options


def read_settings(options: Options, notices: Notices) -> Settings:
    """Invalid options turn recording off with one warning. Never raises."""
    read = os.environ.get
    url = options.get("url") or read("WEIR_URL") or _DEFAULT_URL
    api_key = options.get("api_key") or read("WEIR_API_KEY") or ""
    is_wanted = options.get("enabled", not read("WEIR_DISABLED"))
    fault = _find_fault(url, api_key, options) if is_wanted else None
    if fault is not None:
        notices.say("options", f"{fault} Nothing is recorded.")
    spool: Any = options.get("spool") or read("WEIR_SPOOL")
    return Settings(
        address=parse_address(_DEFAULT_URL if fault or not is_wanted else url),
        api_key=api_key,
        is_enabled=is_wanted and fault is None,
        defaults=Defaults(
            vendor=options.get("vendor", "weir"),
            release=options.get("release") or read("WEIR_RELEASE"),
            environment=options.get("environment") or read("WEIR_ENVIRONMENT"),
            tags=tuple(options.get("tags", ())),
        ),
        content=options.get("content", "full"),
        mask=options.get("mask"),
        sample_rate=options.get("sample_rate", 1.0),
        spool=os.path.abspath(os.fspath(spool)) if spool else None,
        options=options,
    )


def _find_fault(url: str, api_key: str, options: Options) -> str | None:
    unknown = set(options) - set(Options.__annotations__)
    if unknown:
        return f"There is no option {sorted(unknown)[0]}."
    if options.get("content", "full") not in ("full", "metadata"):
        return "The option content is neither full nor metadata."
    if not api_key:
        return "There is no API key: set WEIR_API_KEY, or the option api_key."
    # A header value with other characters would make every request fail.
    if not re.fullmatch(r"[\x21-\x7e]+", api_key):
        return "The API key contains characters that are not allowed in a header."
    try:
        parse_address(url)
    except ValueError as error:
        return str(error) if str(error).startswith("The address") else f"The address is not a URL: {url}."
    return None
