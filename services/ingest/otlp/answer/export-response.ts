import { create, toBinary, toJsonString } from '@bufbuild/protobuf';
import { ExportTraceServiceResponseSchema } from '../../../../gen/opentelemetry/proto/collector/trace/v1/trace_service_pb.ts';
import type { SpanBatch } from '../batch/span-batch.ts';

/**
 * The ExportTraceServiceResponse to a request whose events are durable. What was filtered is success; `partial_success`
 * tells of LLM and tool spans that cannot be stored, now or later.
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
