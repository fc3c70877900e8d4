import type { Part } from '../../platform/queue/group.ts';
import { uuidShape } from '../../platform/uuid.ts';

/** Lower case only, so that equal ids are equal texts. */
const uuid = new RegExp(`^${uuidShape}$`);
const uuids = new RegExp(`^${uuidShape}(?:,${uuidShape})*$`);
/** The length of a UUID as text. */
export const uuidChars = 36;

const bigints = /^(?:-?\d{1,19}(?:,-?\d{1,19})*)?$/;

/** The end of the year 9999: Postgres does not read the ISO form of later years. */
const receivedAtMsMax = 253_402_300_799_999n;

/** The stream's name as in the reply subject of a message; empty when the part was not queued. */
const streamName = /^\w{0,64}$/;

/** `segments.queue_sequence` is a bigint. */
const sequenceMax = 2n ** 63n - 1n;

/** `segments.raw_bytes` is an integer. */
const rawBytesMax = 2n ** 31n - 1n;

/**
 * Checks that a part from the queue can be converted to parameters, and be quarantined event by event when
 * Postgres rejects it. Ingest's parts always pass; damaged bytes, or messages of other programs, may not.
 * @throws Error that names every fault, without the part's content.
 */
export function requireWellFormed(part: Part): void {
  const ids = part.columns?.id ?? '';
  const faults = [
    !uuid.test(part.spaceId) && 'space_id is not a UUID',
    !uuid.test(part.apiKeyId) && 'api_key_id is not a UUID',
    !uuid.test(part.segmentId) && 'segment_id is not a UUID',
    (part.receivedAtMs < 0n || part.receivedAtMs > receivedAtMsMax) && 'received_at_ms is out of range',
    part.rawBytes > rawBytesMax && 'raw_bytes is out of range',
    part.eventCount === 0 && 'event_count is 0',
    // Also bounds the memory that parameters take: event_count alone may be any number.
    ids.length !== part.eventCount * (uuidChars + 1) - 1 && 'event_count is not the number of ids',
    !uuids.test(ids) && 'an id is not a UUID in lower case',
    !bigints.test(part.terms) && 'terms are not integers',
    !streamName.test(part.queueStream) && 'queue_stream is not a name',
    part.queueSequence > sequenceMax && 'queue_sequence is out of range',
  ].filter((fault) => fault !== false);
  if (faults.length > 0) throw new Error(`malformed part: ${faults.join(', ')}`);
}
