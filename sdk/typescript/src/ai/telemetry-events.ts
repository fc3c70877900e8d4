/** The part of `ai`'s type `Telemetry` that is implemented; the names and fields are those of version 7. */
export interface AiTelemetry {
  onLanguageModelCallStart(event: ModelCallStart): void;
  executeLanguageModelCall<T>(options: { callId: string; execute: () => PromiseLike<T> }): PromiseLike<T>;
  onLanguageModelCallEnd(event: ModelCallEnd): void;
  onToolExecutionStart(event: ToolExecution): void;
  executeTool<T>(options: {
    callId: string;
    toolCallId: string;
    execute: () => PromiseLike<T>;
  }): PromiseLike<T>;
  onToolExecutionEnd(event: ToolExecution & { toolOutput: ToolOutput; toolExecutionMs: number }): void;
  onError(event: unknown): void;
  onAbort(event: { callId?: string }): void;
  onEnd(event: { callId?: string }): void;
}

interface Common {
  callId: string;
  /** The name that the application gave the operation. */
  functionId?: string | undefined;
  /** When the event happened, in milliseconds since the epoch. Default: now. */
  timestamp?: number;
}

export interface ModelCallStart extends Common {
  provider: string;
  modelId: string;
  instructions?: unknown;
  messages?: readonly unknown[];
  tools?: readonly unknown[] | undefined;
}

export interface ModelCallEnd extends Common {
  /** The model that answered. */
  modelId?: string;
  finishReason: string;
  usage: AiUsage;
  content: readonly unknown[];
  responseId?: string;
  performance?: { timeToFirstOutputMs?: number | undefined };
}

export interface AiUsage {
  inputTokens?: number | undefined;
  inputTokenDetails?: Partial<
    Record<'noCacheTokens' | 'cacheReadTokens' | 'cacheWriteTokens', number | undefined>
  >;
  outputTokens?: number | undefined;
  outputTokenDetails?: Partial<Record<'textTokens' | 'reasoningTokens', number | undefined>>;
  totalTokens?: number | undefined;
}

export interface ToolExecution extends Common {
  toolCall: { toolCallId: string; toolName: string; input?: unknown };
}

export interface ToolOutput {
  type: string;
  output?: unknown;
  error?: unknown;
}
