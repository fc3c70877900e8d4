/** Default for the most bytes on disk. An hour of 100 events/s of 6 KB compresses to about a tenth of it. */
export const spoolBytesMax = 1024 ** 3;

/** Age at which spooled events are deleted. */
export const spoolAgeMaxMs = 24 * 60 * 60_000;

/** A segment is closed at this many events or bytes, because it is read and sent as one request. */
export const segmentEventsMax = 500;
export const segmentBytesMax = 4 * 1024 * 1024 - 1024;

/** The owner of a directory touches its lock this often … */
export const heartbeatMs = 60_000;

/** … and after this time without a touch a directory of another host counts as abandoned. */
export const abandonedMs = 5 * 60_000;

/** Largest segment that is read, compressed or not. A segment can exceed `segmentBytesMax` by one event. */
export const readBytesMax = 2 * segmentBytesMax;

/** Closed segments up to this number are not compressed: they are sent next. */
export const plainSegmentsMax = 2;

/** Pause after a write that failed. */
export const retryWriteMs = 1_000;
