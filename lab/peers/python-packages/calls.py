"""Measures what observing a client of OpenAI costs: CPU time of the import and of each call, and memory.

Usage: calls.py SUBJECT CALLS [FOLDER]. One subject a process; the provider answers in the process, and what the
subject sends is accepted by a server on loopback that keeps nothing.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import resource
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

PROMPT = "How warm is it in Zurich? " * 400
ANSWER = {
    "id": "chatcmpl-1",
    "object": "chat.completion",
    "created": 1,
    "model": "gpt-5-mini",
    "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "It is 21 °C."}}],
    "usage": {"prompt_tokens": 2600, "completion_tokens": 8, "total_tokens": 2608},
}


class Sink(BaseHTTPRequestHandler):
    """Accepts everything: 202 for Weir, 200 for the others."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        length = int(self.headers.get("content-length") or 0)
        chunked = self.headers.get("transfer-encoding") == "chunked"
        while chunked and (size := int(self.rfile.readline(), 16)) >= 0:
            self.rfile.read(size + 2)
            chunked = size > 0
        self.rfile.read(length)
        self.send_response(202 if self.path == "/v1/ingest-events" else 200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", "2")
        self.end_headers()
        self.wfile.write(b"{}")

    do_GET = do_PATCH = do_POST

    def log_message(self, *arguments: Any) -> None:
        pass


def serve(port: Any) -> None:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Sink)
    port.send(server.server_port)
    server.serve_forever()


def create_client() -> Any:
    import httpx2
    import openai

    http = httpx2.Client(transport=httpx2.MockTransport(lambda request: httpx2.Response(200, json=ANSWER)))
    return openai.OpenAI(api_key="k", http_client=http)


def observe(subject: str, url: str) -> tuple[Any, Any]:
    """The observed client, and the function that delivers what was recorded."""
    if subject == "nothing":
        return create_client(), lambda: None
    if subject.startswith("weir"):
        import weir

        weir.init(url=url, api_key="k", **({"spool": sys.argv[3]} if subject == "weir with a spool" else {}))
        return weir.observe(create_client()), weir.flush
    if subject == "langfuse":
        os.environ |= {"LANGFUSE_HOST": url, "LANGFUSE_PUBLIC_KEY": "pk", "LANGFUSE_SECRET_KEY": "sk"}
        # It replaces the methods of the package.
        import langfuse.openai

        return create_client(), langfuse.get_client().flush
    if subject == "langsmith":
        os.environ |= {"LANGSMITH_TRACING": "true", "LANGSMITH_ENDPOINT": url, "LANGSMITH_API_KEY": "k"}
        from langsmith.run_trees import get_cached_client
        from langsmith.wrappers import wrap_openai

        return wrap_openai(create_client()), get_cached_client().flush
    raise SystemExit(f"no such subject: {subject}")


def main() -> None:
    subject, calls = sys.argv[1], int(sys.argv[2])
    receiver, sender = multiprocessing.get_context("spawn").Pipe(False)
    server = multiprocessing.get_context("spawn").Process(target=serve, args=(sender,), daemon=True)
    server.start()
    url = f"http://127.0.0.1:{receiver.recv()}"
    create_client()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    started = time.process_time()
    client, flush = observe(subject, url)
    import_ms = (time.process_time() - started) * 1e3

    def call() -> int:
        at = time.thread_time_ns()
        client.chat.completions.create(model="gpt-5-mini", messages=[{"role": "user", "content": PROMPT}])
        return time.thread_time_ns() - at

    for _ in range(calls // 10):
        call()
    flush()
    started = time.process_time()
    times = sorted(call() for _ in range(calls))
    flush()
    process_us = (time.process_time() - started) * 1e6 / calls
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    server.terminate()
    print(
        json.dumps(
            {
                "importMs": import_ms,
                "callUs": times[calls // 2] / 1e3,
                "p99Us": times[calls * 99 // 100] / 1e3,
                "processUs": process_us,
                "memoryMb": (peak - before) / 1024,
            }
        )
    )


if __name__ == "__main__":
    main()
