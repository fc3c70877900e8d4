import { flushBytes, flushEvents, flushIntervalMs, probeIntervalMs } from '../limits.ts';
import type { Counters } from '../queue/counters.ts';
import type { Queue, QueuedEvent } from '../queue/queue.ts';
import type { SpoolStore } from '../queue/spool-store.ts';
import type { Notices } from '../runtime/notices.ts';
import { platformRuntime, type Runtime } from '../runtime/runtime.ts';
import { type Batch, BatchSource } from './batch-source.ts';
import { type DeliveryDependencies, deliverBatch, type Outcome, postSafely } from './deliver-batch.ts';
import { Alarm, Backoff } from './schedule.ts';
import type { PauseReason, Verdict } from './verdict.ts';

export interface SenderOptions extends DeliveryDependencies {
  queue: Queue;
  counters: Counters;
  runtime: Runtime;
  spool: SpoolStore | undefined;
  /** On 402: keep events in the spool until the quota resets, or drop them. */
  onQuota: 'drop' | 'spool';
  /** The address of ingest, for notices. */
  url: string;
  notices: Notices;
}

const fault: Record<PauseReason, string> = {
  unauthorized: 'refuses the API key',
  quota: 'takes no more events at present',
  refused: "is not Weir's ingest: check WEIR_URL, or the option url",
};

type Pause = Extract<Outcome, { kind: 'pause' }>;

/**
 * Sends events to Weir, one request at a time. While Weir does not accept them, they wait in the spool or in
 * memory.
 */
export class Sender {
  readonly #options: SenderOptions;
  readonly #source: BatchSource;
  readonly #backoff: Backoff;
  readonly #sendAlarm: Alarm;
  #pumping: Promise<void> | undefined;
  #pause: Pause | undefined;
  /** Why the last request failed; undefined after a success. */
  #failure: string | undefined;
  #isStopped = false;
  /** Whether a caller waits until no event is pending. */
  #isDraining = false;

  constructor(options: SenderOptions) {
    const { runtime } = options;
    this.#options = options;
    this.#source = new BatchSource(options);
    this.#backoff = new Backoff(runtime);
    this.#sendAlarm = new Alarm(runtime, () => void this.#pump());
  }

  /** Takes an event to send, without scheduling the request. @returns false when there is no room. */
  push(event: QueuedEvent): boolean {
    return this.#source.push(event);
  }

  /** Events that are neither accepted nor dropped. */
  get pending(): number {
    return this.#source.pending;
  }

  /** The reason for which new events are dropped at once: Weir rejects all of them and there is no spool. */
  get refusal(): PauseReason | undefined {
    const { reason } = this.#pause ?? {};
    return reason !== undefined && this.#mustDrop(reason) ? reason : undefined;
  }

  get isPaused(): boolean {
    return this.#pause !== undefined;
  }

  /** Time until the next request may be sent. */
  get waitMs(): number {
    return this.#backoff.waitMs;
  }

  /**
   * Schedules the next request, or during a pause the next probe. Cheap, because it is called after every
   * event.
   */
  wake(): void {
    // `#pump` calls `wake` itself when it stops.
    if (this.#isStopped || this.#pumping) return;
    this.#sendAlarm.set(Math.max(this.#isDue ? 0 : flushIntervalMs, this.#backoff.waitMs));
  }

  /** Sends until no event is pending or a request fails. Never rejects. */
  drain(): Promise<void> {
    this.#isDraining = true;
    return this.#pump();
  }

  /** Call when no caller waits any more: after the request in flight, only events that are due are sent. */
  stopDraining(): void {
    this.#isDraining = false;
  }

  /**
   * Sends the events that are due. A few newer events wait for the next time, to avoid many small requests.
   */
  #pump(): Promise<void> {
    this.#pumping ??= this.#run().finally(() => {
      this.#pumping = undefined;
      this.#isDraining = false;
      if (this.#source.pending > 0 || this.isPaused) this.wake();
    });
    return this.#pumping;
  }

  /** Says once that a flush ended with pending events. During a pause the reason was said already. */
  sayPending(): void {
    if (this.pending === 0 || this.isPaused) return;
    this.#say('pending', `has not taken ${this.pending} events (${this.#failure ?? 'no answer in time'}).`);
  }

  /** Resets the back-off. A Retry-After is still followed. */
  retryNow(): void {
    this.#backoff.skipJitter();
  }

  /**
   * Sends events from memory at once, in parallel to a request in flight, because the page closes or the
   * invocation ends.
   */
  async sendBeside(bytesMax: number, isUrgent: boolean): Promise<Outcome> {
    for (let batch = this.#source.takeMemory(bytesMax); batch; batch = this.#source.takeMemory(bytesMax)) {
      const outcome = await deliverBatch(this.#options, batch.events, isUrgent);
      if (outcome.kind === 'done') batch.release();
      else if (outcome.kind === 'pause' && this.#mustDrop(outcome.reason)) this.#drop(batch, outcome.reason);
      else this.#options.queue.putBack(batch.abandon());
      if (outcome.kind !== 'done') return outcome;
    }
    return { kind: 'done' };
  }

  /**
   * Stops all timers and writes the events in memory to the spool, if there is one. Synchronous, because the
   * process may be ending.
   */
  stop(): void {
    this.#isStopped = true;
    this.#sendAlarm.cancel();
    this.#source.saveAll();
  }

  async #run(): Promise<void> {
    for (let isDue = true; isDue; isDue = this.#isDraining || this.#isDue) {
      if (this.#backoff.waitMs > 0) return;
      if (!(await this.#mayResume())) return this.#source.expire();
      const batch = await this.#source.next();
      if (batch === undefined) return;
      const outcome = await this.#source.watch(batch, this.#deliver(batch));
      if (outcome.kind !== 'done') return this.#fail(batch, outcome);
      this.#backoff.reset();
      this.#failure = undefined;
      batch.release();
      // Requests without a pause would keep an otherwise idle process alive: let it become idle here.
      if (!this.#isDraining) await new Promise<void>((resolve) => void platformRuntime.setTimer(resolve, 0));
    }
  }

  get #isDue(): boolean {
    const { pending, bytes, isRetrying } = this.#source;
    return pending >= flushEvents || bytes >= flushBytes || isRetrying;
  }

  async #fail(batch: Batch, outcome: Exclude<Outcome, { kind: 'done' }>): Promise<void> {
    if (outcome.kind === 'retry') {
      this.#noteRetry(outcome);
    } else {
      this.#startPause(outcome);
      if (this.#mustDrop(outcome.reason)) return this.#dropAll(batch, outcome.reason);
    }
    this.#source.keep(batch);
  }

  async #dropAll(first: Batch, reason: PauseReason): Promise<void> {
    for (let batch: Batch | undefined = first; batch; batch = await this.#source.next()) {
      this.#drop(batch, reason);
    }
  }

  #noteRetry({ afterMs, cause }: Extract<Verdict, { kind: 'retry' }>): void {
    this.#failure = cause;
    this.#backoff.fail(afterMs);
  }

  #startPause(pause: Pause): void {
    this.#pause = pause;
    this.#sayPaused(pause);
    this.#backoff.holdMs(Math.min(probeIntervalMs, pause.resetMs ?? Number.POSITIVE_INFINITY));
  }

  /**
   * Before it drops events after a 401 or 402, it probes with an empty batch: the request may have been
   * damaged in transit.
   */
  async #deliver(batch: Batch): Promise<Outcome> {
    const outcome = await deliverBatch(this.#options, batch.events);
    if (outcome.kind !== 'pause' || !this.#mustDrop(outcome.reason)) return outcome;
    const again = await postSafely(this.#options.post, []);
    return again.verdict.kind === 'pause' ? again.verdict : { ...outcome, kind: 'retry', afterMs: 0 };
  }

  async #mayResume(): Promise<boolean> {
    if (this.#pause === undefined) return true;
    const { verdict } = await postSafely(this.#options.post, []);
    if (verdict.kind === 'retry') this.#noteRetry(verdict);
    else if (verdict.kind === 'pause') this.#startPause(verdict);
    else {
      if (this.#pause.reason === 'quota') this.#options.spool?.renew();
      this.#pause = undefined;
      this.#backoff.reset();
    }
    return this.#pause === undefined;
  }

  #sayPaused({ reason, cause }: Pause): void {
    const fate = this.#mustDrop(reason) ? 'dropped' : 'kept';
    this.#say(reason, `${fault[reason]} (${cause}). Events are ${fate}.`);
  }

  #say(problem: string, text: string): void {
    // Without credentials and paths, which are not for a log.
    this.#options.notices.say(problem, `${new URL(this.#options.url).origin} ${text}`);
  }

  #mustDrop(reason: PauseReason): boolean {
    const { spool, onQuota } = this.#options;
    // `refused` comes from a proxy or a wrong URL and may pass. docs/api.md §7.1 forbids a retry after 401
    // and 402.
    if (reason === 'refused') return false;
    return spool === undefined || (reason === 'quota' && onQuota === 'drop');
  }

  #drop(batch: Batch, reason: PauseReason): void {
    this.#options.counters.drop(reason, batch.events.length);
    batch.release();
  }
}
