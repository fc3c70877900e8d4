import { mkdirSync, rmSync, statSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { threadId } from 'node:worker_threads';
import type { QueuedEvent } from '../queue/queue.ts';
import type { HeldBatch, SpooledBatch, SpoolStore } from '../queue/spool-store.ts';
import { ActiveSegment } from './active-segment.ts';
import { adoptAll } from './adopt.ts';
import { heartbeatMs, spoolAgeMaxMs, spoolBytesMax } from './limits.ts';
import { lock, touch, unlock } from './owner.ts';
import { composeLines, deleteSegment, packSegment, readSegment, type Segment } from './segment.ts';

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
 * Events on disk. Every process and thread writes segments to its own locked directory below the spool's. At the start it
 * takes over the directories of processes that have ended.
 */
export class FileSpool implements SpoolStore {
  readonly #directory: string;
  readonly #bytesMax: number;
  readonly #ageMaxMs: number;
  readonly #heartbeat: NodeJS.Timeout;
  readonly #waiting: Waiting[] = [];
  #active: ActiveSegment | undefined;
  #heldBytes = 0;
  #sequence = 0;
  #isClosed = false;

  constructor({ directory, bytesMax = spoolBytesMax, ageMaxMs = spoolAgeMaxMs }: FileSpoolOptions) {
    this.#bytesMax = bytesMax;
    this.#ageMaxMs = ageMaxMs;
    this.#directory = join(directory, `${process.pid}-${threadId}-${crypto.randomUUID()}`);
    mkdirSync(this.#directory, { recursive: true, mode: 0o700 });
    lock(this.#directory);
    for (const segment of adoptAll(directory, (suffix) => this.#nextPath(suffix))) {
      this.#waiting.push({ segment, packing: undefined });
    }
    this.#heartbeat = setInterval(() => this.#touch(), heartbeatMs);
    this.#heartbeat.unref();
  }

  get events(): number {
    const waiting = this.#waiting.reduce((sum, { segment }) => sum + segment.events, 0);
    return waiting + (this.#active?.events ?? 0);
  }

  get bytes(): number {
    const waiting = this.#waiting.reduce((sum, { segment }) => sum + segment.bytes, 0);
    return waiting + (this.#active?.bytes ?? 0) + this.#heldBytes;
  }

  append(events: readonly QueuedEvent[]): number {
    let appended = 0;
    let bytes = this.bytes;
    while (appended < events.length && !this.#isClosed) {
      if (this.#active?.isFull(events[appended])) this.#seal();
      const rest = events.slice(appended);
      const fitting = this.#openActive()?.append(rest, this.#bytesMax - bytes) ?? [];
      if (fitting.length === 0) break;
      for (const event of fitting) bytes += event.bytes.length + 1;
      appended += fitting.length;
    }
    return appended;
  }

  hold(events: readonly QueuedEvent[]): HeldBatch | undefined {
    const size = composeLines(events).length;
    if (this.#isClosed || this.bytes + size > this.#bytesMax) return undefined;
    const segment = ActiveSegment.writeWhole(this.#nextPath(`.${events.length}.ndjson`), events);
    if (segment === undefined) return undefined;
    this.#heldBytes += size;
    let isOpen = true;
    const close = (then: () => void) => () => {
      if (!isOpen) return;
      isOpen = false;
      this.#heldBytes -= size;
      then();
    };
    return {
      release: close(() => deleteSegment(segment)),
      keep: close(() => this.#add(segment)),
    };
  }

  async next(
    onLost: (reason: 'expired' | 'damaged', events: number) => void,
  ): Promise<SpooledBatch | undefined> {
    for (;;) {
      if (this.#waiting.length === 0) this.#seal({ isPacked: false });
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
      segment.events = events.length;
      if (events.length > 0) return { events, release: () => this.#remove(first) };
      this.#remove(first);
    }
  }

  renew(): void {
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
      if (this.events === 0 && this.#heldBytes === 0) rmSync(this.#directory, { recursive: true });
      else unlock(this.#directory);
    } catch {
      // The directory was deleted from outside.
    }
  }

  #openActive(): ActiveSegment | undefined {
    this.#active ??= ActiveSegment.open(this.#nextPath('.ndjson'));
    return this.#active;
  }

  /** Closes the active segment; the next append opens a new one. */
  #seal({ isPacked = true }: { isPacked?: boolean } = {}): void {
    const active = this.#active;
    this.#active = undefined;
    active?.close();
    if (active && active.events > 0) this.#add(active.toSegment(), isPacked);
  }

  #add(segment: Segment, isPacked = true): void {
    const waiting: Waiting = { segment, packing: undefined };
    if (isPacked) {
      waiting.packing = packSegment(segment).then(
        (packed) => {
          waiting.segment = packed;
          waiting.packing = undefined;
        },
        () => {
          // Compression failed: keep the plain file.
          waiting.packing = undefined;
        },
      );
    }
    this.#waiting.push(waiting);
  }

  #remove(waiting: Waiting): void {
    const index = this.#waiting.indexOf(waiting);
    if (index !== -1) this.#waiting.splice(index, 1);
    deleteSegment(waiting.segment);
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
