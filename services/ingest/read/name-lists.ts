/** Lists that are compared: a request has messages of a few kinds, and conversations of several lengths. */
const listsMax = 16;

/** Texts of each name that are compared, as agents that call each other alternate; and how many names. */
const textsMax = 4;
const namesMax = 1_024;

/** Longer texts are decoded each time: holding them would take memory. */
const textBytesMax = 64 * 1024;

/** Native functions compare longer bytes faster. */
const comparedByByteMax = 64;

/** The names of a message's attributes, in the order in which they were sent. */
export interface NameList {
  /** The distinct names. */
  readonly names: readonly string[];
  /** The place of each name in the list; of equal names that of the last. */
  readonly places: ReadonlyMap<string, number>;
}

/** Positions in the request; `end` is exclusive. */
interface KnownText {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/**
 * What the attributes of one request's messages have in common (ADR 43). Spans of one kind have the same
 * names, and many of the same texts: their bytes are compared instead of decoded.
 */
export class NameLists {
  readonly #source: Buffer;
  readonly #recent: { readonly list: NameList; readonly ranges: readonly number[] }[] = [];
  readonly #texts = new Map<string, KnownText[]>();

  constructor(source: Buffer) {
    this.#source = source;
  }

  /**
   * @param ranges where each name starts and ends.
   * @returns the same object for the same names.
   */
  find(ranges: readonly number[]): NameList {
    const known = this.#recent.find((one) => this.#areSame(one.ranges, ranges));
    if (known !== undefined) return known.list;
    const places = new Map<string, number>();
    for (let i = 0; i < ranges.length; i += 2)
      places.set(this.#source.toString(undefined, ranges[i], ranges[i + 1]), i / 2);
    const list = { names: [...places.keys()], places };
    if (this.#recent.unshift({ list, ranges }) > listsMax) this.#recent.pop();
    return list;
  }

  /** Decodes a text of an attribute: equal bytes once. */
  textOf(name: string, start: number, end: number): string {
    const known = this.#texts.get(name);
    const same = known?.find((one) => this.#areEqual(one, start, end));
    if (same !== undefined) return same.text;
    const text = this.#source.toString(undefined, start, end);
    if (end - start > textBytesMax) return text;
    if (known !== undefined && known.unshift({ start, end, text }) > textsMax) known.pop();
    if (known === undefined && this.#texts.size < namesMax) this.#texts.set(name, [{ start, end, text }]);
    return text;
  }

  #areSame(some: readonly number[], others: readonly number[]): boolean {
    if (some.length !== others.length) return false;
    for (let i = 0; i < some.length; i += 2) {
      const name = { start: some[i] ?? 0, end: some[i + 1] ?? 0 };
      if (!this.#areEqual(name, others[i] ?? 0, others[i + 1] ?? 0)) return false;
    }
    return true;
  }

  #areEqual(known: { readonly start: number; readonly end: number }, start: number, end: number): boolean {
    const [source, length] = [this.#source, end - start];
    if (known.end - known.start !== length) return false;
    if (known.start === start) return true;
    if (length > comparedByByteMax) return source.compare(source, known.start, known.end, start, end) === 0;
    for (let i = 0; i < length; i++) if (source[known.start + i] !== source[start + i]) return false;
    return true;
  }
}
