import type { Recorder } from '../core/recorder.ts';
import { currentScope, enterScope, type Scope } from '../event/context.ts';
import type { EventError, LlmProperties } from '../event/event.ts';
import type { Runtime } from '../runtime/runtime.ts';
import type { Adapter, LlmAnswer, LlmRequest } from '../wire/adapter.ts';
import { composeLlm } from '../wire/llm.ts';
import type { ObservedRequest } from './request.ts';

/** The end of a call. `answer` is undefined when no part of the response was read. */
export interface CallOutcome {
  answer?: LlmAnswer | undefined;
  error?: EventError | undefined;
}

export interface CallOptions {
  recorder: Pick<Recorder, 'record'>;
  runtime: Runtime;
  adapter: Adapter;
  request: ObservedRequest;
  /** Replaces the source that is derived from the host. */
  source: string | undefined;
}

/** One call to a provider, with all of its attempts. Recorded exactly once. */
export class Call {
  /** Number of attempts after the first. */
  retries = 0;
  /** Whether the provider's SDK has retried it after its time-out. */
  hasTimedOut = false;
  requestId: string | undefined;
  readonly #options: CallOptions;
  readonly #scope: Scope = currentScope();
  readonly #startTimeMs: number;
  readonly #startMs: number;
  #firstChunkMs: number | undefined;
  #isOver = false;

  constructor(options: CallOptions) {
    this.#options = options;
    this.#startTimeMs = options.runtime.wallMs();
    this.#startMs = options.runtime.nowMs();
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  noteChunk(): void {
    this.#firstChunkMs ??= this.elapsedMs;
  }

  /** Records the call, at most once, in the scope of its start: at its end other code may be running. */
  finish(outcome: CallOutcome): void {
    if (this.#isOver) return;
    this.#isOver = true;
    enterScope(this.#scope, () => this.#record(outcome));
  }

  #record({ answer, error = answer?.error }: CallOutcome): void {
    const { recorder, adapter, request, source } = this.#options;
    const common = {
      type: 'llm' as const,
      startTimeMs: this.#startTimeMs,
      durationMs: this.elapsedMs,
      instrumentation: {
        source: source ?? sourceOf(request.url.hostname) ?? adapter.source,
        sourcePackage: adapter.sourcePackage,
        sourceFunction: adapter.sourceFunction,
      },
    };
    const status = error ? ({ state: 'error', error } as const) : ({ state: 'ok' } as const);
    const id = recorder.record({ ...common, status, properties: { llm: this.#compose(answer) } });
    // Another model has another price. The provider says nothing of their times.
    for (const llm of answer?.innerCalls ?? [])
      recorder.record({
        ...common,
        additionalProperties: { 'otel.parent_event_id': id },
        properties: { llm },
      });
  }

  #compose(answer: LlmAnswer | undefined): LlmProperties {
    const region = answer?.region ?? regionalHost.exec(this.#options.request.url.hostname)?.[1];
    return composeLlm(this.#readRequest(), answer && { ...answer, region }, {
      requestId: this.requestId,
      timeToFirstChunkMs: this.#firstChunkMs,
      retries: this.retries || undefined,
    });
  }

  #readRequest(): LlmRequest | undefined {
    const { adapter, request } = this.#options;
    try {
      return request.body === undefined ? undefined : adapter.readRequest(request.body, request.url);
    } catch {
      return undefined;
    }
  }

  /** Since the first attempt. */
  get elapsedMs(): number {
    return Math.round((this.#options.runtime.nowMs() - this.#startMs) * 1000) / 1000;
  }
}

/** OpenAI's addresses of a region say where inference is; its responses do not. */
const regionalHost = /^(us|eu)\.api\.openai\.com$/;

/** Providers that are named like their host: `api.mistral.ai`. */
const named =
  /(?:^|\.)api\.(openai|anthropic|groq|mistral|deepseek|together|fireworks|cerebras|perplexity|moonshot)\.(?:com|ai|xyz)$/;

/** Other providers, by the suffix of their host name. */
const sources: readonly (readonly [host: string, source: string])[] = [
  ['azure.com', 'azure'],
  ['amazonaws.com', 'aws'],
  ['googleapis.com', 'google'],
  ['openrouter.ai', 'openrouter'],
  ['api.x.ai', 'xai'],
  ['dashscope.aliyuncs.com', 'alibaba'],
  ['ai-gateway.vercel.sh', 'vercel'],
  ['gateway.ai.cloudflare.com', 'cloudflare'],
];

/** @returns the provider of a host, or undefined for an unknown host, such as a proxy. */
function sourceOf(host: string): string | undefined {
  return (
    named.exec(host)?.[1] ?? sources.find(([known]) => host === known || host.endsWith(`.${known}`))?.[1]
  );
}
