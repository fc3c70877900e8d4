"""A plugin of pytest that observes every client of OpenAI and Anthropic in a test suite of theirs.

It writes the outcome of each test to the file OUTCOMES, and the number of recorded events at its end.
"""

from __future__ import annotations

import functools
import json
import os
from pathlib import Path
from typing import Any

import pytest
from stub import Stub

import weir

_outcomes: dict[str, str] = {}
_stub = Stub()


def pytest_configure() -> None:
    if "OBSERVE" not in os.environ:
        return
    _stub.open()
    weir.init(url=_stub.url, api_key="key")
    for package in ("openai", "anthropic"):
        module = pytest.importorskip(package)
        for name in {"openai": ("OpenAI", "AsyncOpenAI"), "anthropic": ("Anthropic", "AsyncAnthropic")}[package]:
            _observe_all(getattr(module, name))


def _observe_all(kind: Any) -> None:
    create = kind.__init__

    @functools.wraps(create)
    def create_observed(self: Any, *args: Any, **options: Any) -> None:
        create(self, *args, **options)
        weir.observe(self)

    kind.__init__ = create_observed


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.when == "call" or report.outcome != "passed":
        _outcomes[report.nodeid] = report.outcome


def pytest_unconfigure() -> None:
    if "OBSERVE" in os.environ:
        weir.flush()
    result = {"outcomes": _outcomes, "events": len(_stub.events)}
    Path(os.environ["OUTCOMES"]).write_text(json.dumps(result))
