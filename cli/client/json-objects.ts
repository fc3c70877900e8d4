/** Delimited by its braces; the content may be invalid. */
export interface StreamedObject {
  /** The line it begins in, from 1. */
  line: number;
  /** Undefined when the object is longer than `bytesMax`, or the stream ends within it. */
  bytes: Buffer | undefined;
}

const quote = 0x22;
const backslash = 0x5c;
const openBrace = 0x7b;
const closeBrace = 0x7d;
const lineFeed = 0x0a;

/**
 * Splits a stream into its top-level JSON objects, of any layout. Bytes between objects are skipped. Memory
 * holds one object and one chunk.
 * @param bytesMax longer objects are yielded without their bytes.
 */
export async function* readJsonObjects(
  chunks: AsyncIterable<Buffer>,
  bytesMax: number,
): AsyncGenerator<StreamedObject, void, void> {
  const splitter = new ObjectSplitter(bytesMax);
  for await (const chunk of chunks) yield* splitter.split(chunk);
  if (splitter.isWithin) yield { line: splitter.line, bytes: undefined };
}

class ObjectSplitter {
  readonly #bytesMax: number;
  #pieces: Buffer[] = [];
  #length = 0;
  #depth = 0;
  #isInString = false;
  #isEscaped = false;
  #lines = 1;
  line = 1;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  get isWithin(): boolean {
    return this.#depth > 0;
  }

  *split(chunk: Buffer): Generator<StreamedObject> {
    let start = 0;
    for (let at = 0; at < chunk.length; at++) {
      const byte = chunk[at];
      if (byte === lineFeed) this.#lines += 1;
      if (this.#isInString) this.#continueString(byte);
      else if (byte === quote) this.#isInString = this.#depth > 0;
      else if (byte === openBrace) {
        if (this.#depth === 0) {
          start = at;
          this.line = this.#lines;
        }
        this.#depth += 1;
      } else if (byte === closeBrace && this.#depth > 0 && --this.#depth === 0) {
        this.#keep(chunk.subarray(start, at + 1));
        yield this.#take();
      }
    }
    if (this.#depth > 0) this.#keep(chunk.subarray(start));
  }

  #continueString(byte: number | undefined): void {
    if (this.#isEscaped) this.#isEscaped = false;
    else if (byte === backslash) this.#isEscaped = true;
    else if (byte === quote) this.#isInString = false;
  }

  #keep(piece: Buffer): void {
    this.#length += piece.length;
    if (this.#length <= this.#bytesMax) this.#pieces.push(piece);
    else this.#pieces = [];
  }

  #take(): StreamedObject {
    const bytes = this.#length <= this.#bytesMax ? Buffer.concat(this.#pieces) : undefined;
    this.#pieces = [];
    this.#length = 0;
    return { line: this.line, bytes };
  }
}
