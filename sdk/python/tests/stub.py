"""A stub of Weir, which keeps what it accepts: of one id only the first event, as Weir does."""

from __future__ import annotations

import gzip
import json
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple


class Reply(NamedTuple):
    status: int
    details: str = ""
    headers: tuple[tuple[str, str], ...] = ()


class Stub:
    def __init__(self) -> None:
        self.accepted: dict[str, dict[str, Any]] = {}
        self.deliveries: Counter[str] = Counter()
        #: The events of each request, in order.
        self.requests: list[list[dict[str, Any]]] = []
        #: The answer to a request's events; None accepts them. Raising drops the connection.
        self.respond: Callable[[list[dict[str, Any]]], Reply | None] = lambda events: None
        self.headers: list[dict[str, str]] = []
        self.port = 0
        self._server: ThreadingHTTPServer | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def events(self) -> list[dict[str, Any]]:
        return list(self.accepted.values())

    def open(self) -> None:
        server = _Server(("127.0.0.1", self.port), _handler_of(self))
        self._server, self.port = server, server.server_port
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()

    def close(self) -> None:
        server, self._server = self._server, None
        if server is not None:
            server.shutdown()
            server.server_close()

    def forget(self) -> None:
        self.accepted.clear()
        self.deliveries.clear()
        self.requests.clear()
        self.headers.clear()

    def take(self, body: bytes, headers: dict[str, str]) -> Reply:
        self.headers.append(headers)
        events = json.loads(_decompress(body, headers["content-encoding"]))["events"]
        self.requests.append(events)
        reply = self.respond(events)
        if reply is not None:
            return reply
        for event in events:
            self.accepted.setdefault(event["id"], event)
            self.deliveries[event["id"]] += 1
        return Reply(202, headers=(("Weir-Batch-Id", f"batch-{len(self.requests)}"),))


def _decompress(body: bytes, encoding: str) -> bytes:
    if encoding == "gzip":
        return gzip.decompress(body)
    # From Python 3.14 on.
    from compression import zstd

    text: bytes = zstd.decompress(body)
    return text


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    allow_reuse_address = True
    request_queue_size = 100

    def handle_error(self, request: Any, client_address: Any) -> None:
        pass


def _handler_of(stub: Stub) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            assert self.path == "/v1/ingest-events"
            body = self.rfile.read(int(self.headers["content-length"]))
            reply = stub.take(body, {name.lower(): value for name, value in self.headers.items()})
            error = {"id": "some_error", "title": "Some error", "status": reply.status, "details": reply.details}
            # An answer of 204 has no body: what follows it would be read as the next answer of the connection.
            body_of = {202: {"message": "Queued."}, 204: None}.get(reply.status, {"error": error})
            text = b"" if body_of is None else json.dumps(body_of).encode()
            self.send_response(reply.status)
            for name, value in (*reply.headers, ("Content-Length", str(len(text)))):
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(text)

        def log_message(self, *args: Any) -> None:
            pass

    return Handler


@contextmanager
def running_stub() -> Iterator[Stub]:
    stub = Stub()
    stub.open()
    try:
        yield stub
    finally:
        stub.close()


def until(condition: Callable[[], object], seconds: float = 30.0) -> None:
    """Waits until a condition holds."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "the condition did not come true"
        time.sleep(0.01)


def llm_event(**fields: Any) -> dict[str, Any]:
    llm = {"model": "m", "input": {"prompt": "Hi"}, "output": {"response": "Hello"}}
    return {"type": "llm", "properties": {"llm": llm}, **fields}
