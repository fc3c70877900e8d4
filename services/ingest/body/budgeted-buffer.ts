import { IngestError } from '../../../event/errors.ts';
import type { ByteBudget } from './byte-budget.ts';
import { detachBuffer } from './detach-buffer.ts';

/** Bytes that count against a budget until they are disposed. They must not be read after that. */
export interface BudgetedBuffer extends Disposable {
  readonly bytes: Buffer;
}

/**
 * Counts a buffer against the budget. Disposing it frees its memory.
 * @throws IngestError `ingest_unavailable` when the budget has no room; the buffer's memory is freed as well.
 */
export function holdBuffer(bytes: Buffer, budget: ByteBudget): BudgetedBuffer {
  const { length } = bytes;
  if (!budget.take(length)) {
    detachBuffer(bytes);
    throw memoryExhausted();
  }
  return {
    bytes,
    [Symbol.dispose]: () => {
      budget.release(length);
      detachBuffer(bytes);
    },
  };
}

export function memoryExhausted(): IngestError {
  return new IngestError(
    'ingest_unavailable',
    'The memory for requests is used up at this moment. Retry later.',
  );
}
