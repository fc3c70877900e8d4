"""Sends two events to Weir: an LLM call and a tool call."""

import os
import sys
import time
import uuid

import requests

TRIES = 5


def main() -> None:
    # Generate the ids once: a retry with the same ids never stores an event twice.
    events = make_events()
    for attempt in range(1, TRIES + 1):
        try:
            response = requests.post(
                os.environ["WEIR_URL"] + "/v1/ingest-events",
                headers={"Authorization": "Bearer " + os.environ["WEIR_API_KEY"]},
                json={"events": events},
                timeout=30,
            )
        except (requests.ConnectionError, requests.Timeout) as error:
            failure = f"no answer: {error}"
        else:
            if response.status_code == 202:
                print(response.json()["message"])
                return
            if response.status_code < 500:
                error = response.json()["error"]
                failure = f"{error['id']}: {error['details']}"
                sys.exit(f"{failure} Do not retry; the request, the key or the plan has to change.")
            failure = f"HTTP {response.status_code}: {response.text}"
        if attempt == TRIES:
            sys.exit(f"{failure} Giving up; try again later with the same ids.")
        pause_seconds = 0.25 * 2**attempt
        print(f"{failure} Trying again in {pause_seconds} s.", file=sys.stderr)
        time.sleep(pause_seconds)


def make_events() -> list[dict]:
    now_ms = time.time() * 1000
    trace_id = str(uuid.uuid4())
    llm_call = {
        "id": str(uuid.uuid4()),
        "type": "llm",
        "traceId": trace_id,
        "startTimeMs": now_ms - 1330,
        "endTimeMs": now_ms - 80,
        "durationMs": 1250,
        "status": {"state": "ok"},
        "instrumentation": {"vendor": "weir", "source": "openai", "sourcePackage": "my-agent"},
        "context": {"threadId": "thread-1", "userId": "user-1"},
        "additionalProperties": {"plan": "pro", "seats": 3},
        "properties": {
            "llm": {
                "model": "gpt-4o",
                "input": {"system": "Be brief.", "prompt": "How warm is it in Bern?"},
                "output": {"mode": "text", "response": "It is 21 °C."},
                "usage": {"inputTokens": 12, "outputTokens": 7, "totalTokens": 19},
            }
        },
    }
    tool_call = {
        "id": str(uuid.uuid4()),
        "type": "tool",
        "traceId": trace_id,
        "startTimeMs": now_ms - 80,
        "endTimeMs": now_ms,
        "durationMs": 80,
        "status": {"state": "error", "error": {"code": "timeout", "httpStatus": 504, "message": "No answer."}},
        "instrumentation": {"vendor": "weir", "source": "weather", "sourcePackage": "my-agent"},
        "context": {"threadId": "thread-1"},
        "additionalProperties": {},
        "properties": {"tool": {"name": "get_weather", "input": {"city": "Bern", "days": [1, 2]}}},
    }
    return [llm_call, tool_call]


main()
