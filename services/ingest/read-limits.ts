/** How much work a reader of batches does before it refuses with CostlyBatchError. */
export interface ReadLimits {
  /** Most values in one batch, those within others counted. */
  readonly valuesMax: number;
  /** A batch that is not as it should be is read a second time, to say what is wrong: up to this size. */
  readonly badBytesMax: number;
}

export const unlimited: ReadLimits = {
  valuesMax: Number.POSITIVE_INFINITY,
  badBytesMax: Number.POSITIVE_INFINITY,
};

/** Reading this batch takes longer than the reader may. Nothing is said of whether the batch is good. */
export class CostlyBatchError extends Error {
  override name = 'CostlyBatchError';
}
