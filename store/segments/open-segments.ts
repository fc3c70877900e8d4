import { type EventRange, isErased, listEvents } from '../../event/segment/cut.ts';
import type { Limiter } from '../../platform/limiter.ts';
import type { Database } from '../db/database.ts';
import { readWholeSegment } from './read.ts';

/** Bytes of open segments that all lists of a process share. */
export class OpenBytes {
  #left: number;

  constructor(bytesMax: number) {
    this.#left = bytesMax;
  }

  /** @returns whether there was room. */
  take(bytes: number): boolean {
    if (bytes > this.#left) return false;
    this.#left -= bytes;
    return true;
  }

  give(bytes: number): void {
    this.#left += bytes;
  }
}

export interface SegmentSource {
  readonly database: Database;
  readonly spaceId: string;
  readonly limiter: Limiter;
  readonly openBytes: OpenBytes;
}

interface OpenSegment {
  readonly bytes: Buffer;
  readonly events: readonly EventRange[];
  readonly minStartMs: number;
}

/**
 * Segments of a list, newest start first, each open until the list has passed it, or without room per call.
 */
export class OpenSegments implements Disposable {
  readonly #source: SegmentSource;
  readonly #kept = new Map<string, OpenSegment>();

  constructor(source: SegmentSource) {
    this.#source = source;
  }

  /** The texts as sent, by index, without erased and unknown ones. @throws Error for a damaged segment. */
  async read(segmentId: string, indexes: readonly number[]): Promise<Map<number, string>> {
    const texts = new Map<number, string>();
    const segment = this.#kept.get(segmentId) ?? (await this.#open(segmentId));
    for (const index of indexes) {
      const range = segment?.events[index];
      if (segment === undefined || range === undefined || isErased(segment.bytes, range)) continue;
      texts.set(index, segment.bytes.toString('utf8', range.start, range.end));
    }
    return texts;
  }

  pass(startTimeMs: number): void {
    for (const [id, { minStartMs }] of this.#kept) if (minStartMs > startTimeMs) this.#close(id);
  }

  [Symbol.dispose](): void {
    for (const id of this.#kept.keys()) this.#close(id);
  }

  async #open(segmentId: string): Promise<OpenSegment | undefined> {
    const { database, spaceId, limiter, openBytes } = this.#source;
    const segment = await limiter(async () => {
      const read = await readWholeSegment(database, spaceId, segmentId);
      return read && { ...read, events: listEvents(read.bytes) };
    });
    if (segment !== undefined && openBytes.take(segment.bytes.length)) this.#kept.set(segmentId, segment);
    return segment;
  }

  #close(segmentId: string): void {
    this.#source.openBytes.give(this.#kept.get(segmentId)?.bytes.length ?? 0);
    this.#kept.delete(segmentId);
  }
}
