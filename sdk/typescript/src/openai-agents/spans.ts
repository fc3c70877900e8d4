/** The parts of `@openai/agents`' types that are used; the names are those of version 0.20. */
export interface AgentsTrace {
  readonly traceId: string;
  readonly name: string;
  readonly groupId: string | null;
}

export interface AgentsSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentId: string | null;
  readonly spanData: unknown;
  readonly error: { message: string; data?: Record<string, unknown> } | null;
}

/** Assignable to `TracingProcessor`. */
export interface AgentsTraceProcessor {
  onTraceStart(trace: AgentsTrace): Promise<void>;
  onTraceEnd(trace: AgentsTrace): Promise<void>;
  onSpanStart(span: AgentsSpan): Promise<void>;
  onSpanEnd(span: AgentsSpan): Promise<void>;
  shutdown(timeout?: number): Promise<void>;
  forceFlush(): Promise<void>;
}
