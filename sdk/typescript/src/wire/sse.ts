/** One server-sent event (WHATWG HTML §9.2): its name, and its data lines joined by line feeds. */
export interface SseEvent {
  event: string;
  data: string;
}

/** Longest event that is parsed: a provider's image chunk has a few MB. Longer ones are skipped. */
const eventCharsMax = 16 * 1024 * 1024;

/** Parses server-sent events from text as it arrives, cut at any place. */
export class SseParser {
  readonly #onEvent: (event: SseEvent) => void;
  #rest = '';
  #event = '';
  #data: string[] = [];
  #isStart = true;

  constructor(onEvent: (event: SseEvent) => void) {
    this.#onEvent = onEvent;
  }

  push(text: string): void {
    let input = this.#rest + text;
    if (this.#isStart && input !== '') {
      this.#isStart = false;
      if (input.startsWith('\uFEFF')) input = input.slice(1);
    }
    let start = 0;
    const lineEnd = /\r\n|\n|\r/g;
    for (let match = lineEnd.exec(input); match; match = lineEnd.exec(input)) {
      // A lone CR at the end may be the first half of a CRLF.
      if (match[0] === '\r' && lineEnd.lastIndex === input.length) break;
      this.#takeLine(input.slice(start, match.index));
      start = lineEnd.lastIndex;
    }
    this.#rest = input.slice(start);
    if (this.#rest.length > eventCharsMax) this.#rest = '';
  }

  /** The stream has ended. An event without its blank line is dispatched: providers' SDKs do so too. */
  end(): void {
    if (this.#rest !== '') this.#takeLine(this.#rest.replace(/\r$/, ''));
    this.#rest = '';
    this.#dispatch();
  }

  #takeLine(line: string): void {
    if (line === '') {
      this.#dispatch();
      return;
    }
    const colon = line.indexOf(':');
    const field = colon === -1 ? line : line.slice(0, colon);
    let value = colon === -1 ? '' : line.slice(colon + 1);
    if (value.startsWith(' ')) value = value.slice(1);
    if (field === 'data') this.#data.push(value);
    else if (field === 'event') this.#event = value;
  }

  #dispatch(): void {
    const event = { event: this.#event, data: this.#data.join('\n') };
    const isEmpty = this.#data.length === 0;
    this.#event = '';
    this.#data = [];
    if (!isEmpty) this.#onEvent(event);
  }
}
