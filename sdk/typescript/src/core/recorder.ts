import { type Link, openLink } from '../deliver/post.ts';
import { Sender } from '../deliver/sender.ts';
import { completeEvent } from '../event/complete-event.ts';
import { type CallContext, currentScope, runInScope } from '../event/context.ts';
import type { EventInput } from '../event/event.ts';
import { createUuid } from '../event/uuid.ts';
import { exitFlushTimeoutMs, flushTimeoutMs, keepaliveBytesMax, serverlessDelayMs } from '../limits.ts';
import { Counters, type DropReason, type FlushResult, type Stats } from '../queue/counters.ts';
import { Queue } from '../queue/queue.ts';
import { Notices } from '../runtime/notices.ts';
import { watchLifecycle } from '../runtime/platform.ts';
import { sleep, within } from '../runtime/runtime.ts';
import {
  findWaitUntil,
  isCloudflare,
  type LambdaArguments,
  type WaitUntil,
  wrapLambda,
} from '../runtime/serverless.ts';
import { flushBeside, flushWithin } from './flush.ts';
import { readSettings, type Settings, type WeirOptions } from './options.ts';
import { Snapshots } from './snapshots.ts';
import { runSpan, type Span } from './span.ts';
import { wrapTool } from './tool.ts';

/**
 * Records events and delivers them to Weir in the background. No method throws into the application, and none
 * blocks it: an event is a snapshot when `record` returns.
 */
export class Recorder {
  /** For wrappers: see `stats()`. */
  embeddings = 0;
  readonly #settings: Settings;
  readonly #counters: Counters;
  readonly #snapshots: Snapshots;
  readonly #link: Link;
  readonly #sender: Sender;
  readonly #unwatch: () => void;
  /** Called before a flush and at the end: they record calls in flight with the data so far. */
  readonly #settleHooks = new Set<(isEnd: boolean) => void>();
  #isClosed = false;
  #recordedAtIdle = -1;
  #isFlushAhead = false;

  constructor(options: WeirOptions = {}) {
    const settings = readSettings(options);
    const { runtime, onDrop, onAccepted, spool, onQuota = 'drop' } = settings;
    this.#settings = settings;
    const notices = new Notices();
    this.#counters = new Counters({ runtime, onDrop, notices });
    this.#link = openLink({ ...settings, fetch: options.fetch, headers: options.headers ?? {} });
    this.#sender = new Sender({
      queue: new Queue(),
      counters: this.#counters,
      runtime,
      post: this.#link.post,
      spool,
      onQuota,
      onAccepted,
      url: settings.url,
      notices,
    });
    this.#snapshots = new Snapshots(settings, {
      counters: this.#counters,
      push: (event) => this.#sender.push(event),
      onQueued: () => this.#wake(),
    });
    const isWatching = settings.isEnabled && options.flushOnExit !== false;
    this.#unwatch = isWatching
      ? watchLifecycle({
          onIdle: () => this.#flushAtEnd(),
          onExit: () => this.#saveAtExit(),
          onHide: () => void this.#sender.sendBeside(keepaliveBytesMax, true),
        })
      : () => {};
    if (settings.isEnabled && this.#sender.pending > 0) this.#sender.wake();
  }

  get isEnabled(): boolean {
    return this.#settings.isEnabled && !this.#isClosed;
  }

  /** Records an event. @returns its id in Weir. */
  record(input: EventInput): string {
    try {
      const event = completeEvent(input, this.#settings, this.#settings.runtime.wallMs());
      const reason = this.isEnabled ? this.#sender.refusal : 'disabled';
      if (reason !== undefined) this.#countDrop(reason);
      else if (this.#snapshots.take(event)) this.#wake();
      return event.id;
    } catch {
      this.#countDrop('unserializable');
      return createUuid();
    }
  }

  /** Runs a function. Every event recorded during it, across `await`, has these identifiers. */
  context<R>(context: CallContext, fn: () => R): R {
    return runInScope(context, fn);
  }

  /**
   * Runs a function as one trace: the events recorded during it share a new `traceId`. Inside of another
   * trace it is a span of that one, unless it has a `traceId` of its own.
   *
   * @param context its `name` makes the trace a span, too.
   */
  trace<R>(fn: () => R, { name, ...context }: CallContext & { name?: string } = {}): R {
    const isInner = context.traceId === undefined && currentScope().traceId !== undefined;
    if (isInner || name !== undefined) return runSpan(name ?? 'trace', fn, context);
    return runInScope({ traceId: createUuid(), ...context }, fn);
  }

  /**
   * Runs a function, which may be asynchronous or a generator, as a named part of the trace: the parent, on
   * the trace page, of the events recorded during it. Outside of a trace it begins one. Results and errors
   * are passed on unchanged.
   */
  span<R>(name: string, fn: (span: Span) => R, context: CallContext = {}): R {
    return runSpan(name, fn, context);
  }

  /**
   * Wraps a tool: the same function, with the same results, errors and types; each call is recorded as a tool
   * event. A synchronous function stays synchronous.
   */
  tool<F extends (...args: never[]) => unknown>(name: string, fn: F): F {
    return wrapTool({ recorder: this, runtime: this.#settings.runtime }, name, fn);
  }

  /**
   * Delivers all events recorded so far, or stops at the time-out, and then says once why some are pending.
   * Never rejects.
   */
  async flush({ timeoutMs = flushTimeoutMs }: { timeoutMs?: number } = {}): Promise<FlushResult> {
    for (const settle of this.#settleHooks) settle(false);
    const resultOf = this.#countFromHere();
    await this.#deliver(timeoutMs);
    this.#sender.sayPending();
    return resultOf();
  }

  /**
   * Flushes, saves the remaining events to the spool, and stops. Without a spool the remaining events are
   * dropped; later events are always dropped.
   */
  async shutdown({ timeoutMs = flushTimeoutMs }: { timeoutMs?: number } = {}): Promise<FlushResult> {
    for (const settle of this.#settleHooks) settle(true);
    const resultOf = this.#countFromHere();
    await this.#deliver(timeoutMs);
    this.#saveAtExit();
    this.#unwatch();
    return resultOf();
  }

  #countFromHere(): () => FlushResult {
    const { accepted, droppedTotal } = this.#counters;
    return () => ({
      accepted: this.#counters.accepted - accepted,
      dropped: this.#counters.droppedTotal - droppedTotal,
      pending: this.#pending,
    });
  }

  /** Wraps the handler of an AWS Lambda: events are delivered before the sandbox is frozen. */
  lambda<A extends LambdaArguments, R>(handler: (...args: A) => R | Promise<R>): (...args: A) => Promise<R> {
    return wrapLambda(handler, (timeoutMs) => this.flush({ timeoutMs }));
  }

  stats(): Stats {
    const { recorded, accepted, sampledOut, truncated, maskFailures, dropped, droppedTotal } = this.#counters;
    return {
      recorded,
      accepted,
      dropped: droppedTotal,
      pending: this.#pending,
      sampledOut,
      truncated,
      maskFailures,
      embeddings: this.embeddings,
      spooled: this.#settings.spool?.events ?? 0,
      droppedByReason: { ...dropped },
    };
  }

  /** For wrappers: `settle` is called before a flush, and with true at the end. */
  onSettle(settle: (isEnd: boolean) => void): void {
    this.#settleHooks.add(settle);
  }

  get #pending(): number {
    return this.#sender.pending + this.#snapshots.preparing;
  }

  #countDrop(reason: DropReason): void {
    this.#counters.recorded++;
    this.#counters.drop(reason, 1);
  }

  #wake(): void {
    const waitUntil = this.#waitUntil;
    if (waitUntil === undefined) {
      this.#sender.wake();
      return;
    }
    if (this.#isFlushAhead) return;
    this.#isFlushAhead = true;
    // Only for the same turn: an edge runtime must not wait for the promise of another invocation.
    queueMicrotask(() => {
      this.#isFlushAhead = false;
    });
    const delay = sleep(this.#settings.runtime, serverlessDelayMs);
    waitUntil(delay.then(() => this.#deliver(flushTimeoutMs, true)));
  }

  #deliver(timeoutMs: number, isInvocation = this.#waitUntil !== undefined || isCloudflare()): Promise<void> {
    const { runtime, spool } = this.#settings;
    const parts = { runtime, sender: this.#sender, counters: this.#counters, snapshots: this.#snapshots };
    // The platforms that have a spool share a sender between invocations.
    return isInvocation && !spool ? flushBeside(parts, timeoutMs) : flushWithin(parts, timeoutMs);
  }

  get #waitUntil(): WaitUntil | undefined {
    return currentScope().waitUntil ?? this.#settings.waitUntil ?? findWaitUntil();
  }

  #flushAtEnd(): void {
    for (const settle of this.#settleHooks) settle(true);
    // The process becomes idle again after this flush. Without new events it must end then.
    if (this.#sender.pending === 0 || this.#counters.recorded === this.#recordedAtIdle) return;
    this.#recordedAtIdle = this.#counters.recorded;
    // With a spool one attempt is enough: the remaining events are on disk.
    const { runtime, spool } = this.#settings;
    const isTried = spool ? within(runtime, this.#sender.drain(), exitFlushTimeoutMs) : undefined;
    void (isTried ?? this.#deliver(exitFlushTimeoutMs)).then(() => {
      // Further requests would keep the process alive.
      this.#sender.stopDraining();
      this.#link.interrupt();
    });
  }

  #saveAtExit(): void {
    if (this.#isClosed) return;
    for (const settle of this.#settleHooks) settle(true);
    this.#sender.stop();
    // Truncating is asynchronous and cannot finish while the process exits.
    this.#counters.drop('unsent', this.#snapshots.preparing);
    this.#isClosed = true;
    this.#counters.report();
  }
}
