import type { ReplyFilter, TcpProxy } from './tcp-proxy.ts';

const commandComplete = 'C'.charCodeAt(0);
const readyForQuery = 'Z'.charCodeAt(0);

/** A message's type byte and its length field; the length does not include the type byte. */
const headerBytes = 5;

/**
 * Drops Postgres's reply to one statement: the statement is committed, its CommandComplete is not forwarded,
 * and the connection is reset. Applies to connections that are opened after the call.
 *
 * @param matches decides by the command tag (`INSERT 0 1`, `SELECT 1`, `COMMIT`) which statement's reply is
 * dropped.
 * @returns when the reply has been dropped.
 */
export function loseCommitReply(proxy: TcpProxy, matches: (commandTag: string) => boolean): Promise<void> {
  const lost = Promise.withResolvers<void>();
  let isLost = false;
  const makeFilter = (): ReplyFilter => {
    let rest: Buffer = Buffer.alloc(0);
    let isDropping = false;
    return (chunk) => {
      if (isLost && !isDropping) return chunk;
      const bytes = Buffer.concat([rest, chunk]);
      let forwardedBytes = 0;
      let next = 0;
      for (; next + headerBytes <= bytes.length; ) {
        const end = next + 1 + bytes.readInt32BE(next + 1);
        if (end > bytes.length) break;
        const type = bytes[next];
        if (type === commandComplete && !isLost && matches(tagOf(bytes.subarray(next, end)))) {
          isLost = true;
          isDropping = true;
          forwardedBytes = next;
        }
        // Only ReadyForQuery proves that the transaction is committed.
        if (type === readyForQuery && isDropping) {
          lost.resolve();
          return undefined;
        }
        next = end;
      }
      rest = bytes.subarray(next);
      return isDropping ? bytes.subarray(0, forwardedBytes) : bytes.subarray(0, next);
    };
  };
  proxy.makeReplyFilter = makeFilter;
  return lost.promise;
}

function tagOf(message: Buffer): string {
  return message.toString('latin1', headerBytes, message.length - 1);
}
