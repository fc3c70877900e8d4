import { readFileSync, renameSync, statSync, unlinkSync, utimesSync } from 'node:fs';
import { readFile, rename, stat, unlink, writeFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import type { QueuedEvent } from '../queue/queue.ts';
import { readBytesMax } from './limits.ts';

const pack = promisify(gzip);
const unpack = promisify(gunzip);
const decoder = new TextDecoder();
const lineFeed = 10;

/** `{"id":"` comes before the id of every event. */
const idStart = 7;
const idEnd = idStart + 36;

/** A file of events, one JSON text per line: plain while it is written, gzipped afterwards. */
export interface Segment {
  path: string;
  events: number;
  bytes: number;
  /** This process wrote it: its lines are whole. */
  isOwn?: boolean;
}

/** The lines of events in a segment. */
export function composeLines(events: readonly QueuedEvent[]): Uint8Array {
  const lines = new Uint8Array(events.reduce((sum, { bytes }) => sum + bytes.length + 1, 0));
  let at = 0;
  for (const { bytes } of events) {
    lines.set(bytes, at);
    at += bytes.length;
    lines[at++] = lineFeed;
  }
  return lines;
}

/**
 * Reads the events of a segment, without a line that a crash truncated.
 *
 * @throws Error when it is larger than `readBytesMax`, compressed or not: a few bytes could decompress into
 * all memory.
 */
export async function readSegment({ path, isOwn }: Segment, atMs: number): Promise<QueuedEvent[]> {
  const { size } = await stat(path);
  if (size > readBytesMax) throw new Error(`a segment of ${size} bytes`);
  const content = await readFile(path);
  const lines = path.endsWith('.gz') ? await unpack(content, { maxOutputLength: readBytesMax }) : content;
  const events: QueuedEvent[] = [];
  let start = 0;
  for (let end = lines.indexOf(lineFeed); end !== -1; end = lines.indexOf(lineFeed, start)) {
    const bytes = new Uint8Array(lines.subarray(start, end));
    if (isOwn || isWhole(bytes))
      events.push({ id: decoder.decode(bytes.subarray(idStart, idEnd)), bytes, atMs });
    start = end + 1;
  }
  return events;
}

/**
 * Whether a line is complete. A power cut may leave zeros instead of text, and one broken line would make the
 * batch invalid.
 */
function isWhole(line: Uint8Array): boolean {
  try {
    return JSON.parse(decoder.decode(line)) !== null && line.length > idEnd;
  } catch {
    return false;
  }
}

/**
 * Replaces a plain segment by a gzipped one. After a crash in between at least one complete file exists: the
 * gzipped file gets its name when it is complete.
 */
export async function packSegment(segment: Segment): Promise<Segment> {
  const packed = await pack(await readFile(segment.path), { level: 1 });
  const path = `${segment.path}.gz`;
  await writeFile(`${path}.tmp`, packed, { mode: 0o600 });
  const { mtime } = statSync(segment.path);
  utimesSync(`${path}.tmp`, mtime, mtime);
  await rename(`${path}.tmp`, path);
  await unlink(segment.path);
  return { ...segment, path, bytes: packed.length };
}

/** Moves a segment of an abandoned directory. @returns undefined when another process was faster. */
export function adoptSegment(path: string, target: string): Segment | undefined {
  try {
    const { size } = statSync(path);
    renameSync(path, target);
    return { path: target, events: countEvents(target), bytes: size };
  } catch {
    return undefined;
  }
}

/** The count is in the file name of a compressed segment. Plain segments are read; there are few of them. */
function countEvents(path: string): number {
  const named = /\.(\d+)\.ndjson(\.gz)?$/.exec(path);
  if (named) return Number(named[1]);
  const lines = readFileSync(path);
  let count = 0;
  for (let at = lines.indexOf(lineFeed); at !== -1; at = lines.indexOf(lineFeed, at + 1)) count++;
  return count;
}

export function deleteSegment({ path }: Segment): void {
  try {
    unlinkSync(path);
  } catch {
    // The file is gone, or the disk is read-only: then the next process sends its events again, and Weir
    // stores them once.
  }
}
