import type { Recorder } from '../core/recorder.ts';
import type { Span } from '../core/span.ts';
import { currentScope } from '../event/context.ts';
import { describeError } from '../event/error-details.ts';
import { platformRuntime } from '../runtime/runtime.ts';
import type { Adapter } from '../wire/adapter.ts';
import { AnswerSink } from './answer-sink.ts';
import { type Attempt, CallBoard } from './call-board.ts';
import { ErrorSink } from './error-sink.ts';
import { addUsageOption, isUsageAdded, stripUsage } from './include-usage.ts';
import { isObserved, markObserved } from './marker.ts';
import { type FetchInput, matchRequest, type ObservedRequest } from './request.ts';
import { type ResponseSink, tapResponse } from './response-tap.ts';

export type Fetch = typeof fetch;

export interface ObserveOptions {
  /** Replaces `instrumentation.source`, which is otherwise derived from the host. */
  source?: string;
  /**
   * OpenAI reports the usage of a chat stream only on request. True requests it, and removes the extra chunk that contains
   * it, so that the application gets the same stream as without it. Default false.
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
      return this.send(input, init, undefined, (last = init) => next(input, last));
    };
    return markObserved(observed);
  }

  /**
   * Sends a request and observes the response.
   *
   * @param callKey an object of the provider's SDK that is the same for all attempts of one call, if there is one.
   * @param next sends the request, with the changed `init` if one is given.
   */
  send(
    input: FetchInput,
    init: RequestInit | undefined,
    callKey: object | undefined,
    next: (init?: RequestInit) => Promise<Response>,
  ): Promise<Response> {
    const matched = this.#match(input, init);
    if (matched === undefined) return next();
    const { adapter, request } = matched;
    const begin = () =>
      this.#board.begin(
        { ...this.#options, runtime: platformRuntime, adapter, request, source: this.#options.source },
        callKey,
      );
    const { parent } = this.#options;
    const attempt = parent ? parent.run(begin) : begin();
    const changed = this.#options.includeUsage ? addUsageOption(adapter, request, init) : undefined;
    return this.#observe(attempt, adapter, request, next(changed));
  }

  async #observe(
    attempt: Attempt,
    adapter: Adapter,
    request: ObservedRequest,
    pending: Promise<Response>,
  ): Promise<Response> {
    let response: Response;
    try {
      response = await pending;
    } catch (error) {
      this.#noteFailure(attempt, request, error);
      throw error;
    }
    try {
      return this.#tap(attempt, adapter, request, response);
    } catch {
      // The application gets its response in any case. The call is recorded without it.
      attempt.call.finish({});
      return response;
    }
  }

  #tap(attempt: Attempt, adapter: Adapter, request: ObservedRequest, response: Response): Response {
    const { status, headers } = response;
    attempt.call.requestId = headers.get('x-request-id') ?? headers.get('request-id') ?? undefined;
    if (!response.ok) return tapResponse(response, new ErrorSink(this.#board, attempt, response));
    const sink = new AnswerSink(this.#board, attempt, adapter);
    const { signal } = request;
    const onAbort = () => sink.cancel();
    signal?.addEventListener('abort', onAbort, { once: true });
    sink.onClose(() => signal?.removeEventListener('abort', onAbort));
    // An empty body is not read by the application: record the call now.
    if (status === 204 || headers.get('content-length') === '0') {
      sink.end();
      return response;
    }
    const tapped = tapResponse(response, sink);
    // Register the body, not the response: an application may keep a reader of the body and drop the response.
    this.#unread.register(tapped.body ?? tapped, sink);
    return isUsageAdded(request) ? stripUsage(tapped) : tapped;
  }

  /** An abort by the caller ends the call; a time-out or a broken connection may be followed by another attempt. */
  #noteFailure(attempt: Attempt, { headers, signal }: ObservedRequest, error: unknown): void {
    const details = describeError(error);
    const timeoutSeconds = Number(headers.get('x-stainless-timeout') ?? Number.NaN);
    const isTimeout = signal?.aborted && attempt.call.elapsedMs >= timeoutSeconds * 1000 - 100;
    if (details.code !== 'aborted') this.#board.wait(attempt, details);
    else if (isTimeout) this.#board.wait(attempt, { ...details, code: 'timeout' });
    else attempt.call.finish({ error: details });
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

const boards = new WeakMap<Recorder, CallBoard>();

/** The board that all clients of a recorder share. */
function boardOf(recorder: Recorder): CallBoard {
  const board = boards.get(recorder) ?? new CallBoard(recorder, platformRuntime);
  boards.set(recorder, board);
  return board;
}
