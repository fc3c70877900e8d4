import { hash, randomUUID } from 'node:crypto';
import { findMember, type Range } from '../../event/json/scan.ts';

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

/** Finds the value of the `id`; undefined when there is none, or the event is damaged. */
export function findId(event: Buffer): Range | undefined {
  try {
    return findMember(event, 'id');
  } catch {
    return undefined;
  }
}
