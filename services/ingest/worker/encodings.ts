import { compileBatchRules } from '../../../event/validate.ts';
import type { SpanBatch } from '../otlp/batch/span-batch.ts';
import { createSpanReaders, type SpanEncoding } from '../otlp/batch/span-readers.ts';
import type { BatchEncoding, ReadBatch, ReadLimits } from '../read/batch-reader.ts';
import { createBatchReaders } from '../read/batch-readers.ts';
import { createJsonBatchReader } from '../read/json-batch-reader.ts';

/** The result of reading each encoding of a request. */
export type ReadResults = Record<BatchEncoding, ReadBatch> & Record<SpanEncoding, SpanBatch>;

export type Encoding = keyof ReadResults;

/** A reader of each encoding: a BatchReader or a SpanBatchReader. */
export type EncodingReaders = { [E in Encoding]: (bytes: Buffer) => ReadResults[E] };

/** @param jsonLimits those of bodies of the JSON API. */
export function createReaders(vendor: string, limits: ReadLimits, jsonLimits = limits): EncodingReaders {
  const rules = compileBatchRules(vendor);
  return {
    ...createBatchReaders(vendor, limits, rules),
    ...createSpanReaders(vendor, limits, rules),
    json: createJsonBatchReader(rules, jsonLimits),
  };
}
