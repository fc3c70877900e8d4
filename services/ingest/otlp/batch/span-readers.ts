import { compileBatchRules } from '../../../../event/validate.ts';
import { CostlyBatchError, type ReadLimits } from '../../read/batch-reader.ts';
import { openJsonLogs, openProtobufLogs } from '../logs/log-spans.ts';
import { openJsonSpans } from '../spans/json-spans.ts';
import { openProtobufSpans } from '../spans/protobuf-spans.ts';
import type { SpanRequest } from '../spans/span.ts';
import type { SpanBatch } from './span-batch.ts';
import { SpanMapping } from './span-mapping.ts';

/**
 * The two forms of an ExportTraceServiceRequest, and of an ExportLogsServiceRequest: protobuf, and OTLP/JSON.
 */
export type SpanEncoding = 'otlp' | 'otlpJson' | 'otlpLogs' | 'otlpLogsJson';

/**
 * Parses a request of spans, maps its LLM and tool spans to events, validates and projects them.
 * @throws IngestError `invalid_request_body`, `batch_too_large`.
 * @throws CostlyBatchError when reading would exceed the reader's limits.
 */
export type SpanBatchReader = (bytes: Buffer) => SpanBatch;

export function createSpanReaders(
  vendor: string,
  limits: ReadLimits,
  { isEvent } = compileBatchRules(vendor),
): Record<SpanEncoding, SpanBatchReader> {
  const isUnlimited = !Number.isFinite(limits.valuesMax);
  const readerOf =
    (open: (bytes: Buffer, limits: ReadLimits) => SpanRequest, isLogs = false): SpanBatchReader =>
    (bytes) => {
      // The limits count values, and a long text is only one value: limit the bytes, too.
      if (bytes.length > limits.bytesMax) throw new CostlyBatchError();
      return new SpanMapping(open(bytes, limits), { vendor, isEvent, isUnlimited, isLogs }).run();
    };
  return {
    otlp: readerOf(openProtobufSpans),
    otlpJson: readerOf(openJsonSpans),
    otlpLogs: readerOf(openProtobufLogs, true),
    otlpLogsJson: readerOf(openJsonLogs, true),
  };
}
