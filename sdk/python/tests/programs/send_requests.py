"""Sends the requests of a file by an observed HTTP client, and reads every answer as a stream."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import httpx2

import weir

with weir.observe(httpx2.Client()) as client:
    for request in json.loads(Path(sys.argv[1]).read_text()):
        try:
            with client.stream("POST", request["url"], content=request["body"]) as response:
                for _ in response.iter_bytes():
                    pass
        except httpx2.HTTPError:
            pass
