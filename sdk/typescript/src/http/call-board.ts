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
  /** What the attempts of a call have in common. */
  readonly key: object | string;
  /** Which attempt of the call this is, from 0; undefined for clients that do not tell. */
  readonly number: number | undefined;
  /** Whether the client will repeat it if it fails; undefined if that is not known. */
  readonly hasRetryLeft: boolean | undefined;
}

interface Waiting {
  attempt: Attempt;
  giveUp: () => void;
  cancel: () => void;
}

/** The calls that are open: failed attempts wait here for their repetition, so that one event covers them all. */
export class CallBoard {
  readonly #runtime: Runtime;
  readonly #waiting = new Map<object | string, Waiting[]>();
  readonly #reading = new Set<() => void>();

  constructor(recorder: Recorder, runtime: Runtime) {
    this.#runtime = runtime;
    recorder.onSettle((isEnd) => this.#settle(isEnd));
  }

  /** @param options of a new call; an attempt that repeats a waiting one continues its call. */
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
   * Keeps a failed attempt that the client may repeat. If no repetition comes, the call is recorded with this error.
   *
   * @returns what records the call at once, with another error; it does nothing after a repetition has begun.
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

  /** Keeps a call whose answer is being read. @param settle records it as far as it came. */
  watch(settle: () => void): () => void {
    this.#reading.add(settle);
    return () => this.#reading.delete(settle);
  }

  #claim(key: object | string): Call | undefined {
    const [first] = this.#waiting.get(key) ?? [];
    if (first) this.#remove(first);
    return first?.attempt.call;
  }

  /** @returns false when it was not waiting any more. */
  #remove(waiting: Waiting): boolean {
    waiting.cancel();
    const { key } = waiting.attempt;
    const all = this.#waiting.get(key) ?? [];
    const others = all.filter((other) => other !== waiting);
    if (others.length > 0) this.#waiting.set(key, others);
    else this.#waiting.delete(key);
    return others.length < all.length;
  }

  /** Before a flush: attempts that nobody may repeat are over. At the end everything is. */
  #settle(isEnd: boolean): void {
    for (const waiting of [...this.#waiting.values()].flat()) {
      if (isEnd || waiting.attempt.hasRetryLeft === undefined) waiting.giveUp();
    }
    if (isEnd) for (const settle of [...this.#reading]) settle();
  }
}
