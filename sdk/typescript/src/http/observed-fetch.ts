import type { Recorder } from '../core/recorder.ts';
import type { Span } from '../core/span.ts';
import { type ClientCall, currentScope } from '../event/context.ts';
import { describeError } from '../event/error-details.ts';
import type { EventError } from '../event/event.ts';
import { platformRuntime } from '../runtime/runtime.ts';
import type { Adapter } from '../wire/adapter.ts';
import { AnswerSink } from './answer-sink.ts';
import { type Attempt, CallBoard } from './call-board.ts';
import { ErrorSink } from './error-sink.ts';
import { addUsageOption, isUsageAdded, UsageFilter } from './include-usage.ts';
import { isObserved, markObserved } from './marker.ts';
import { type FetchInput, matchRequest } from './request.ts';
import { type ResponseSink, tapResponse } from './response-tap.ts';

export type Fetch = typeof fetch;

export interface ObserveOptions {
  /** Replaces `instrumentation.source`, which is otherwise derived from the host. */
  source?: string;
  /**
   * OpenAI reports the usage of a chat stream only on request. True requests it, and removes the extra chunk
   * that contains it, so that the application gets the same stream as without it. Default false.
   */
  includeUsage?: boolean;
  /** The span of the calls, for platforms without AsyncLocalStorage. Default: the span around each call. */
  parent?: Span;
}

export interface ObserverDependencies extends ObserveOptions {
  recorder: Recorder;
  adapters: readonly Adapter[];
}

/** Observes requests of the APIs that the adapters support. All others pass unchanged. */
export class Observer {
  readonly #options: ObserverDependencies;
  readonly #board: CallBoard;
  readonly #unread: FinalizationRegistry<ResponseSink & { settle?(): void }>;

  constructor(options: ObserverDependencies) {
    this.#options = options;
    this.#board = boardOf(options.recorder);
    this.#unread = new FinalizationRegistry((sink) => sink.settle?.());
  }

  /** @param base the fetch that sends the requests. Default: the global one at the time of each call. */
  wrap(base: Fetch | undefined): Fetch {
    if (base && isObserved(base)) return base;
    const captured = globalThis.fetch;
    const observed: Fetch = (input, init) => {
      // The application may have replaced the global fetch by this function.
      const next = base ?? (isObserved(globalThis.fetch) ? captured : globalThis.fetch);
      return this.send({ input, init }, (last = init) => next(input, last));
    };
    return markObserved(observed);
  }

  /**
   * Sends a request and observes the response.
   *
   * @param client the options of the call, an object that is the same for all of its attempts, if the
   * provider's SDK has one.
   * @param next sends the request, with the changed `init` if one is given.
   */
  send(
    {
      input,
      init,
      client,
    }: { input: FetchInput; init: RequestInit | undefined; client?: ClientCall | undefined },
    next: (init?: RequestInit) => Promise<Response>,
  ): Promise<Response> {
    const matched = this.#match(input, init);
    if (matched === undefined) return next();
    const { adapter, request } = matched;
    const begin = () =>
      this.#board.begin(
        { ...this.#options, runtime: platformRuntime, adapter, request, source: this.#options.source },
        client,
      );
    const { parent } = this.#options;
    const attempt = parent ? parent.run(begin) : begin();
    const changed = this.#options.includeUsage ? addUsageOption(adapter, request, init) : undefined;
    return this.#observe(attempt, adapter, next(changed));
  }

  async #observe(attempt: Attempt, adapter: Adapter, pending: Promise<Response>): Promise<Response> {
    let response: Response;
    try {
      response = await pending;
    } catch (error) {
      this.#noteFailure(attempt, error);
      throw error;
    }
    try {
      return this.#tap(attempt, adapter, response);
    } catch {
      // The application gets its response in any case. The call is recorded without it.
      attempt.call.finish({});
      return response;
    }
  }

  #tap(attempt: Attempt, adapter: Adapter, response: Response): Response {
    const { status, headers } = response;
    const { call, request } = attempt;
    call.requestId = headers.get('x-request-id') ?? headers.get('request-id') ?? undefined;
    if (!response.ok) return tapResponse(response, new ErrorSink(this.#board, attempt, response));
    const sink = new AnswerSink(this.#board, attempt, adapter);
    const { signal } = request;
    const onAbort = () => this.#endAborted(attempt, response, sink);
    signal?.addEventListener('abort', onAbort, { once: true });
    sink.onClose(() => signal?.removeEventListener('abort', onAbort));
    // An empty body is not read by the application: record the call now.
    if (status === 204 || headers.get('content-length') === '0') {
      sink.end();
      return response;
    }
    const filter = isUsageAdded(request) ? new UsageFilter() : undefined;
    const tapped = tapResponse(response, sink, filter);
    // Register the body, not the response: an application may keep a reader of the body and drop the
    // response.
    this.#unread.register(tapped.body ?? tapped, sink);
    return tapped;
  }

  /** A time-out or a broken connection may be followed by another attempt. */
  #noteFailure(attempt: Attempt, error: unknown): void {
    const details = describeError(error);
    if (details.code !== 'aborted') this.#board.wait(attempt, details);
    else this.#noteAbort(attempt, details);
  }

  /**
   * A provider's SDK aborts a body that takes too long, too. The application aborts a stream, which is its
   * own to read.
   */
  #endAborted(attempt: Attempt, { headers }: Response, sink: AnswerSink): void {
    const isStream = sink.isStream || /event-stream|ndjson/.test(headers.get('content-type') ?? '');
    if (isStream || abortOf(attempt) !== 'timeout') {
      sink.cancel();
    } else {
      sink.leave();
      this.#board.wait(attempt, timeout);
    }
  }

  #noteAbort(attempt: Attempt, details: EventError): void {
    const abort = abortOf(attempt);
    if (abort === 'caller') attempt.call.finish({ error: details });
    else this.#board.wait(attempt, abort === 'timeout' ? { ...details, code: 'timeout' } : details);
  }

  #match(input: FetchInput, init: RequestInit | undefined) {
    try {
      if (!this.#options.recorder.isEnabled || currentScope().isSilent) return undefined;
      return matchRequest(this.#options, input, init);
    } catch {
      return undefined;
    }
  }
}

const timeout = { code: 'timeout', message: 'The client gave up waiting for the answer.' };

/** Who aborted an attempt. The SDKs abort by the same signal when their time-out is over. */
function abortOf({ call, client, number, request, startMs }: Attempt): 'caller' | 'timeout' | 'unknown' {
  if (number === undefined) return 'caller';
  if (client) return client.signal?.aborted ? 'caller' : 'timeout';
  if (call.hasTimedOut) return 'timeout';
  // In whole seconds. Not all versions send it.
  const seconds = Number(request.headers.get('x-stainless-timeout'));
  if (seconds === 0) return 'unknown';
  return call.elapsedMs - startMs >= seconds * 1000 - 100 ? 'timeout' : 'caller';
}

const boards = new WeakMap<Recorder, CallBoard>();

/** The board that all clients of a recorder share. */
function boardOf(recorder: Recorder): CallBoard {
  const board = boards.get(recorder) ?? new CallBoard(recorder, platformRuntime);
  boards.set(recorder, board);
  return board;
}
