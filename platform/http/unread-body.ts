import type { IncomingMessage, ServerResponse } from 'node:http';
import { bodyBytesMax } from '../limits.ts';
import { longUnreadBodiesMax, unreadBodyBytesMax, unreadBodyTimeoutMs } from './limits.ts';

export type AnswerAfterBody = ReturnType<typeof createAnswerAfterBody>;

/**
 * Answers requests rejected before their body was read: the function discards the rest and calls `write`,
 * unless the client or the HTTP parser has ended the request. A body past the limits of `limits.ts` is not
 * read to its end; its connection is closed after the answer.
 * @param freeChunk called with each chunk that was discarded.
 */
export function createAnswerAfterBody(freeChunk: (chunk: Buffer) => void = () => {}) {
  const discardBody = createDiscardBody(freeChunk);
  return async (request: IncomingMessage, response: ServerResponse, write: () => void) => {
    const isWhole = await discardBody(request);
    // The parser may have rejected the rest of the body meanwhile, and has answered for it.
    if (response.destroyed || response.headersSent) return;
    if (!isWhole && request.httpVersionMajor === 1) response.setHeader('Connection', 'close');
    write();
  };
}

/** The function resolves with whether the whole body was read: the connection can be reused. */
export function createDiscardBody(
  freeChunk: (chunk: Buffer) => void,
): (request: IncomingMessage) => Promise<boolean> {
  /** Rejected bodies that are being read past the size of a legal one. */
  let longBodies = 0;
  return (request) => {
    if (request.readableEnded) return Promise.resolve(true);
    if (request.destroyed) return Promise.resolve(false);
    return new Promise((resolve) => {
      let length = 0;
      let isLong = false;
      const finish = (isWhole: boolean) => {
        clearTimeout(timer);
        request.off('data', onData).off('end', onEnd).off('close', onClose);
        if (isLong) longBodies -= 1;
        resolve(isWhole);
      };
      const onData = (chunk: Buffer) => {
        length += chunk.length;
        freeChunk(chunk);
        if (length > unreadBodyBytesMax) return finish(false);
        if (isLong || length <= bodyBytesMax) return;
        if (longBodies === longUnreadBodiesMax) return finish(false);
        isLong = true;
        longBodies += 1;
      };
      const onEnd = () => finish(true);
      const onClose = () => finish(false);
      const timer = setTimeout(onClose, unreadBodyTimeoutMs);
      request.on('data', onData).once('end', onEnd).once('close', onClose);
      request.resume();
    });
  };
}
