import { mkdirSync, rmSync, statSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { threadId } from 'node:worker_threads';
import type { QueuedEvent } from '../queue/queue.ts';
import type { SpooledBatch, SpoolStore } from '../queue/spool-store.ts';
import { ActiveSegment } from './active-segment.ts';
import { heartbeatMs, plainSegmentsMax, retryWriteMs, spoolAgeMaxMs, spoolBytesMax } from './limits.ts';
import { adoptAll, lock, touch, unlock } from './owner.ts';
import { deleteSegment, packSegment, readSegment, type Segment } from './segment.ts';

export interface FileSpoolOptions {
  /** Created if it does not exist. Several processes may share it. */
  directory: string;
  /** Most bytes on disk of this process. Default 1 GiB. */
  bytesMax?: number;
  /** Age at which events are deleted. Default 24 hours. */
  ageMaxMs?: number;
}

/** A waiting segment, which may be being compressed. */
interface Waiting {
  segment: Segment;
  packing: Promise<void> | undefined;
}

/**
 * Events on disk. Every process and thread writes segments to its own locked directory below the spool's. At
 * the start it takes over the directories of processes that have ended.
 */
export class FileSpool implements SpoolStore {
  readonly #directory: string;
  readonly #bytesMax: number;
  readonly #ageMaxMs: number;
  readonly #heartbeat: NodeJS.Timeout;
  /** Closed segments, oldest first. */
  readonly #waiting: Waiting[] = [];
  #active: ActiveSegment | undefined;
  /** Events and bytes of the closed segments. */
  #waitingEvents = 0;
  #waitingBytes = 0;
  #sequence = 0;
  #isClosed = false;
  /** No write before this time, `performance.now()`. */
  #brokenUntilMs = Number.NEGATIVE_INFINITY;

  constructor({ directory, bytesMax = spoolBytesMax, ageMaxMs = spoolAgeMaxMs }: FileSpoolOptions) {
    this.#bytesMax = bytesMax;
    this.#ageMaxMs = ageMaxMs;
    this.#directory = join(directory, `${process.pid}-${threadId}-${crypto.randomUUID()}`);
    mkdirSync(this.#directory, { recursive: true, mode: 0o700 });
    lock(this.#directory);
    for (const segment of adoptAll(directory, (suffix) => this.#nextPath(suffix))) this.#add(segment);
    this.#heartbeat = setInterval(() => this.#touch(), heartbeatMs);
    this.#heartbeat.unref();
  }

  get events(): number {
    return this.#waitingEvents + (this.#active?.events ?? 0);
  }

  get bytes(): number {
    return this.#waitingBytes + (this.#active?.bytes ?? 0);
  }

  append(events: readonly QueuedEvent[]): number {
    let appended = 0;
    while (appended < events.length && !this.#isClosed && performance.now() >= this.#brokenUntilMs) {
      const rest = appended === 0 ? events : events.slice(appended);
      if (this.#active?.isFull(rest[0])) this.#seal();
      this.#active ??= ActiveSegment.open(this.#nextPath('.ndjson'));
      const written = this.#active?.append(rest, this.#bytesMax - this.bytes) ?? 0;
      if (this.#active === undefined || this.#active.isBroken) this.#noteBroken();
      else if (written === 0) break;
      appended += written;
    }
    return appended;
  }

  async next(
    onLost: (reason: 'expired' | 'damaged', events: number) => void,
  ): Promise<SpooledBatch | undefined> {
    for (;;) {
      if (this.#waiting.length === 0) this.#seal();
      const [first] = this.#waiting;
      if (first === undefined || this.#isClosed) return undefined;
      await first.packing;
      const { segment } = first;
      const atMs = mtimeOf(segment);
      if (atMs === undefined || atMs < Date.now() - this.#ageMaxMs) {
        this.#remove(first);
        onLost(atMs === undefined ? 'damaged' : 'expired', segment.events);
        continue;
      }
      const events = await readSegment(segment, atMs).catch((): QueuedEvent[] => []);
      const lost = segment.events - events.length;
      if (lost > 0) onLost('damaged', lost);
      this.#replace(first, { ...segment, events: events.length });
      if (events.length > 0) return { events, release: () => this.#remove(first) };
      this.#remove(first);
    }
  }

  renew(): void {
    this.#seal();
    const now = new Date();
    for (const { segment } of this.#waiting) {
      try {
        utimesSync(segment.path, now, now);
      } catch {
        // The segment is being compressed, and keeps the time of the plain file. The next pause renews it.
      }
    }
  }

  close(): void {
    if (this.#isClosed) return;
    this.#active?.close();
    this.#isClosed = true;
    clearInterval(this.#heartbeat);
    try {
      if (this.events === 0) rmSync(this.#directory, { recursive: true });
      else unlock(this.#directory);
    } catch {
      // The directory was deleted from outside.
    }
  }

  /** Closes the active segment; the next append opens a new one. */
  #seal(): void {
    const active = this.#active;
    this.#active = undefined;
    active?.close();
    if (active === undefined) return;
    if (active.events > 0) this.#add(active.toSegment());
    else deleteSegment(active.toSegment());
  }

  /** The disk is full or failing. An attempt for each event would slow the application down. */
  #noteBroken(): void {
    this.#seal();
    this.#brokenUntilMs = performance.now() + retryWriteMs;
  }

  /**
   * Segments that are sent soon stay plain; of those that wait longer the disk holds more when they are
   * compressed.
   */
  #add(segment: Segment): void {
    const waiting: Waiting = { segment, packing: undefined };
    this.#waiting.push(waiting);
    this.#account(segment, 1);
    if (this.#waiting.length <= plainSegmentsMax || segment.path.endsWith('.gz')) return;
    waiting.packing = packSegment(segment).then(
      (packed) => {
        this.#replace(waiting, packed);
        waiting.packing = undefined;
      },
      () => {
        // Compression failed: keep the plain file.
        waiting.packing = undefined;
      },
    );
  }

  #replace(waiting: Waiting, segment: Segment): void {
    this.#account(waiting.segment, -1);
    waiting.segment = segment;
    this.#account(segment, 1);
  }

  #remove(waiting: Waiting): void {
    const index = this.#waiting.indexOf(waiting);
    if (index === -1) return;
    this.#waiting.splice(index, 1);
    this.#account(waiting.segment, -1);
    deleteSegment(waiting.segment);
  }

  #account({ events, bytes }: Segment, sign: 1 | -1): void {
    this.#waitingEvents += sign * events;
    this.#waitingBytes += sign * bytes;
  }

  #nextPath(suffix: string): string {
    return join(this.#directory, `${String(++this.#sequence).padStart(8, '0')}${suffix}`);
  }

  #touch(): void {
    try {
      touch(this.#directory);
    } catch {
      // The directory was deleted from outside: appends will report that no event was written.
    }
  }
}

function mtimeOf({ path }: Segment): number | undefined {
  try {
    return statSync(path).mtimeMs;
  } catch {
    return undefined;
  }
}
