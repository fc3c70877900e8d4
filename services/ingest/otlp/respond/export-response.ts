import { create, toBinary, toJsonString } from '@bufbuild/protobuf';
import { ExportTraceServiceResponseSchema } from '../../../../gen/opentelemetry/proto/collector/trace/v1/trace_service_pb.ts';
import type { SpanBatch } from '../batch/span-batch.ts';

/**
 * The ExportTraceServiceResponse to a request whose events are durable. Filtered spans count as success; `partial_success`
 * reports LLM and tool spans that can never be stored.
 */
export function encodeExportResponse(
  { counts: { rejected }, rejection }: Pick<SpanBatch, 'counts' | 'rejection'>,
  { isJson }: { isJson: boolean },
): Uint8Array {
  const partialSuccess = {
    rejectedSpans: BigInt(rejected),
    errorMessage: `${rejected} of the spans cannot be stored. The first: ${rejection}`,
  };
  const response = create(ExportTraceServiceResponseSchema, rejected === 0 ? {} : { partialSuccess });
  return isJson
    ? Buffer.from(toJsonString(ExportTraceServiceResponseSchema, response))
    : toBinary(ExportTraceServiceResponseSchema, response);
}
