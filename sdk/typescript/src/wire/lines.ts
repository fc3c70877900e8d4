import type { StreamParser } from './adapter.ts';
import { eventCharsMax } from './sse.ts';

/** Splits newline-delimited JSON, whose chunks may be split anywhere, into its lines. */
export class LineParser implements StreamParser {
  readonly #onLine: (line: string) => void;
  #rest = '';

  constructor(onLine: (line: string) => void) {
    this.#onLine = onLine;
  }

  push(text: string): void {
    const [first = '', ...others] = text.split('\n');
    this.#rest += first;
    for (const line of others) {
      this.end();
      this.#rest = line;
    }
    if (this.#rest.length > eventCharsMax) this.#rest = '';
  }

  /** Call at the end of the stream: the last line may have no line feed. */
  end(): void {
    const line = this.#rest;
    this.#rest = '';
    if (line.trim() !== '') this.#onLine(line);
  }
}
