import { randomUUID } from 'node:crypto';
import { findMember } from '../json/scan.ts';
import { joinBody } from './body.ts';

const idChars = 36;

/** The event with a new random UUIDv4 as its `id`; every other byte stays. An event without an `id` stays as it is. */
export function withFreshId(event: Buffer): Buffer {
  const id = findMember(event, 'id');
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
  const prepared = events.map(withFreshId);
  const { bytes } = joinBody(prepared);
  const idStarts: number[] = [];
  let eventStart = joinBody([]).bytes.indexOf('[') + 1;
  for (const event of prepared) {
    const id = findMember(event, 'id');
    if (id !== undefined) idStarts.push(eventStart + id.start + 1);
    eventStart += event.length + 1;
  }
  return () => {
    const fresh = Buffer.from(bytes);
    for (const start of idStarts) fresh.write(randomUUID(), start, idChars, 'latin1');
    return fresh;
  };
}
