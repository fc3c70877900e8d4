import type { IncomingMessage } from 'node:http';
import { IngestError } from '../../lib/errors.ts';
import { bodyBytesMax, discardBytesMax, discardTimeoutMs, longDiscardsMax } from '../../lib/limits.ts';
import { BodyBuffer } from './body-buffers.ts';
import type { ByteBudget } from './byte-budget.ts';
import { freeMemory } from './free-memory.ts';

/** The client went away before its request was whole: there is nobody to answer. */
export class ClientGoneError extends Error {
  override name = 'ClientGoneError';
}

/**
 * Refuses a request by the length it declares, before anything is read (contract §8).
 *
 * @throws IngestError `batch_too_large`.
 */
export function checkDeclaredLength(request: IncomingMessage, bytesMax: number): void {
  if (Number(request.headers['content-length'] ?? 0) > bytesMax) throw bodyTooLarge();
}

export function bodyTooLarge(): IngestError {
  return new IngestError('batch_too_large', `The request body is larger than ${bodyBytesMax} bytes (4 MiB).`);
}

/** A request body, and the hold on the budget that ends when the body is no longer needed. */
export interface HeldBody extends Disposable {
  readonly bytes: Buffer;
}

/**
 * Reads a request body as it came. The caller disposes it when its bytes are let go.
 *
 * @throws IngestError `batch_too_large` past `bytesMax`, `ingest_unavailable` when ingest holds too much already.
 * @throws ClientGoneError
 */
export function readBody(request: IncomingMessage, budget: ByteBudget, bytesMax: number): Promise<HeldBody> {
  // Events, not `for await`: an iterator costs a small request more than all its checks.
  return new Promise((resolve, reject) => {
    // While the key was looked up the client may have gone, and its `close` is not said twice.
    if (request.destroyed) throw new ClientGoneError('the request ended before its body was read');
    const buffer = new BodyBuffer();
    const release = () => {
      budget.release(buffer.length);
      buffer.release();
    };
    const settle = () => request.off('data', onData).off('end', onEnd).off('close', onClose);
    const fail = (error: Error) => {
      settle();
      release();
      reject(error);
    };
    const onData = (chunk: Buffer) => {
      if (buffer.length + chunk.length > bytesMax) return fail(bodyTooLarge());
      if (!budget.take(chunk.length)) return fail(memoryExhausted());
      buffer.add(chunk);
    };
    const onEnd = () => {
      settle();
      resolve({ bytes: buffer.toBytes(), [Symbol.dispose]: release });
    };
    const onClose = () => fail(new ClientGoneError('the request ended before its body did'));
    // Without a listener an error of the socket would end the process; `close` follows it.
    request.on('error', () => {});
    request.on('data', onData).once('end', onEnd).once('close', onClose);
  });
}

export function memoryExhausted(): IngestError {
  return new IngestError(
    'ingest_unavailable',
    'Ingest holds as many bytes as it may at this moment. Retry later.',
  );
}

/** Refused bodies that are being read past the size of a legal one. */
let longDiscards = 0;

/**
 * Reads what is left of a refused request's body and throws it away, within bounds: a client that is still writing
 * when the connection closes never sees the answer.
 *
 * @returns whether the body came to its end, so that the connection can serve another request.
 */
export function discardBody(request: IncomingMessage): Promise<boolean> {
  if (request.readableEnded) return Promise.resolve(true);
  if (request.destroyed) return Promise.resolve(false);
  return new Promise((resolve) => {
    let length = 0;
    let isLong = false;
    const finish = (isWhole: boolean) => {
      clearTimeout(timer);
      request.off('data', onData).off('end', onEnd).off('close', onClose);
      if (isLong) longDiscards -= 1;
      resolve(isWhole);
    };
    const onData = (chunk: Buffer) => {
      freeMemory(chunk);
      length += chunk.length;
      if (length > discardBytesMax) return finish(false);
      if (isLong || length <= bodyBytesMax) return;
      if (longDiscards === longDiscardsMax) return finish(false);
      isLong = true;
      longDiscards += 1;
    };
    const onEnd = () => finish(true);
    const onClose = () => finish(false);
    const timer = setTimeout(onClose, discardTimeoutMs);
    request.on('data', onData).once('end', onEnd).once('close', onClose);
    request.resume();
  });
}
