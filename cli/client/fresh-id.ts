import { hash, randomUUID } from 'node:crypto';
import { findMember, type Range } from '../../event/json/scan.ts';
import { joinBody } from './body.ts';

const idChars = 36;

/** A UUIDv4 whose random bits are a hash: a line that is sent again is no second event. */
export function deriveId(seed: string, line: number): string {
  const hex = hash('sha256', `${seed} ${line}`);
  const variant = '89ab'.charAt(Number.parseInt(hex.charAt(16), 16) % 4);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

/** Replaces the value of an event's `id` only. Without one the event stays: ingest reports the error. */
export function withFreshId(event: Buffer, freshId: string = randomUUID()): Buffer {
  const id = findId(event);
  if (id === undefined) return event;
  return Buffer.concat([event.subarray(0, id.start), Buffer.from(`"${freshId}"`), event.subarray(id.end)]);
}

/**
 * @returns a function that yields copies of a request body in which every event has a fresh id, for little
 * more than copying: load generators share the machine with the service.
 */
export function prepareFreshBodies(events: readonly Buffer[]): () => Buffer {
  // Once all ids have the length of a UUID, fresh ones can be written in place.
  const prepared = joinBody(events.map((event, index) => ({ line: index + 1, bytes: withFreshId(event) })));
  const idStarts: number[] = [];
  for (const { start, end } of prepared.events) {
    const id = findId(prepared.bytes.subarray(start, end));
    if (id !== undefined) idStarts.push(start + id.start + 1);
  }
  return () => {
    const fresh = Buffer.from(prepared.bytes);
    for (const start of idStarts) fresh.write(randomUUID(), start, idChars, 'latin1');
    return fresh;
  };
}

function findId(event: Buffer): Range | undefined {
  try {
    return findMember(event, 'id');
  } catch {
    return undefined;
  }
}
