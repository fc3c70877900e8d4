import type { EventError, LlmProperties, LlmUsage } from '../event/event.ts';
import type { JsonText } from '../event/json-text.ts';

/** Reads requests and responses of one API of a provider. */
export interface Adapter {
  /** `instrumentation` of docs/api.md §2.4; used for `source` when the host is unknown. */
  readonly source: string;
  readonly sourcePackage: string;
  readonly sourceFunction: string;
  /** The paths of its requests, below any base URL. */
  readonly path: RegExp;
  /** Streams report their usage only with `stream_options.include_usage`. */
  readonly hasUsageOption?: boolean;
  /**
   * The parser of its streams. Default: server-sent events. With a parser, an answer that begins with `{` may
   * be a stream.
   */
  openParser?(onEvent: (data: string) => void): StreamParser;
  /** @throws Error for a body that is not this API's. */
  readRequest(text: string, url: URL): LlmRequest;
  /** @throws Error for a body that is not this API's. */
  readAnswer(text: string): LlmAnswer;
  openStream(): StreamReader;
}

/** Splits the text of a stream into events. */
export interface StreamParser {
  push(text: string): void;
  end(): void;
}

export interface LlmRequest {
  model: string | undefined;
  input: { system?: string; prompt?: string; tools?: JsonText; messages?: JsonText };
  /** Whether JSON output was requested. */
  isJson: boolean;
}

export interface LlmAnswer {
  model?: string | undefined;
  /** The text of the response, or the transcript of an audio response. */
  response: string;
  /** The text of the model's reasoning or of its summary, if the provider sends it. */
  reasoning?: string | undefined;
  toolCalls: ToolCall[];
  /** The texts of further choices, if several were requested. */
  otherResponses?: string[] | undefined;
  usage?: LlmUsage | undefined;
  /** Calls of other models that the provider made for this one (an advisor): not counted in `usage`. */
  innerCalls?: readonly LlmProperties[] | undefined;
  finishReason?: string | undefined;
  /** The service tier of the response, as the provider names it. */
  serviceTier?: string | undefined;
  /** Where inference is confined to it. */
  region?: string | undefined;
  /** US dollars, where the provider says what the call cost. */
  cost?: unknown;
  responseId?: string | undefined;
  /** A failure that the provider reported in a response with status 200. */
  error?: EventError | undefined;
  /** Whether the whole response was received. */
  isComplete: boolean;
}

export interface ToolCall {
  id: string | undefined;
  name: string | undefined;
  /** The JSON text of the model, unchanged: integers keep all digits. */
  arguments: string;
}

/** Collects a response from the data of its stream's events. */
export interface StreamReader {
  /** @throws Error for an event that cannot be read. Further events may be pushed. */
  push(data: string): void;
  answer(): LlmAnswer;
}
