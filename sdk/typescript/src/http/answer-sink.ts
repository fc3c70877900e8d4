import { describeError } from '../event/error-details.ts';
import type { EventError } from '../event/event.ts';
import type { Adapter, LlmAnswer, StreamParser } from '../wire/adapter.ts';
import { SseParser } from '../wire/sse.ts';
import type { Attempt, CallBoard } from './call-board.ts';
import type { ResponseSink } from './response-tap.ts';

/** Longest response, other than an event stream, that is parsed. A longer one is recorded without content. */
const answerCharsMax = 16 * 1024 * 1024;

interface AnswerReader {
  push(text: string): void;
  /** @param isEnd whether the body was read to its end. */
  finish(isEnd: boolean): LlmAnswer | undefined;
}

/** Reads a response while the application reads it, and records the call at its end. */
export class AnswerSink implements ResponseSink {
  readonly #attempt: Attempt;
  readonly #adapter: Adapter;
  #reader: AnswerReader | undefined;
  readonly #decoder = new TextDecoder();
  readonly #closers: (() => void)[] = [];
  #isOver = false;

  constructor(board: CallBoard, attempt: Attempt, adapter: Adapter) {
    this.#attempt = attempt;
    this.#adapter = adapter;
    this.onClose(board.watch(() => this.settle()));
  }

  /** Registers a callback for the end of the call. */
  onClose(close: () => void): void {
    this.#closers.push(close);
  }

  chunk(bytes: Uint8Array): void {
    this.#safely(() => {
      const text = this.#decoder.decode(bytes, { stream: true });
      this.#reader ??= this.#readerOf(text);
      if (this.#reader instanceof StreamAnswer) this.#attempt.call.noteChunk();
      this.#reader?.push(text);
    });
  }

  end(): void {
    this.#finish(true, undefined);
  }

  fail(error: unknown): void {
    this.#finish(false, describeError(error));
  }

  cancel(): void {
    this.#finish(false, { code: 'aborted', message: 'The caller stopped reading the answer.' });
  }

  /** Records the call when the response will not be read to its end. That is not a failure of the call. */
  settle(): void {
    this.#finish(false, undefined);
  }

  get isStream(): boolean {
    return this.#reader instanceof StreamAnswer;
  }

  /** Ends the reading without a record: another attempt may follow. */
  leave(): void {
    this.#isOver = true;
    for (const close of this.#closers.splice(0)) close();
  }

  #finish(isEnd: boolean, error: EventError | undefined): void {
    const wasOver = this.#isOver;
    this.leave();
    if (wasOver || this.#attempt.call.isOver) return;
    let answer: LlmAnswer | undefined;
    this.#safely(() => {
      answer = this.#reader?.finish(isEnd) ?? (isEnd ? failedAnswer(emptyAnswer) : undefined);
    });
    // An error after the provider's end mark does not matter: clients stop reading there.
    const lost = answer?.isComplete ? undefined : error;
    // An error from the provider takes precedence: clients stop reading there, too.
    this.#attempt.call.finish({ answer, error: answer?.error ?? lost });
  }

  /**
   * Chooses JSON or an event stream by the first character. The content type is not reliable: some proxies
   * and gateways send streams as `text/plain`.
   */
  #readerOf(text: string): AnswerReader | undefined {
    const [first] = text.trimStart();
    if (first === undefined) return undefined;
    const isWhole = !this.#adapter.openParser && (first === '{' || first === '[');
    return isWhole ? new WholeAnswer(this.#adapter) : new StreamAnswer(this.#adapter);
  }

  #safely(action: () => void): void {
    try {
      action();
    } catch {
      // A response that cannot be parsed is recorded without content. The application gets it unchanged.
    }
  }
}

const emptyAnswer = { code: 'empty_answer', message: 'The answer has no content.' };
const malformedAnswer = { code: 'malformed_answer', message: 'The answer is not valid JSON.' };
const incompleteAnswer = { code: 'incomplete', message: 'The stream ended before the answer did.' };

function failedAnswer(error: EventError): LlmAnswer {
  return { response: '', toolCalls: [], isComplete: false, error };
}

class WholeAnswer implements AnswerReader {
  readonly #adapter: Adapter;
  #text = '';

  constructor(adapter: Adapter) {
    this.#adapter = adapter;
  }

  push(text: string): void {
    if (this.#text.length <= answerCharsMax) this.#text += text;
  }

  finish(isEnd: boolean): LlmAnswer | undefined {
    if (this.#text.length > answerCharsMax) return undefined;
    try {
      return this.#adapter.readAnswer(this.#text);
    } catch {
      // A body that was not read to its end is not an error.
      return isEnd ? failedAnswer(malformedAnswer) : undefined;
    }
  }
}

class StreamAnswer implements AnswerReader {
  readonly #stream;
  readonly #parser: StreamParser;
  #isMalformed = false;

  constructor(adapter: Adapter) {
    this.#stream = adapter.openStream();
    const onEvent = (data: string) => {
      try {
        this.#stream.push(data);
      } catch {
        // Continue with the next event after one that is not JSON.
        this.#isMalformed = true;
      }
    };
    this.#parser = adapter.openParser?.(onEvent) ?? new SseParser(onEvent);
  }

  push(text: string): void {
    this.#parser.push(text);
  }

  finish(isEnd: boolean): LlmAnswer {
    if (isEnd) this.#parser.end();
    const answer = this.#stream.answer();
    if (answer.isComplete || answer.error !== undefined) return answer;
    // Clients stop reading at a malformed event: report it instead of an abort by the application.
    if (this.#isMalformed) return { ...answer, error: malformedAnswer };
    return isEnd ? { ...answer, error: incompleteAnswer } : answer;
  }
}
