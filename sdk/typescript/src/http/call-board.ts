import type { Recorder } from '../core/recorder.ts';
import { currentScope } from '../event/context.ts';
import type { EventError } from '../event/event.ts';
import type { Runtime } from '../runtime/runtime.ts';
import { Call, type CallOptions } from './call.ts';
import { retryWaitMaxMs, retryWaitMs } from './limits.ts';
import { attemptOf } from './request.ts';

/** One attempt of a call. */
export interface Attempt {
  readonly call: Call;
  /** The same for all attempts of a call. */
  readonly key: object | string;
  /** The number of the attempt, from 0; undefined for clients that do not send it. */
  readonly number: number | undefined;
  /** Whether the client retries after a failure; undefined if that is unknown. */
  readonly hasRetryLeft: boolean | undefined;
}

interface Waiting {
  attempt: Attempt;
  giveUp: () => void;
  cancel: () => void;
}

/** The open calls. Failed attempts wait here for a retry, so that all attempts of a call are one event. */
export class CallBoard {
  readonly #runtime: Runtime;
  readonly #waiting = new Map<object | string, Waiting[]>();
  readonly #reading = new Set<() => void>();

  constructor(recorder: Recorder, runtime: Runtime) {
    this.#runtime = runtime;
    recorder.onSettle((isEnd) => this.#settle(isEnd));
  }

  /** @param options used for a new call. A retry of a waiting attempt continues that attempt's call. */
  begin(options: CallOptions, callKey: object | undefined): Attempt {
    const { request } = options;
    const { call: scopeKey } = currentScope();
    const retriesMax = scopeKey?.retriesMax;
    const number = attemptOf(request);
    const key = callKey ?? scopeKey ?? `${request.url.href}\n${request.body}`;
    const call = (number ? this.#claim(key) : undefined) ?? new Call(options);
    call.retries = number ?? 0;
    const hasRetryLeft =
      number === undefined ? false : retriesMax === undefined ? undefined : number < retriesMax;
    return { call, key, number, hasRetryLeft };
  }

  /**
   * Keeps a failed attempt that the client may retry. Without a retry, the call is recorded with this error.
   *
   * @returns a function that records the call at once with another error. It has no effect after a retry has begun.
   */
  wait(attempt: Attempt, error: EventError): (error: EventError) => void {
    const { call, key, hasRetryLeft } = attempt;
    if (hasRetryLeft === false) {
      call.finish({ error });
      return () => {};
    }
    const giveUp = (last: EventError) => {
      if (this.#remove(waiting)) call.finish({ error: last });
    };
    const cancel = this.#runtime.setTimer(() => giveUp(error), hasRetryLeft ? retryWaitMaxMs : retryWaitMs);
    const waiting: Waiting = { attempt, giveUp: () => giveUp(error), cancel };
    this.#waiting.set(key, [...(this.#waiting.get(key) ?? []), waiting]);
    return giveUp;
  }

  /** Keeps a call whose response is being read. @param settle records it with the data so far. */
  watch(settle: () => void): () => void {
    this.#reading.add(settle);
    return () => this.#reading.delete(settle);
  }

  #claim(key: object | string): Call | undefined {
    const [first] = this.#waiting.get(key) ?? [];
    if (first) this.#remove(first);
    return first?.attempt.call;
  }

  /** @returns false when the attempt was no longer waiting. */
  #remove(waiting: Waiting): boolean {
    waiting.cancel();
    const { key } = waiting.attempt;
    const all = this.#waiting.get(key) ?? [];
    const others = all.filter((other) => other !== waiting);
    if (others.length > 0) this.#waiting.set(key, others);
    else this.#waiting.delete(key);
    return others.length < all.length;
  }

  /** Before a flush, records the attempts of clients whose retries are unknown; at the end, records all open calls. */
  #settle(isEnd: boolean): void {
    for (const waiting of [...this.#waiting.values()].flat()) {
      if (isEnd || waiting.attempt.hasRetryLeft === undefined) waiting.giveUp();
    }
    if (isEnd) for (const settle of [...this.#reading]) settle();
  }
}
