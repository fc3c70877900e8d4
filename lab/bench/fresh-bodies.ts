import { randomUUID } from 'node:crypto';
import { joinBody } from '../../cli/client/body.ts';
import { findId, withFreshId } from '../../cli/client/fresh-id.ts';

const idChars = 36;

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
