import type { SpanInit } from '../../../harness/fixtures/spans.ts';

/** A span, and the library that created it. */
export interface ObservedSpan {
  readonly span: SpanInit & { readonly traceId: string; readonly spanId: string };
  readonly library: string;
}

/** An event that Weir must make of the spans of a trace. */
export interface ExpectedEvent {
  /** The span whose ids it has; of several, when this depends on their order. */
  readonly spans: readonly ObservedSpan[];
  /** The other spans of its call; undefined when equal calls make this depend on their order. */
  readonly merged: readonly ObservedSpan[] | undefined;
  /** The event of the nearest call above, by its span. */
  readonly parent: ObservedSpan | undefined;
  readonly type: 'llm' | 'tool';
  readonly state: 'ok' | 'error';
  readonly agentId: string | null;
  readonly threadId: string;
  readonly userId: string;
  /** The texts of the call that only its detailed span has. */
  readonly prompt: string | null;
  readonly response: string | null;
  readonly inputTokens: number | null;
}

export interface ObservedTrace {
  readonly spans: readonly ObservedSpan[];
  readonly events: readonly ExpectedEvent[];
}
