"""Records the LLM and tool calls of a program and delivers them to Weir, a self-hosted ingest service.

>>> import weir
>>> client = weir.observe(OpenAI())  # WEIR_URL, WEIR_API_KEY, WEIR_SPOOL

The functions of this module use one client, which the environment configures, or ``weir.init``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from weir.api import Api, Weir
from weir.calls.trace import Trace
from weir.delivery.batch import Receipt
from weir.delivery.counters import DropReport
from weir.event.types import Event
from weir.limits import FLUSH_TIMEOUT_S
from weir.options import Options
from weir.recorder import FlushResult, Recorder, Stats

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = [
    "DropReport",
    "Event",
    "FlushResult",
    "Receipt",
    "Stats",
    "Trace",
    "Weir",
    "agent",
    "client",
    "close",
    "flush",
    "init",
    "observe",
    "record",
    "serverless",
    "span",
    "stats",
    "tool",
    "trace",
    "wrap",
]

_default: Weir | None = None


def init(**options: Unpack[Options]) -> Weir:
    """Configures the client that the functions of this module use, and returns it."""
    global _default
    previous, _default = _default, Weir(**options)
    if previous is not None:
        previous.close()
    return _default


def client() -> Weir:
    """The client that the functions of this module use."""
    global _default
    # Without a lock, which the child of a fork could find locked: two clients would both deliver.
    if _default is None:
        _default = Weir()
    return _default


class _Module(Api):
    def _recorder(self) -> Recorder:
        return client()


_module = _Module()
observe = _module.observe
trace = _module.trace
span = _module.span
agent = _module.agent
tool = _module.tool
wrap = _module.wrap
serverless = _module.serverless


def record(event: Event) -> str:
    """Records an event of docs/api.md §2.2; missing fields are filled in. Returns its id in Weir."""
    return client().record(event)


def flush(timeout: float = FLUSH_TIMEOUT_S) -> FlushResult:
    """Delivers what was recorded so far, and returns after ``timeout`` seconds at the latest."""
    return client().flush(timeout)


def close(timeout: float = FLUSH_TIMEOUT_S) -> FlushResult:
    """Flushes, and ends recording. What is pending then stays in the spool, or is dropped and counted."""
    return client().close(timeout)


def stats() -> Stats:
    """Numbers of events of this process since its start."""
    return client().stats()
