import type { IncomingMessage, ServerResponse } from 'node:http';
import { IngestError } from '../../../event/errors.ts';
import { TraceService } from '../../../gen/opentelemetry/proto/collector/trace/v1/trace_service_pb.ts';
import { ClientGoneError } from '../body/body.ts';
import { requireRpcEncoding } from '../rpc/encoding.ts';
import { sendRpcMessage } from '../rpc/respond.ts';
import type { RespondRpcError } from '../rpc/respond-error.ts';
import type { SpanDecoders } from './decoders.ts';
import { type ExportDependencies, exportSpans } from './export-spans.ts';
import { encodeExportResponse } from './respond/export-response.ts';

export interface ExportRpcDependencies extends ExportDependencies {
  spanDecoders: SpanDecoders;
  /** Uses the codes of {@link toExportError}. */
  respondExportRpcError: RespondRpcError;
}

/** The path of `TraceService/Export`. */
export const exportRpcPath = `/${TraceService.typeName}/${TraceService.method.export.name}`;

/**
 * `opentelemetry.proto.collector.trace.v1.TraceService/Export`: OTLP/gRPC, and the same over gRPC-Web and Connect. JSON
 * is OTLP/JSON (ADR 0015).
 *
 * @throws IngestError `unsupported_media_type` when the Content-Type names no protocol.
 * @throws ClientGoneError
 */
export async function exportRpc(
  dependencies: ExportRpcDependencies,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const encoding = requireRpcEncoding(request);
  try {
    const decoder = dependencies.spanDecoders.rpc(encoding);
    const { batch, headers } = await exportSpans(dependencies, request, { decoder, protocol: 'otlp-rpc' });
    sendRpcMessage(response, encoding, { headers, message: encodeExportResponse(batch, encoding) });
  } catch (thrown) {
    if (thrown instanceof ClientGoneError) throw thrown;
    await dependencies.respondExportRpcError({ request, response }, encoding, IngestError.from(thrown));
  }
}
