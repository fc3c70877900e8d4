import { dropUndefined } from '../event/drop-undefined.ts';
import { codeOf } from '../event/error-details.ts';
import type { EventError } from '../event/event.ts';
import { asObject, asText } from '../wire/read.ts';
import type { Attempt, CallBoard } from './call-board.ts';
import type { ResponseSink } from './response-tap.ts';

/** Longest error body that is parsed. */
const errorCharsMax = 64 * 1024;

/**
 * Reads the body of an error response. The providers' SDKs read it when they give up, and cancel or ignore it
 * when they are going to retry. This shows whether the call is over.
 */
export class ErrorSink implements ResponseSink {
  readonly #status: number;
  readonly #close: (error: EventError) => void;
  readonly #mayRepeat: boolean;
  readonly #decoder = new TextDecoder();
  #text = '';

  constructor(board: CallBoard, attempt: Attempt, response: Response) {
    this.#status = response.status;
    this.#mayRepeat = attempt.hasRetryLeft !== false && isRetried(response);
    this.#close = this.#mayRepeat
      ? board.wait(attempt, readError('', response.status))
      : (error) => attempt.call.finish({ error });
  }

  chunk(bytes: Uint8Array): void {
    // The stream of a custom fetch may have chunks of another type.
    if (!(bytes instanceof Uint8Array) || this.#text.length >= errorCharsMax) return;
    this.#text += this.#decoder.decode(bytes, { stream: true });
  }

  end(): void {
    this.#close(readError(this.#text, this.#status));
  }

  fail(): void {
    this.end();
  }

  cancel(): void {
    if (!this.#mayRepeat) this.end();
  }
}

/** Whether the SDKs of OpenAI and Anthropic retry after this response. */
export function isRetried({ status, headers }: Response): boolean {
  const shouldRetry = headers.get('x-should-retry');
  if (shouldRetry === 'true' || shouldRetry === 'false') return shouldRetry === 'true';
  return status === 408 || status === 409 || status === 429 || status >= 500;
}

/** Reads the `error` of a response, which is an object, a text (Ollama), or the body itself (Mistral). */
export function readError(text: string, httpStatus: number): EventError {
  try {
    const body = asObject(JSON.parse(text));
    const error = asObject(body.error ?? body);
    const message = asText(error.message) ?? asText(body.error) ?? '';
    return dropUndefined({ code: codeOf(error), httpStatus, message });
  } catch {
    return { httpStatus, ...(text !== '' && { message: text.slice(0, 1_000) }) };
  }
}
