import { findMember, type Range } from '../../event/json/scan.ts';
import type { FileEvent } from './body.ts';

/** The members of an event that are times, in milliseconds since the epoch. */
const timeMembers = ['startTimeMs', 'endTimeMs'];

/** The latest time of the events. @returns undefined when no event has one. */
export async function findLatestTime(events: AsyncIterable<FileEvent>): Promise<number | undefined> {
  let latest: number | undefined;
  for await (const { bytes } of events) {
    for (const { value } of findTimes(bytes)) latest = Math.max(latest ?? value, value);
  }
  return latest;
}

/** Adds `shiftMs` to the times of an event. Every other byte is unchanged, and a time that is no number is too: ingest reports it. */
export function withShiftedTimes(event: Buffer, shiftMs: number): Buffer {
  const parts: Buffer[] = [];
  let copied = 0;
  for (const { start, end, value } of findTimes(event)) {
    parts.push(event.subarray(copied, start), Buffer.from(String(value + shiftMs)));
    copied = end;
  }
  return Buffer.concat([...parts, event.subarray(copied)]);
}

/** In the order of the text. */
function findTimes(event: Buffer): (Range & { value: number })[] {
  try {
    return timeMembers
      .flatMap((name) => findMember(event, name) ?? [])
      .map(({ start, end }) => ({ start, end, value: Number(event.toString('latin1', start, end)) }))
      .filter(({ start, value }) => Number.isFinite(value) && isNumber(event[start]))
      .toSorted((a, b) => a.start - b.start);
  } catch {
    // Not an object: ingest reports it.
    return [];
  }
}

/** Whether a value begins as a number: `""` and `true` are numbers to JavaScript. */
function isNumber(byte: number | undefined): boolean {
  return byte !== undefined && (byte === 0x2d || (byte >= 0x30 && byte <= 0x39));
}
