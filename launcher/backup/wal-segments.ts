import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** `TTTTTTTTXXXXXXXXYYYYYYYY`: the timeline, and the number of the segment in two parts. */
const segmentName = /^[0-9A-F]{24}$/;
const partOf = (name: string, from: number) => Number.parseInt(name.slice(from, from + 8), 16);
const hex = (value: number) => value.toString(16).toUpperCase().padStart(8, '0');

export function segmentsBetween(first: string, last: string, segmentBytes: number): string[] {
  const perPart = 2 ** 32 / segmentBytes;
  const numberOf = (name: string) => partOf(name, 8) * perPart + partOf(name, 16);
  const names: string[] = [];
  for (let number = numberOf(first); number <= numberOf(last); number++)
    names.push(`${first.slice(0, 8)}${hex(Math.floor(number / perPart))}${hex(number % perPart)}`);
  return names;
}

/** The segments that are not in the archive, or not whole. */
export function findMissing(archive: string, segments: readonly string[], segmentBytes: number): string[] {
  return segments.filter(
    (name) => statSync(join(archive, name), { throwIfNoEntry: false })?.size !== segmentBytes,
  );
}

/**
 * The files of the archive that no backup needs whose first segment is `oldest`. Timelines are ignored: a
 * restore begins a new one at the number it reached. Small history files are kept.
 */
export function findUnneeded(archive: string, oldest: string): string[] {
  return readdirSync(archive).filter(
    (name) => segmentName.test(name.slice(0, 24)) && name.slice(8, 24) < oldest.slice(8),
  );
}
