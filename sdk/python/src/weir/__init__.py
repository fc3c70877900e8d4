"""Records the LLM and tool calls of a program and delivers them to Weir, a self-hosted ingest service.

>>> import weir
>>> client = weir.observe(OpenAI())  # WEIR_URL, WEIR_API_KEY, WEIR_SPOOL

The functions of this module are the methods of one client, which the environment configures, or ``weir.init``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from weir.api import Weir as Weir
from weir.calls.trace import Trace as Trace
from weir.event.types import Event as Event
from weir.reports import DropReport as DropReport
from weir.reports import FlushResult as FlushResult
from weir.reports import Receipt as Receipt
from weir.reports import Stats as Stats

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from weir.options import Options

#: Reads the environment at its first use: ``init`` may come before.
_client = Weir.__new__(Weir)


def init(**options: Unpack[Options]) -> Weir:
    """Configures the client that the functions of this module use, and returns it."""
    Weir.__init__(_client, **options)
    return _client


def client() -> Weir:
    """The client that the functions of this module use."""
    return _client


observe = _client.observe
trace = _client.trace
span = _client.span
agent = _client.agent
tool = _client.tool
wrap = _client.wrap
serverless = _client.serverless
record = _client.record
flush = _client.flush
close = _client.close
stats = _client.stats
