/** A line of a stream, without its end. */
export interface Line {
  /** From 1, as editors count. */
  number: number;
  /** Undefined when the line is longer than was asked for; nothing of it is kept. */
  bytes: Buffer | undefined;
}

const lineFeed = 0x0a;

/**
 * Splits a stream of bytes into lines, byte for byte. Memory holds one line and one chunk, however long a line is.
 *
 * @param lineBytesMax longer lines are reported, not returned.
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
    if (start < chunk.length) add(chunk.subarray(start));
  }
  // A last line may lack its end.
  if (length > 0) yield take();
}
