import type { IncomingMessage } from 'node:http';
import { IngestError } from '../../../event/errors.ts';
import { BodyBuffer } from './body-buffer.ts';
import { type BudgetedBuffer, memoryExhausted } from './budgeted-buffer.ts';
import type { BufferPool } from './buffer-pool.ts';
import type { ByteBudget } from './byte-budget.ts';

/** The client disconnected before its request was complete: no response can be sent. */
export class ClientGoneError extends Error {
  override name = 'ClientGoneError';
}

/**
 * Rejects a request by its declared length, before anything is read (docs/api.md §8).
 * @throws IngestError `batch_too_large`.
 */
export function checkDeclaredLength(request: IncomingMessage, bytesMax: number): void {
  if (Number(request.headers['content-length'] ?? 0) > bytesMax) throw bodyTooLarge(bytesMax);
}

/** @param bytesMax in whole MiB, plus the envelope, which the message leaves out. */
export function bodyTooLarge(bytesMax: number): IngestError {
  const mebibytes = Math.floor(bytesMax / 1024 ** 2);
  const bytes = mebibytes * 1024 ** 2;
  return new IngestError(
    'batch_too_large',
    `The request body is larger than ${bytes} bytes (${mebibytes} MiB).`,
  );
}

/** The limits of reading a body: its largest size, and the budget that its bytes count against. */
export interface BodyLimits {
  bytesMax: number;
  budget: ByteBudget;
}

/**
 * Reads a request body as it was sent. The caller disposes the result.
 * @throws IngestError `batch_too_large` past `bytesMax`, `ingest_unavailable` past the budget.
 * @throws ClientGoneError
 */
export function readBody(
  request: IncomingMessage,
  pool: BufferPool,
  { bytesMax, budget }: BodyLimits,
): Promise<BudgetedBuffer> {
  // Events, not `for await`: for a small request an iterator costs more than all checks together.
  return new Promise((resolve, reject) => {
    // The client may have disconnected while its key was looked up: `close` is not emitted a second time.
    if (request.destroyed) throw new ClientGoneError('the request ended before its body was read');
    const buffer = new BodyBuffer(pool);
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
      if (buffer.length + chunk.length > bytesMax) return fail(bodyTooLarge(bytesMax));
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
