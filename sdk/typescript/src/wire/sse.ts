/** One server-sent event (WHATWG HTML §9.2): its name, and its data lines joined by line feeds. */
export interface SseEvent {
  event: string;
  data: string;
}

/** Longest event that is parsed: a provider's image chunk has a few MB. Longer ones are skipped. */
const eventCharsMax = 16 * 1024 * 1024;

const lineEnd = /\r\n|\n|\r/g;

/**
 * Cuts a stream into events as they were sent, each with the blank line that ends it. Line ends are LF, CR or CRLF, and the
 * text may be cut anywhere. Only new text is searched: the cost of a long event does not grow with its pieces.
 */
export class SseSplitter {
  #rest = '';
  #isLineEmpty = true;
  #endsWithCr = false;

  /** Characters of the event that is not complete yet. */
  get restChars(): number {
    return this.#rest.length;
  }

  /** @returns the events that this text completes. Joined, they and the rest are all texts that were pushed. */
  push(text: string): string[] {
    if (text === '') return [];
    const events: string[] = [];
    let eventStart = 0;
    let lineStart = 0;
    for (const { 0: found, index } of text.matchAll(lineEnd)) {
      const end = index + found.length;
      // The second half of a CRLF that was cut in two ends no line of its own.
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

  /** @returns the text of an event without its blank line, and forgets it. */
  takeRest(): string {
    const rest = this.#rest;
    this.#rest = '';
    return rest;
  }
}

/** Parses server-sent events from text as it arrives, cut at any place. */
export class SseParser {
  readonly #onEvent: (event: SseEvent) => void;
  readonly #splitter = new SseSplitter();
  #isStart = true;

  constructor(onEvent: (event: SseEvent) => void) {
    this.#onEvent = onEvent;
  }

  push(text: string): void {
    for (const event of this.#splitter.push(text)) this.#parse(event);
    if (this.#splitter.restChars > eventCharsMax) this.#splitter.takeRest();
  }

  /** The stream has ended. An event without its blank line is dispatched: providers' SDKs do so too. */
  end(): void {
    this.#parse(this.#splitter.takeRest());
  }

  #parse(text: string): void {
    let event = '';
    const data: string[] = [];
    for (const line of this.#withoutMark(text).split(lineEnd)) {
      const colon = line.indexOf(':');
      const field = colon === -1 ? line : line.slice(0, colon);
      const value = colon === -1 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1);
      if (field === 'data') data.push(value);
      else if (field === 'event') event = value;
    }
    if (data.length > 0) this.#onEvent({ event, data: data.join('\n') });
  }

  /** Without the byte order mark at the start of the stream. */
  #withoutMark(text: string): string {
    const isMarked = this.#isStart && text.startsWith('\uFEFF');
    this.#isStart = false;
    return isMarked ? text.slice(1) : text;
  }
}
