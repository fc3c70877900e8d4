"""The limits of requests (docs/api.md §8) and those of the package. Times are in seconds."""

#: Largest request body, and most events in one.
BODY_BYTES_MAX = 4 * 1024 * 1024
BATCH_EVENTS_MAX = 500

#: Largest event that fits into a request, whose envelope is ``{"events":[`` and ``]}``.
EVENT_BYTES_MAX = BODY_BYTES_MAX - 13

#: Most events in memory, and most bytes of them: enough for ten seconds without Weir at 1,000 events/s.
QUEUE_EVENTS_MAX = 10_000
QUEUE_BYTES_MAX = 32 * 1024 * 1024

#: A request is sent at this many events, or bytes, or after this time, whichever comes first.
FLUSH_EVENTS = 100
FLUSH_BYTES = 1024 * 1024
FLUSH_INTERVAL_S = 1.0

#: Time-out of connecting, and of each read from the connection.
REQUEST_TIMEOUT_S = 30.0

#: Back-off with full jitter: a random wait below a ceiling that doubles from the first to the second value.
BACKOFF_FIRST_S = 0.25
BACKOFF_MAX_S = 30.0

#: Longest Retry-After that is followed: a longer one, from a proxy, would stop delivery for too long.
RETRY_AFTER_MAX_S = 300.0

#: Interval of the probes after 401, 402 or another final rejection.
PROBE_INTERVAL_S = 60.0

#: Age at which an undelivered event in memory is dropped.
MEMORY_AGE_MAX_S = 600.0

#: How often the event that a 400 names is dropped and the rest sent again, before the batch is bisected.
ISOLATE_ROUNDS_MAX = 8

#: Longest response that is read; Weir's responses are below 1 KB.
ANSWER_BYTES_MAX = 64 * 1024

#: Shortest interval between two calls of ``on_drop``.
DROP_REPORT_INTERVAL_S = 10.0

#: Default time-outs of ``flush()``, and of the flush at the end of a process.
FLUSH_TIMEOUT_S = 10.0
EXIT_TIMEOUT_S = 5.0

#: Deepest nesting that the serializer follows, and most objects of an event that it converts.
JSON_DEPTH_MAX = 200
CONVERTED_OBJECTS_MAX = 10_000

#: Deepest nesting of spans, and longest name of one: the path is part of each event.
SPAN_DEPTH_MAX = 16
SPAN_NAME_CHARS_MAX = 100

#: Most yielded values of a tool that are kept, and most characters of them.
YIELDS_MAX = 1_000
YIELD_CHARS_MAX = 1024 * 1024

#: Longest answer, event of a stream, and error body that is parsed.
ANSWER_CHARS_MAX = 16 * 1024 * 1024
ERROR_CHARS_MAX = 64 * 1024

#: Default for the most bytes on disk, and the age at which spooled events are deleted.
SPOOL_BYTES_MAX = 1024**3
SPOOL_AGE_MAX_S = 24 * 3600.0

#: A segment of the spool is closed at this many bytes, because it is sent as one request.
SEGMENT_BYTES_MAX = 4 * 1024 * 1024 - 1024

#: The owner of a folder of the spool touches its lock this often; after the second time without a touch, a
#: folder of another host counts as abandoned.
HEARTBEAT_S = 60.0
ABANDONED_S = 300.0

#: Pause after a write that failed.
RETRY_WRITE_S = 1.0

#: Most runs of a framework in progress: runs whose end is never reported would leak.
RUNS_MAX = 10_000
