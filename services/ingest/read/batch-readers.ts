import { compileBatchRules } from '../../../event/validate.ts';
import type { BatchEncoding, BatchReader, ReadLimits } from './batch-reader.ts';
import { createJsonBatchReader } from './json-batch-reader.ts';
import { createProtobufBatchReader, createProtobufJsonBatchReader } from './protobuf-batch-reader.ts';

/** Creates the reader of each encoding. They are synchronous, and throw CostlyBatchError past the limits. */
export function createBatchReaders(
  vendor: string,
  limits: ReadLimits,
  rules = compileBatchRules(vendor),
): Record<BatchEncoding, BatchReader> {
  return {
    json: createJsonBatchReader(rules, limits),
    protobuf: createProtobufBatchReader(rules, limits),
    protobufJson: createProtobufJsonBatchReader(rules, limits),
  };
}
