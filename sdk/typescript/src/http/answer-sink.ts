import { describeError } from '../event/error-details.ts';
import type { EventError } from '../event/event.ts';
import type { Adapter, LlmAnswer } from '../wire/adapter.ts';
import { SseParser } from '../wire/sse.ts';
import type { Attempt, CallBoard } from './call-board.ts';
import { answerCharsMax } from './limits.ts';
import type { ResponseSink } from './response-tap.ts';

/** Reads an answer while the application reads it, and records the call at its end. */
export function openAnswerSink(
  board: CallBoard,
  attempt: Attempt,
  adapter: Adapter,
  response: Response,
): AnswerSink {
  const isStream = response.headers.get('content-type')?.includes('event-stream') ?? false;
  const reader = isStream ? new StreamAnswer(adapter) : new WholeAnswer(adapter);
  return new AnswerSink(board, attempt, reader);
}

interface AnswerReader {
  push(text: string): void;
  /** @param isEnd whether the body was read to its end. */
  finish(isEnd: boolean): LlmAnswer | undefined;
}

export class AnswerSink implements ResponseSink {
  readonly #attempt: Attempt;
  readonly #reader: AnswerReader;
  readonly #decoder = new TextDecoder();
  readonly #closers: (() => void)[] = [];

  constructor(board: CallBoard, attempt: Attempt, reader: AnswerReader) {
    this.#attempt = attempt;
    this.#reader = reader;
    this.onClose(board.watch(() => this.settle()));
  }

  /** Calls this when the call is over. */
  onClose(close: () => void): void {
    this.#closers.push(close);
  }

  chunk(bytes: Uint8Array): void {
    if (this.#reader instanceof StreamAnswer) this.#attempt.call.noteChunk();
    this.#safely(() => this.#reader.push(this.#decoder.decode(bytes, { stream: true })));
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

  /** Nobody read the answer to its end, and nobody will. That is no failure of the call. */
  settle(): void {
    this.#finish(false, undefined);
  }

  #finish(isEnd: boolean, error: EventError | undefined): void {
    for (const close of this.#closers.splice(0)) close();
    if (this.#attempt.call.isOver) return;
    let answer: LlmAnswer | undefined;
    this.#safely(() => {
      answer = this.#reader.finish(isEnd);
    });
    // What was cut off behind the last token is no loss: readers stop at the provider's end mark.
    const lost = answer?.isComplete ? undefined : error;
    // The provider's own error first: readers stop at it too.
    this.#attempt.call.finish({ answer, error: answer?.error ?? lost });
  }

  #safely(action: () => void): void {
    try {
      action();
    } catch {
      // An answer that cannot be read is recorded without content; the application sees it as it is.
    }
  }
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

  finish(): LlmAnswer | undefined {
    return this.#text === '' ? undefined : this.#adapter.readAnswer(this.#text);
  }
}

class StreamAnswer implements AnswerReader {
  readonly #stream;
  readonly #parser: SseParser;

  constructor(adapter: Adapter) {
    this.#stream = adapter.openStream();
    this.#parser = new SseParser((event) => {
      try {
        this.#stream.push(event);
      } catch {
        // One event that is no JSON does not hide those after it.
      }
    });
  }

  push(text: string): void {
    this.#parser.push(text);
  }

  finish(isEnd: boolean): LlmAnswer {
    if (isEnd) this.#parser.end();
    const answer = this.#stream.answer();
    const isCutOff = isEnd && !answer.isComplete && answer.error === undefined;
    const error = { code: 'incomplete', message: 'The stream ended before the answer did.' };
    return isCutOff ? { ...answer, error } : answer;
  }
}
