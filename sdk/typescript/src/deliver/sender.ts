import { flushBytes, flushEvents, flushIntervalMs, probeIntervalMs, spoolIntervalMs } from '../limits.ts';
import type { Counters } from '../queue/counters.ts';
import type { Queue } from '../queue/queue.ts';
import type { SpoolStore } from '../queue/spool-store.ts';
import { platformRuntime, type Runtime } from '../runtime/runtime.ts';
import { Alarm } from './alarm.ts';
import { Backoff } from './backoff.ts';
import { type Batch, BatchSource } from './batch-source.ts';
import { composeBody } from './body.ts';
import { type DeliveryDependencies, deliverBatch, type Outcome } from './deliver-batch.ts';
import { judge, type Verdict } from './verdict.ts';

export interface SenderOptions extends DeliveryDependencies {
  queue: Queue;
  counters: Counters;
  runtime: Runtime;
  spool: SpoolStore | undefined;
  /** What happens to events that meet a 402: the spool holds them until the quota starts anew, or they are dropped. */
  onQuota: 'drop' | 'spool';
}

type Pause = Extract<Outcome, { kind: 'pause' }>;

/**
 * Moves events from memory to Weir, one request at a time. While Weir cannot take them, they go to the spool if there
 * is one, and otherwise wait in memory.
 */
export class Sender {
  readonly #options: SenderOptions;
  readonly #source: BatchSource;
  readonly #backoff: Backoff;
  readonly #sendAlarm: Alarm;
  readonly #spoolAlarm: Alarm;
  #pumping: Promise<void> | undefined;
  #pause: Pause | undefined;
  #isStopped = false;
  /** Somebody waits until nothing is left. */
  #isDraining = false;

  constructor(options: SenderOptions) {
    const { runtime } = options;
    this.#options = options;
    this.#source = new BatchSource(options, (isUrgent) =>
      this.#spoolAlarm.set(isUrgent ? 0 : spoolIntervalMs),
    );
    this.#backoff = new Backoff(runtime);
    this.#sendAlarm = new Alarm(runtime, () => void this.#pump());
    this.#spoolAlarm = new Alarm(runtime, () => this.#source.moveToSpool());
    if (options.spool && options.spool.events > 0) this.#source.startSpooling();
  }

  /** Events that are neither accepted nor dropped. */
  get pending(): number {
    return this.#source.pending;
  }

  /** Why events are dropped at once, if they are: Weir refuses them all and there is no spool to hold them. */
  get refusal(): Pause['reason'] | undefined {
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

  /** Plans the next request, or during a pause the next question whether it is over. Called after every event: cheap. */
  wake(): void {
    if (this.#isStopped) return;
    const { queue } = this.#options;
    // After the pump has stopped it wakes itself.
    if (this.#pumping && !this.#source.isSpooling) return;
    if (this.#source.isSpooling && queue.length > 0) this.#spoolAlarm.set(spoolIntervalMs);
    this.#sendAlarm.set(Math.max(this.#isDue ? 0 : flushIntervalMs, this.#backoff.waitMs));
  }

  /** Sends until nothing is left or a request fails. Never rejects. */
  drain(): Promise<void> {
    this.#isDraining = true;
    return this.#pump();
  }

  /** Nobody waits any more: after the request under way only what is due is sent. */
  stopDraining(): void {
    this.#isDraining = false;
  }

  /** Sends what is due. A few events that come meanwhile wait for the next time: many small requests would cost more. */
  #pump(): Promise<void> {
    this.#pumping ??= this.#run().finally(() => {
      this.#pumping = undefined;
      this.#isDraining = false;
      if (this.#source.pending > 0 || this.isPaused) this.wake();
    });
    return this.#pumping;
  }

  /** Forgets the back-off, but not what Weir asked for by Retry-After. */
  retryNow(): void {
    this.#backoff.skipJitter();
  }

  /** Sends what waits in memory at once, beside any request in flight: the page closes, or the invocation ends. */
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

  /** Stops all timers and, if there is a spool, writes to it what is in memory. Synchronous: the process may be ending. */
  stop(): void {
    this.#isStopped = true;
    this.#sendAlarm.cancel();
    this.#spoolAlarm.cancel();
    this.#source.saveAll();
  }

  async #run(): Promise<void> {
    for (let isDue = true; isDue; isDue = this.#isDraining || this.#isDue) {
      if (this.#backoff.waitMs > 0 || !(await this.#mayResume())) return;
      const batch = await this.#source.next();
      if (batch === undefined) return;
      const outcome = await this.#source.watch(batch, this.#deliver(batch));
      if (outcome.kind !== 'done') return this.#fail(batch, outcome);
      this.#backoff.reset();
      batch.release();
      // One request after the other would keep a process alive that has nothing else to do: here it may become idle.
      if (!this.#isDraining) await new Promise<void>((resolve) => void platformRuntime.setTimer(resolve, 0));
    }
  }

  get #isDue(): boolean {
    const { queue } = this.#options;
    const { isSpooling, isRetrying } = this.#source;
    return queue.length >= flushEvents || queue.bytes >= flushBytes || isSpooling || isRetrying;
  }

  #fail(batch: Batch, outcome: Exclude<Outcome, { kind: 'done' }>): void {
    if (outcome.kind === 'retry') {
      this.#backoff.fail(outcome.afterMs);
    } else {
      this.#startPause(outcome);
      if (this.#mustDrop(outcome.reason)) {
        if (!batch.isSpooled) this.#drop(batch, outcome.reason);
        for (let rest = this.#source.takeMemory(); rest; rest = this.#source.takeMemory()) {
          this.#drop(rest, outcome.reason);
        }
        return;
      }
    }
    this.#source.keep(batch);
  }

  #startPause(pause: Pause): void {
    this.#pause = pause;
    this.#backoff.holdMs(Math.min(probeIntervalMs, pause.resetMs ?? Number.POSITIVE_INFINITY));
  }

  /** Before events are dropped for a 401 or 402, an empty batch asks once more: the request may have been damaged. */
  async #deliver(batch: Batch): Promise<Outcome> {
    const outcome = await deliverBatch(this.#options, batch.events);
    if (outcome.kind !== 'pause' || !this.#mustDrop(outcome.reason)) return outcome;
    const again = await this.#probe();
    return again.kind === 'pause' ? again : { kind: 'retry', afterMs: 0 };
  }

  /** Asks with an empty batch whether events are accepted: no event is risked on the question. */
  async #probe(): Promise<Verdict> {
    const answer = await this.#options.post(composeBody([])).catch(() => undefined);
    return answer ? judge(answer) : { kind: 'retry', afterMs: 0 };
  }

  async #mayResume(): Promise<boolean> {
    if (this.#pause === undefined) return true;
    const verdict = await this.#probe();
    if (verdict.kind === 'retry') this.#backoff.fail(verdict.afterMs);
    else if (verdict.kind === 'pause') this.#startPause(verdict);
    else {
      if (this.#pause.reason === 'quota') this.#options.spool?.renew();
      this.#pause = undefined;
      this.#backoff.reset();
    }
    return this.#pause === undefined;
  }

  #mustDrop(reason: Pause['reason']): boolean {
    const { spool, onQuota } = this.#options;
    // `refused` is a proxy's or an address's fault. docs/api.md §7.1 forbids a retry of 401 and 402.
    if (reason === 'refused') return false;
    return spool === undefined || (reason === 'quota' && onQuota === 'drop');
  }

  #drop(batch: Batch, reason: Pause['reason']): void {
    this.#options.counters.drop(reason, batch.events.length);
    batch.release();
  }
}
