from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from stub import Stub, running_stub

from weir import Weir


@pytest.fixture
def stub() -> Iterator[Stub]:
    with running_stub() as running:
        yield running


@pytest.fixture
def make(stub: Stub) -> Iterator[Callable[..., Weir]]:
    """Makes clients of the stub, which are closed after the test."""
    made: list[Weir] = []

    def make_client(**options: Any) -> Weir:
        client = Weir(**{"url": stub.url, "api_key": "key", **options})
        made.append(client)
        return client

    yield make_client
    for client in made:
        client.close(0)
