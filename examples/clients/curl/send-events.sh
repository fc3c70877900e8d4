#!/bin/sh
# Sends two events to Weir: an LLM call and a tool call.
set -eu

new_id() { uuidgen 2>/dev/null || cat /proc/sys/kernel/random/uuid; }
now_ms=$(($(date +%s) * 1000))
trace_id=$(new_id)

# Generate the ids once: a retry with the same ids never stores an event twice.
batch='{"events": [
  {
    "id": "'$(new_id)'",
    "type": "llm",
    "traceId": "'$trace_id'",
    "startTimeMs": '$((now_ms - 1330))',
    "endTimeMs": '$((now_ms - 80))',
    "durationMs": 1250,
    "status": {"state": "ok"},
    "instrumentation": {"vendor": "weir", "source": "openai", "sourcePackage": "my-agent"},
    "context": {"threadId": "thread-1", "userId": "user-1"},
    "additionalProperties": {"plan": "pro", "seats": 3},
    "properties": {"llm": {
      "model": "gpt-4o",
      "input": {"system": "Be brief.", "prompt": "How warm is it in Bern?"},
      "output": {"mode": "text", "response": "It is 21 °C."},
      "usage": {"inputTokens": 12, "outputTokens": 7, "totalTokens": 19}
    }}
  },
  {
    "id": "'$(new_id)'",
    "type": "tool",
    "traceId": "'$trace_id'",
    "startTimeMs": '$((now_ms - 80))',
    "endTimeMs": '$now_ms',
    "durationMs": 80,
    "status": {"state": "error", "error": {"code": "timeout", "httpStatus": 504, "message": "No answer."}},
    "instrumentation": {"vendor": "weir", "source": "weather", "sourcePackage": "my-agent"},
    "context": {"threadId": "thread-1"},
    "additionalProperties": {},
    "properties": {"tool": {"name": "get_weather", "input": {"city": "Bern", "days": [1, 2]}}}
  }
]}'

# Prints the response body and, as the last three characters, the HTTP status.
post() {
  curl --silent --show-error --max-time 30 --write-out '%{http_code}' \
    --header "Authorization: Bearer $WEIR_API_KEY" \
    --header 'Content-Type: application/json' \
    --data-binary "$batch" \
    "$WEIR_URL/v1/ingest-events"
}

for pause_seconds in 1 2 4 8 stop; do
  # After a lost response the batch may be stored or not: retry it, as after a server error.
  answer=$(post) || answer='No response.000'
  case $answer in
  *202) echo "${answer%???}"; exit ;;
  *000 | *5??) ;;
  *) echo "${answer%???} Do not retry; the request, the key or the plan has to change." >&2; exit 1 ;;
  esac
  if [ $pause_seconds = stop ]; then
    echo "${answer%???} Giving up; try again later with the same ids." >&2
    exit 1
  fi
  echo "${answer%???} Trying again in $pause_seconds s." >&2
  sleep $pause_seconds
done
