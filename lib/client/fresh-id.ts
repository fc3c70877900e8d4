import { randomUUID } from 'node:crypto';
import { findMember, type Range } from '../json/scan.ts';
import { joinBody } from './body.ts';

const idChars = 36;

/**
 * The event with a new random UUIDv4 as its `id`; every other byte stays. An event without an `id` stays as it is, and
 * so does one that is damaged where it is searched for its `id`: ingest says what is wrong with it.
 */
export function withFreshId(event: Buffer): Buffer {
  const id = findId(event);
  if (id === undefined) return event;
  return Buffer.concat([
    event.subarray(0, id.start),
    Buffer.from(`"${randomUUID()}"`),
    event.subarray(id.end),
  ]);
}

/**
 * Prepares a request body that is to be sent many times: each call of what is returned gives a copy in which every
 * event has a fresh id. It costs a copy of the bytes, so that a load generator leaves the machine to the load.
 */
export function prepareFreshBodies(events: readonly Buffer[]): () => Buffer {
  // With ids of one length in place, later ones can be written over them.
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
