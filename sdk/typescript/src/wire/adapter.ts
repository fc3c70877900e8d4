import type { EventError, LlmUsage } from '../event/event.ts';
import type { JsonText } from '../event/json-text.ts';
import type { SseEvent } from './sse.ts';

/** How one API of a provider is read. */
export interface Adapter {
  /** `instrumentation` of docs/api.md §2.4; `source` where the host tells no better one. */
  readonly source: string;
  readonly sourcePackage: string;
  readonly sourceFunction: string;
  /** The paths of its requests, below any base address. */
  readonly path: RegExp;
  /** Streams report their usage only if `stream_options.include_usage` asks for it. */
  readonly hasUsageOption?: boolean;
  /** @throws Error for a body that is not this API's. */
  readRequest(text: string): LlmRequest;
  /** @throws Error for a body that is not this API's. */
  readAnswer(text: string): LlmAnswer;
  openStream(): StreamReader;
}

export interface LlmRequest {
  model: string | undefined;
  input: { system?: string; prompt?: string; tools?: JsonText; messages?: JsonText };
  /** JSON output was asked for. */
  isJson: boolean;
}

export interface LlmAnswer {
  model?: string | undefined;
  /** The text of the answer; of an answer in audio, its transcript. */
  response: string;
  /** The text of the model's reasoning, or of its summary, where the provider sends it. */
  reasoning?: string | undefined;
  toolCalls: ToolCall[];
  /** Texts of further choices, if several were asked for. */
  otherResponses?: string[] | undefined;
  usage?: LlmUsage | undefined;
  finishReason?: string | undefined;
  responseId?: string | undefined;
  /** The provider reported a failure in an answer with a status of 200. */
  error?: EventError | undefined;
  /** Everything was received: if the reader stops now, nothing is missing. */
  isComplete: boolean;
}

export interface ToolCall {
  id: string | undefined;
  name: string | undefined;
  /** The raw JSON text of the model: integers keep all their digits. */
  arguments: string;
}

/** Collects an answer from its events. */
export interface StreamReader {
  /** @throws Error for an event that cannot be read; the next one may be. */
  push(event: SseEvent): void;
  /** What was received until now. */
  answer(): LlmAnswer;
}
