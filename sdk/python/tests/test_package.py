"""The package: its version, its size, its imports, its cost."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from stub import Stub, llm_event

from weir import Weir
from weir.delivery import link as link_module
from weir.options import parse_address

_ROOT = Path(__file__).parents[3]
_SOURCE = Path(__file__).parents[1] / "src"


def run(code: str, *arguments: str) -> str:
    environment = {**os.environ, "PYTHONPATH": str(_SOURCE)}
    return subprocess.run(
        [sys.executable, "-S", "-c", code, *arguments], env=environment, capture_output=True, text=True, check=True
    ).stdout


def test_the_version_is_that_of_the_product() -> None:
    version = json.loads((_ROOT / "package.json").read_text())["version"]
    assert f'version = "{version}"' in (_SOURCE.parent / "pyproject.toml").read_text()


def test_the_import_loads_neither_clients_nor_the_network() -> None:
    loaded = run("import sys, weir; print(*sys.modules)").split()
    heavy = {"http.client", "ssl", "asyncio", "logging", "inspect", "dataclasses", "httpx", "openai", "urllib.request"}
    assert heavy.isdisjoint(loaded)
    assert {"weir.recorder", "weir.options", "weir.http", "weir.spool"}.isdisjoint(loaded)
    assert not {name for name in loaded if "." not in name} - set(sys.stdlib_module_names) - {"weir", "__main__"}


def test_a_client_loads_neither_the_spool_nor_logging_nor_proxies_that_are_not_used(monkeypatch: Any) -> None:
    for name in [name for name in os.environ if name.lower().endswith("_proxy")]:
        monkeypatch.delenv(name)
    start = "import sys, weir; weir.Weir(api_key='k').record({'type': 'tool', 'properties': {'tool': {}}})"
    loaded = run(f"{start}; print(*sys.modules)").split()
    assert {"logging", "urllib.request"}.isdisjoint(loaded)
    assert not [name for name in loaded if name.startswith("weir.spool")]


_DELIVERS = """
import sys, weir
client = weir.Weir(api_key="k", url=sys.argv[1])
before = set(sys.modules)
client.record({"type": "tool", "properties": {"tool": {}}})
print(client.flush().accepted, *set(sys.modules) - before)
"""


@pytest.mark.parametrize("proxy", ["", "http://127.0.0.1:1"])
def test_nothing_is_imported_after_the_constructor(proxy: str, stub: Stub, monkeypatch: Any) -> None:
    """A fork in the middle of an import would leave its lock to a child in which nobody releases it."""
    monkeypatch.setenv("http_proxy", proxy)
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    assert run(_DELIVERS, stub.url).split() == ["1"]


def test_a_program_without_logging_sees_what_went_wrong() -> None:
    assert "There is no API key" in run("import sys, weir; sys.stderr = sys.stdout; weir.Weir(api_key='')")


def test_recording_is_cheap(make: Callable[..., Weir]) -> None:
    """No timed assertion: the test prints what docs/sdk-python.md says."""
    client = make()
    event: Any = llm_event()
    event["properties"]["llm"]["input"]["prompt"] = "How warm is it? " * 640
    times = []
    for _ in range(2_000):
        started = time.perf_counter()
        client.record(event)
        times.append(time.perf_counter() - started)
    times.sort()
    print(f"record of 10 KB: median {times[1000] * 1e6:.0f} µs, p99 {times[1980] * 1e6:.0f} µs")
    assert client.stats().recorded == 2_000


def test_zstd_is_used_where_it_is(monkeypatch: Any) -> None:
    zstd = pytest.importorskip("backports.zstd")
    monkeypatch.setattr(link_module, "zstd", zstd)
    encoding, packed = link_module.compress(b"events" * 100)
    assert (encoding, zstd.decompress(packed)) == ("zstd", b"events" * 100)


def test_proxies_of_the_environment_are_used(monkeypatch: Any) -> None:
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("https_proxy", "http://proxy.example:3128")
    address = parse_address("https://weir.example/base/")
    link: Any = link_module.Link(address, "key", {}, proxy=link_module.find_proxy(address))
    connection = link._open()
    assert (connection.host, connection.port, connection._tunnel_host) == ("proxy.example", 3128, "weir.example")
    assert link._target == "/base/v1/ingest-events"


def test_a_proxy_gets_its_credentials_and_addresses_of_ipv6_their_port(monkeypatch: Any) -> None:
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    expected = {"Proxy-Authorization": "Basic dXNlcjpwQHNz"}
    for scheme in ("http", "https"):
        monkeypatch.setenv(f"{scheme}_proxy", "http://user:p%40ss@[2001:db8::1]")
        address = parse_address(f"{scheme}://[::1]")
        link: Any = link_module.Link(address, "key", {}, proxy=link_module.find_proxy(address))
        connection = link._open()
        assert (connection.host, connection.port) == ("2001:db8::1", 80)
        if scheme == "https":
            tunnel = (connection._tunnel_host, connection._tunnel_port, connection._tunnel_headers)
            assert tunnel[:2] == ("::1", 443)
            assert expected.items() <= tunnel[2].items()
        else:
            assert link._to_proxy == expected


def test_a_proxy_that_cannot_be_read_is_said_and_not_used(make: Any, stub: Stub, monkeypatch: Any) -> None:
    monkeypatch.setenv("http_proxy", "http://user:p[ss@proxy.example:3128")
    weir = make()
    weir.record(llm_event())
    assert weir.flush() == (1, 0, 0)


def test_a_proxy_of_plain_http_gets_the_whole_address(monkeypatch: Any, stub: Stub) -> None:
    monkeypatch.setenv("no_proxy", "")
    monkeypatch.setenv("http_proxy", stub.url.removeprefix("http://"))
    address = parse_address("http://weir.example")
    link: Any = link_module.Link(address, "key", {}, proxy=link_module.find_proxy(address))
    assert (link._open().port, link._target) == (stub.port, "http://weir.example/v1/ingest-events")
