import type { ReplyFilter, TcpProxy } from './proxy.ts';

const commandComplete = 'C'.charCodeAt(0);
const readyForQuery = 'Z'.charCodeAt(0);

/** A message's type and its length; the length does not count the type. */
const headerBytes = 5;

/**
 * Keeps Postgres's next answer to a statement from its client: the statement is committed, its CommandComplete is
 * dropped, and the connection breaks. For connections that are made from now on.
 *
 * @param matches tells by the command tag (`INSERT 0 1`, `SELECT 1`, `COMMIT`) whether it is the one.
 * @returns when it has happened.
 */
export function loseReply(proxy: TcpProxy, matches: (commandTag: string) => boolean): Promise<void> {
  const lost = Promise.withResolvers<void>();
  let isLost = false;
  const makeFilter = (): ReplyFilter => {
    let rest: Buffer = Buffer.alloc(0);
    let isDropping = false;
    return (chunk) => {
      if (isLost && !isDropping) return chunk;
      const bytes = Buffer.concat([rest, chunk]);
      let passed = 0;
      let next = 0;
      for (; next + headerBytes <= bytes.length; ) {
        const end = next + 1 + bytes.readInt32BE(next + 1);
        if (end > bytes.length) break;
        const type = bytes[next];
        if (type === commandComplete && !isLost && matches(tagOf(bytes.subarray(next, end)))) {
          isLost = true;
          isDropping = true;
          passed = next;
        }
        // The transaction is over only now: what we keep from the client has happened.
        if (type === readyForQuery && isDropping) {
          lost.resolve();
          return undefined;
        }
        next = end;
      }
      rest = bytes.subarray(next);
      return isDropping ? bytes.subarray(0, passed) : bytes.subarray(0, next);
    };
  };
  proxy.makeReplyFilter = makeFilter;
  return lost.promise;
}

function tagOf(message: Buffer): string {
  return message.toString('latin1', headerBytes, message.length - 1);
}
