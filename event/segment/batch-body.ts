/** What stands before and after the events of a request body of the JSON API. */
export const batchHead = '{"events":[';
export const batchTail = ']}';

/** Joins the texts of events to a request body: new bytes, which keep no larger buffer in memory. */
export function joinTexts(texts: readonly (string | Uint8Array)[]): Buffer {
  const pieces = texts.flatMap((text, index) => (index === 0 ? [text] : [',', text]));
  const all = [batchHead, ...pieces, batchTail];
  const body = Buffer.allocUnsafeSlow(all.reduce((sum, piece) => sum + Buffer.byteLength(piece), 0));
  let end = 0;
  for (const piece of all) {
    if (typeof piece === 'string') end += body.write(piece, end);
    else {
      body.set(piece, end);
      end += piece.length;
    }
  }
  return body;
}
