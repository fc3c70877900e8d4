export interface Line {
  /** The line number, from 1. */
  number: number;
  /** Undefined when the line is longer than `lineBytesMax`. */
  bytes: Buffer | undefined;
}

const lineFeed = 0x0a;

/**
 * Splits a stream into lines, byte for byte. Holds at most `lineBytesMax` and one chunk in memory, which
 * lines within the chunk share.
 * @param lineBytesMax a longer line is yielded without its bytes.
 */
export async function* readLines(
  chunks: AsyncIterable<Buffer>,
  lineBytesMax: number,
): AsyncGenerator<Line, void, void> {
  let pieces: Buffer[] = [];
  let length = 0;
  let number = 1;
  const add = (piece: Buffer) => {
    length += piece.length;
    if (length <= lineBytesMax) pieces.push(piece);
    else pieces = [];
  };
  const take = (): Line => {
    const bytes = pieces.length === 1 ? pieces[0] : Buffer.concat(pieces);
    const line = { number: number++, bytes: length <= lineBytesMax ? bytes : undefined };
    pieces = [];
    length = 0;
    return line;
  };
  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(lineFeed); end !== -1; end = chunk.indexOf(lineFeed, start)) {
      add(chunk.subarray(start, end));
      yield take();
      start = end + 1;
    }
    // A copy: the memory of the chunk may be used again.
    if (start < chunk.length) add(Buffer.from(chunk.subarray(start)));
  }
  // The last line may have no line feed.
  if (length > 0) yield take();
}
