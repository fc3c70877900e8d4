/** One LLM or tool call, as a client reports it (docs/api.md §2.2). Unknown fields are allowed anywhere. */
export type IngestEvent = LlmEvent | ToolEvent;

export interface LlmEvent extends EventCommon {
  readonly type: 'llm';
  readonly properties: { readonly llm: LlmPayload };
}

export interface ToolEvent extends EventCommon {
  readonly type: 'tool';
  readonly properties: { readonly tool: ToolPayload };
}

interface EventCommon {
  /** UUIDv4, in upper or lower case. */
  readonly id: string;
  readonly traceId?: string;
  readonly startTimeMs: number;
  readonly endTimeMs: number;
  readonly durationMs: number;
  readonly status: {
    readonly state: 'ok' | 'error';
    readonly error?: {
      readonly code?: string | number;
      readonly httpStatus?: string | number;
      readonly message?: string;
    };
  };
  readonly instrumentation: {
    readonly vendor: string;
    readonly source: string;
    readonly sourcePackage: string;
    readonly sourceFunction?: string;
  };
  readonly context: {
    readonly threadId?: string;
    readonly agentId?: string;
    readonly agentGroupId?: string;
    readonly userId?: string;
  };
  readonly additionalProperties: Readonly<Record<string, string | number>>;
}

/** docs/api.md §2.6: nothing is required. */
export interface LlmPayload {
  readonly model?: string;
  readonly input?: {
    readonly system?: string;
    readonly prompt?: string;
    readonly tools?: readonly unknown[];
  };
  readonly output?: {
    readonly mode?: string;
    readonly response?: string;
    readonly toolCalls?: readonly unknown[];
  };
  readonly usage?: {
    readonly inputTokens?: number;
    readonly inputTokenDetails?: {
      readonly uncachedTokens?: number;
      readonly cacheReadTokens?: number;
      readonly cacheWriteTokens?: number;
      readonly cacheWriteHourTokens?: unknown;
      readonly cacheWriteHalfDayTokens?: unknown;
      readonly audioTokens?: unknown;
      readonly imageTokens?: unknown;
      readonly cacheReadAudioTokens?: unknown;
      readonly cacheReadImageTokens?: unknown;
    };
    readonly outputTokens?: number;
    readonly outputTokenDetails?: {
      readonly reasoningTokens?: number;
      readonly responseTokens?: number;
      readonly audioTokens?: unknown;
      readonly imageTokens?: unknown;
    };
    readonly totalTokens?: number;
    readonly webSearches?: unknown;
  };
  // The contract does not name these members, nor the unknown ones of `usage`: any value is accepted.
  readonly serviceTier?: unknown;
  readonly region?: unknown;
  readonly cost?: unknown;
}

/** docs/api.md §2.7: any object. These fields are shown if they are present. */
export interface ToolPayload {
  readonly name?: unknown;
  readonly input?: unknown;
  readonly output?: unknown;
}
