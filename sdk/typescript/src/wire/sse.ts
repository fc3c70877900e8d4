/** Longest event that is parsed; longer ones are skipped. A provider's image chunk has a few MB. */
export const eventCharsMax = 16 * 1024 * 1024;

const lineEnd = /\r\n|\n|\r/g;

/**
 * Splits a stream into events, each with the blank line that ends it. Line ends are LF, CR or CRLF, and
 * chunks may be split anywhere. Each chunk is searched once, so that the cost of a long event is linear.
 */
export class SseSplitter {
  #rest = '';
  #isLineEmpty = true;
  #endsWithCr = false;

  /** Number of characters of the incomplete event. */
  get restChars(): number {
    return this.#rest.length;
  }

  /**
   * @returns the events that this chunk completes. All events and the rest, joined, equal the pushed chunks.
   */
  push(text: string): string[] {
    if (text === '') return [];
    const events: string[] = [];
    let eventStart = 0;
    let lineStart = 0;
    for (const { 0: found, index } of text.matchAll(lineEnd)) {
      const end = index + found.length;
      // This LF belongs to a CRLF that was split between two chunks: it ends no further line.
      const isSecondHalf = index === 0 && found === '\n' && this.#endsWithCr;
      const isBlank = index === lineStart && this.#isLineEmpty;
      lineStart = end;
      if (isSecondHalf) continue;
      this.#isLineEmpty = true;
      if (!isBlank) continue;
      events.push(this.#rest + text.slice(eventStart, end));
      this.#rest = '';
      eventStart = end;
    }
    if (lineStart < text.length) this.#isLineEmpty = false;
    this.#endsWithCr = text.endsWith('\r');
    this.#rest += text.slice(eventStart);
    return events;
  }

  /** Removes the incomplete event. @returns its text. */
  takeRest(): string {
    const rest = this.#rest;
    this.#rest = '';
    return rest;
  }
}

/**
 * Parses server-sent events (WHATWG HTML §9.2) from chunks of text, which may be split anywhere. Of an event
 * only its data lines are reported, joined by line feeds: the providers repeat its name in the data.
 */
export class SseParser {
  readonly #onEvent: (data: string) => void;
  readonly #splitter = new SseSplitter();
  #isStart = true;

  constructor(onEvent: (data: string) => void) {
    this.#onEvent = onEvent;
  }

  push(text: string): void {
    for (const event of this.#splitter.push(text)) this.#parse(event);
    if (this.#splitter.restChars > eventCharsMax) this.#splitter.takeRest();
  }

  /**
   * Call at the end of the stream. An event without its blank line is dispatched, as in the providers' SDKs.
   */
  end(): void {
    this.#parse(this.#splitter.takeRest());
  }

  #parse(text: string): void {
    const data: string[] = [];
    for (const line of this.#withoutMark(text).split(lineEnd)) {
      const colon = line.indexOf(':');
      const field = colon === -1 ? line : line.slice(0, colon);
      const value = colon === -1 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1);
      if (field === 'data') data.push(value);
    }
    if (data.length > 0) this.#onEvent(data.join('\n'));
  }

  /** Removes the byte order mark at the start of the stream. */
  #withoutMark(text: string): string {
    const isMarked = this.#isStart && text.startsWith('\uFEFF');
    this.#isStart = false;
    return isMarked ? text.slice(1) : text;
  }
}
