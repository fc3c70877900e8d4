"""Servers that fork, end and restart by rules of their own: each event arrives once."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import urllib.request
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest
from stub import Stub, until

from weir.event.types import create_uuid

_TESTS = Path(__file__).parent


def environment_of(stub: Stub, **variables: str) -> dict[str, str]:
    path = os.pathsep.join((str(_TESTS.parent / "src"), str(_TESTS / "programs")))
    return {**os.environ, "PYTHONPATH": path, "WEIR_URL": stub.url, "WEIR_API_KEY": "key", **variables}


@contextmanager
def running(module: str, *options: str, environment: dict[str, str], ready: str, log: Path) -> Iterator[str]:
    """A server, from the line of its log that says that it is ready, to its end by SIGTERM."""
    with log.open("w") as output:
        command = [sys.executable, "-m", module, *options]
        server = subprocess.Popen(command, env=environment, stdout=output, stderr=subprocess.STDOUT)
    try:
        until(lambda: re.search(ready, log.read_text()) or server.poll() is not None)
        found = re.search(ready, log.read_text())
        assert found, log.read_text()
        yield found[0]
        server.send_signal(signal.SIGTERM)
        server.wait(60)
    finally:
        server.kill()
        server.wait()


def ask(url: str) -> str:
    with urllib.request.urlopen(url, timeout=30) as response:
        return str(response.read().decode())


def count_by_who(stub: Stub) -> dict[str, int]:
    assert set(stub.deliveries.values()) <= {1}
    return dict(Counter(event["additionalProperties"]["who"] for event in stub.events))


@pytest.mark.parametrize("has_spool", [False, True], ids=["without a spool", "with a spool"])
def test_gunicorn_with_preload(has_spool: bool, stub: Stub, tmp_path: Path) -> None:
    pytest.importorskip("gunicorn")
    spool = {"WEIR_SPOOL": str(tmp_path / "spool")} if has_spool else {}
    options = ("--preload", "--workers", "2", "--bind", "127.0.0.1:0", "servers:wsgi")
    environment = environment_of(stub, PRELOAD="1", **spool)
    ready = r"http://127.0.0.1:\d+"
    with (
        running("gunicorn", *options, environment=environment, ready=ready, log=tmp_path / "log") as url,
        ThreadPoolExecutor(4) as clients,
    ):
        assert list(clients.map(ask, [url] * 40)) == ["Hi"] * 40
    assert count_by_who(stub) == {"preload": 1, "request": 40}


def test_uvicorn_streams_inside_of_the_trace_and_ends_by_its_signal(stub: Stub, tmp_path: Path) -> None:
    """It ends gracefully, and then by the signal that it had: without Python's end of a program."""
    pytest.importorskip("uvicorn")
    options = ("servers:asgi", "--port", "0")
    ready = r"http://127.0.0.1:\d+"
    environment = environment_of(stub, WEIR_SPOOL=str(tmp_path / "spool"))
    with running("uvicorn", *options, environment=environment, ready=ready, log=tmp_path / "log") as url:
        for at in range(5):
            assert ask(f"{url}/thread-{at}") == "Hi"
    subprocess.run([sys.executable, "-c", "import weir; weir.flush()"], env=environment, check=True, timeout=60)
    assert count_by_who(stub) == {"stream": 10}
    assert {event["context"]["threadId"] for event in stub.events} == {f"thread-{at}" for at in range(5)}


def test_celery_with_prefork(stub: Stub, tmp_path: Path) -> None:
    pytest.importorskip("celery")
    environment = environment_of(stub, BROKER=str(tmp_path / "broker"))
    (tmp_path / "broker" / "control").mkdir(parents=True)
    quiet = ("--without-gossip", "--without-mingle", "--without-heartbeat")
    options = (
        "--app",
        "servers:worker",
        "worker",
        "--pool",
        "prefork",
        "--concurrency",
        "2",
        "--loglevel",
        "INFO",
        *quiet,
    )
    traces = [create_uuid() for _ in range(10)]
    send = "import servers, sys; [servers.answer.delay(trace) for trace in sys.argv[1:]]"
    with running("celery", *options, environment=environment, ready=r"ready\.", log=tmp_path / "log"):
        subprocess.run([sys.executable, "-c", send, *traces], env=environment, check=True, timeout=60)
        # Long-lived workers deliver by their timer.
        until(lambda: len(stub.events) == 10)
    assert count_by_who(stub) == {"task": 10}
    assert {event["traceId"] for event in stub.events} == set(traces)


@pytest.mark.parametrize("is_killed", [False, True], ids=["shut down", "killed"])
@pytest.mark.filterwarnings("ignore")
def test_a_kernel_of_jupyter_that_is_restarted(
    is_killed: bool, stub: Stub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    manager = pytest.importorskip("jupyter_client.manager")
    for name, value in environment_of(stub, WEIR_SPOOL=str(tmp_path / "spool")).items():
        monkeypatch.setenv(name, value)
    kernel, client = manager.start_new_kernel(startup_timeout=120, kernel_name="python3")
    try:
        for at in range(2):
            client.execute_interactive(f"import servers; servers.record('cell {at}')", timeout=60, allow_stdin=False)
            if at == 0:
                kernel.restart_kernel(now=is_killed)
                client.wait_for_ready(timeout=120)
        until(lambda: len(stub.events) == 2)
    finally:
        client.stop_channels()
        kernel.shutdown_kernel(now=True)
    assert count_by_who(stub) == {"cell 0": 1, "cell 1": 1}
