/** An event as Weir stores it (docs/api.md §2.2). */
export interface WeirEvent {
  /** UUIDv4; Weir stores each id once, so a resent event is never duplicated. */
  id: string;
  type: 'llm' | 'tool';
  /** UUIDv4 that related events share. */
  traceId?: string;
  /** Milliseconds since the epoch. */
  startTimeMs: number;
  endTimeMs: number;
  durationMs: number;
  status: EventStatus;
  instrumentation: EventInstrumentation;
  context: EventContext;
  additionalProperties: Record<string, string | number>;
  properties: EventProperties;
}

export interface EventStatus {
  state: 'ok' | 'error';
  error?: EventError;
}

export interface EventError {
  code?: string | number;
  httpStatus?: string | number;
  message?: string;
}

export interface EventInstrumentation {
  vendor: string;
  /** The provider or system that was called, such as `openai`. */
  source: string;
  /** The package that made the call. */
  sourcePackage: string;
  sourceFunction?: string;
}

/** Identifiers by which the dashboard groups events (docs/api.md §2.5). */
export interface EventContext {
  threadId?: string;
  agentId?: string;
  agentGroupId?: string;
  userId?: string;
}

/** `{ llm }` or `{ tool }`, by the event's type. */
export interface EventProperties {
  llm?: LlmProperties;
  tool?: ToolProperties;
}

/** One LLM call (docs/api.md §2.6). Further fields are accepted and kept. */
export interface LlmProperties {
  model?: string;
  input?: { system?: string; prompt?: string; tools?: readonly unknown[]; [field: string]: unknown };
  output?: { mode?: string; response?: string; toolCalls?: readonly unknown[]; [field: string]: unknown };
  usage?: LlmUsage;
  [field: string]: unknown;
}

export interface LlmUsage {
  inputTokens?: number;
  inputTokenDetails?: {
    uncachedTokens?: number;
    cacheReadTokens?: number;
    cacheWriteTokens?: number;
    cacheWriteHourTokens?: number;
    cacheWriteHalfDayTokens?: number;
    audioTokens?: number;
    imageTokens?: number;
    cacheReadAudioTokens?: number;
    cacheReadImageTokens?: number;
  };
  outputTokens?: number;
  outputTokenDetails?: {
    reasoningTokens?: number;
    responseTokens?: number;
    audioTokens?: number;
    imageTokens?: number;
  };
  totalTokens?: number;
  webSearches?: number;
}

/** One tool call (docs/api.md §2.7): any object; the dashboard shows these fields. */
export interface ToolProperties {
  name?: string;
  input?: unknown;
  output?: unknown;
  [field: string]: unknown;
}

/** The argument of `weir.record()`: an event whose missing fields the SDK fills in. */
export type EventInput = { type: 'llm' | 'tool'; properties: EventProperties } & Partial<
  Omit<WeirEvent, 'type' | 'properties' | 'instrumentation'>
> & { instrumentation?: Partial<EventInstrumentation> };
