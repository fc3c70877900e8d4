import type { Recorder } from '../core/recorder.ts';
import { type ClientCall, currentScope } from '../event/context.ts';
import type { EventError } from '../event/event.ts';
import type { Runtime } from '../runtime/runtime.ts';
import { Call, type CallOptions } from './call.ts';
import { attemptOf, type ObservedRequest } from './request.ts';

/**
 * How long a failed attempt is kept that a provider's SDK will retry: these SDKs follow a Retry-After below
 * 60 s.
 */
const retryWaitMaxMs = 90_000;

/** How long a failed attempt is kept that may be retried: without Retry-After these SDKs wait at most 8 s. */
const retryWaitMs = 10_000;

/** One attempt of a call. */
export interface Attempt {
  readonly call: Call;
  readonly request: ObservedRequest;
  /** Options of the call in the provider's SDK: one object for all attempts. Undefined for other clients. */
  readonly client: ClientCall | undefined;
  /** The number of the attempt, from 0; undefined for clients that do not send it. */
  readonly number: number | undefined;
  /** Whether the client retries after a failure; undefined if that is unknown. */
  readonly hasRetryLeft: boolean | undefined;
  /** Milliseconds from the start of the call to the start of this attempt. */
  readonly startMs: number;
}

interface Waiting {
  attempt: Attempt;
  error: EventError;
  giveUp: () => void;
  cancel: () => void;
}

/** The open calls. Failed attempts wait here for a retry, so that all attempts of a call are one event. */
export class CallBoard {
  readonly #runtime: Runtime;
  readonly #waiting = new Set<Waiting>();
  readonly #reading = new Set<() => void>();

  constructor(recorder: Recorder, runtime: Runtime) {
    this.#runtime = runtime;
    recorder.onSettle((isEnd) => this.#settle(isEnd));
  }

  /** @param options used for a new call. A retry of a waiting attempt continues that attempt's call. */
  begin(options: CallOptions, callOptions: ClientCall | undefined): Attempt {
    const { request } = options;
    const client = callOptions ?? currentScope().call;
    const retriesMax = client?.retriesMax;
    const number = attemptOf(request);
    const call = (number ? this.#claim(client, request) : undefined) ?? new Call(options);
    call.retries = number ?? 0;
    const hasRetryLeft =
      number === undefined ? false : retriesMax === undefined ? undefined : number < retriesMax;
    return { call, request, client, number, hasRetryLeft, startMs: call.elapsedMs };
  }

  /**
   * Keeps a failed attempt that the client may retry. Without a retry, the call is recorded with this error.
   *
   * @returns a function that records the call at once with another error. It has no effect after a retry has
   * begun.
   */
  wait(attempt: Attempt, error: EventError): (error: EventError) => void {
    const { call, hasRetryLeft } = attempt;
    if (hasRetryLeft === false) {
      call.finish({ error });
      return () => {};
    }
    const giveUp = (last: EventError) => {
      if (this.#remove(waiting)) call.finish({ error: last });
    };
    const cancel = this.#runtime.setTimer(() => giveUp(error), hasRetryLeft ? retryWaitMaxMs : retryWaitMs);
    const waiting: Waiting = { attempt, error, giveUp: () => giveUp(error), cancel };
    this.#waiting.add(waiting);
    return giveUp;
  }

  /** Keeps a call whose response is being read. @param settle records it with the data so far. */
  watch(settle: () => void): () => void {
    this.#reading.add(settle);
    return () => this.#reading.delete(settle);
  }

  /** Takes the attempt that this request repeats. A retry may come from outside of the scope of its call. */
  #claim(client: ClientCall | undefined, { url, body }: ObservedRequest): Call | undefined {
    const isSame = ({ attempt }: Waiting) =>
      client === undefined
        ? attempt.request.url.href === url.href && attempt.request.body === body
        : attempt.client === client;
    const first = [...this.#waiting].find(isSame);
    if (first === undefined) return undefined;
    this.#remove(first);
    const { call } = first.attempt;
    // The SDKs do not retry after an abort by the application.
    call.hasTimedOut ||= first.error.code === 'aborted' || first.error.code === 'timeout';
    return call;
  }

  /** @returns false when the attempt was no longer waiting. */
  #remove(waiting: Waiting): boolean {
    waiting.cancel();
    return this.#waiting.delete(waiting);
  }

  /**
   * Before a flush, records the attempts of clients whose retries are unknown; at the end, records all open
   * calls.
   */
  #settle(isEnd: boolean): void {
    for (const waiting of [...this.#waiting]) {
      if (isEnd || waiting.attempt.hasRetryLeft === undefined) waiting.giveUp();
    }
    if (isEnd) for (const settle of [...this.#reading]) settle();
  }
}
