"""Sends two events to Weir over gRPC: an LLM call and a tool call."""

import os
import sys
import time
import uuid
from urllib.parse import urlsplit

import grpc
from google.protobuf.struct_pb2 import Struct, Value
from grpc_status import rpc_status

from weir.ingest.v1.error_detail_pb2 import ErrorDetail
from weir.ingest.v1.event_pb2 import Context, Event, Instrumentation, Llm, Status, Tool
from weir.ingest.v1.ingest_service_pb2 import IngestEventsRequest
from weir.ingest.v1.ingest_service_pb2_grpc import IngestServiceStub

TRIES = 5
# After a deadline the batch may be stored or not, as after any lost response: retry with the same ids.
RETRIED = {grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.INTERNAL, grpc.StatusCode.DEADLINE_EXCEEDED}


def main() -> None:
    # Generate the ids once: a retry with the same ids never stores an event twice.
    request = IngestEventsRequest(events=make_events())
    metadata = [("authorization", "Bearer " + os.environ["WEIR_API_KEY"])]
    with open_channel(os.environ["WEIR_URL"]) as channel:
        weir = IngestServiceStub(channel)
        for attempt in range(1, TRIES + 1):
            try:
                print(weir.IngestEvents(request, metadata=metadata, timeout=30).message)
                return
            except grpc.RpcError as error:
                failure = describe(error)
                if error.code() not in RETRIED:
                    sys.exit(f"{failure} Do not retry; the request, the key or the plan has to change.")
            if attempt == TRIES:
                sys.exit(f"{failure} Giving up; try again later with the same ids.")
            pause_seconds = 0.25 * 2**attempt
            print(f"{failure} Trying again in {pause_seconds} s.", file=sys.stderr)
            time.sleep(pause_seconds)


def open_channel(url: str) -> grpc.Channel:
    scheme, host = urlsplit(url)[:2]
    if scheme == "https":
        return grpc.secure_channel(host, grpc.ssl_channel_credentials())
    return grpc.insecure_channel(host)


def describe(error: grpc.RpcError) -> str:
    """Weir's own error, or gRPC's when the call did not reach Weir."""
    status = rpc_status.from_call(error)
    for detail in status.details if status else []:
        weir_error = ErrorDetail()
        if detail.Unpack(weir_error):
            return f"{weir_error.id}: {weir_error.details}"
    return f"{error.code().name}: {error.details()}"


def make_events() -> list[Event]:
    now_ms = time.time() * 1000
    trace_id = str(uuid.uuid4())
    llm_call = Event(
        id=str(uuid.uuid4()),
        trace_id=trace_id,
        start_time_ms=now_ms - 1330,
        end_time_ms=now_ms - 80,
        duration_ms=1250,
        status=Status(state=Status.STATE_OK),
        instrumentation=Instrumentation(vendor="weir", source="openai", source_package="my-agent"),
        context=Context(thread_id="thread-1", user_id="user-1"),
        additional_properties={"plan": "pro", "seats": 3},
        llm=Llm(
            model="gpt-4o",
            input=Llm.Input(system="Be brief.", prompt="How warm is it in Bern?"),
            output=Llm.Output(mode="text", response="It is 21 °C."),
            usage=Llm.Usage(input_tokens=12, output_tokens=7, total_tokens=19),
        ),
    )
    tool_call = Event(
        id=str(uuid.uuid4()),
        trace_id=trace_id,
        start_time_ms=now_ms - 80,
        end_time_ms=now_ms,
        duration_ms=80,
        status=Status(
            state=Status.STATE_ERROR,
            error=Status.Error(
                code=Value(string_value="timeout"), http_status=Value(number_value=504), message="No answer."
            ),
        ),
        instrumentation=Instrumentation(vendor="weir", source="weather", source_package="my-agent"),
        context=Context(thread_id="thread-1"),
        # Required, even if empty.
        additional_properties=Struct(),
        tool=Tool(name="get_weather", input=Value(struct_value={"city": "Bern", "days": [1, 2]})),
    )
    return [llm_call, tool_call]


main()
