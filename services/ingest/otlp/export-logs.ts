import type { IncomingMessage, ServerResponse } from 'node:http';
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import { IngestError } from '../../../event/errors.ts';
import { ClientGoneError } from '../body/body.ts';
import { requireRpcEncoding } from '../rpc/encoding.ts';
import { sendRpcMessage } from '../rpc/respond.ts';
import type { RespondRpcError } from '../rpc/respond-error.ts';
import type { SpanBatch } from './batch/span-batch.ts';
import type { SpanDecoders } from './decoders.ts';
import { type ExportDependencies, exportSpans } from './export-spans.ts';
import { parseHttpEncoding, type RespondExportError, sendMessage } from './respond/http-response.ts';

export interface LogsDependencies extends ExportDependencies {
  logDecoders: SpanDecoders;
  respondExportError: RespondExportError;
  respondExportRpcError: RespondRpcError;
}

/** The message of a response to records of which none describes a call. */
const notice =
  'Of logs, Weir stores records that describe a call of a model or a tool. This request has none.';

/** The gRPC path of logs. */
export const logsRpcPath = '/opentelemetry.proto.collector.logs.v1.LogsService/Export';

/**
 * `POST /v1/logs`: instrumentations of OpenTelemetry write the content of model calls to logs. Their records become part of the events of
 * their spans (ADR 15); others are not stored.
 *
 * @throws ClientGoneError
 */
export async function exportLogs(
  dependencies: LogsDependencies,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const encoding = parseHttpEncoding(request.headers['content-type'] ?? '') ?? { isJson: true };
  try {
    const decoder = dependencies.logDecoders.http(encoding);
    const { batch, headers } = await exportSpans(dependencies, request, { decoder, protocol: 'otlp-http' });
    sendMessage(response, encoding, { status: 200, headers, message: encodeAnswer(batch, encoding) });
  } catch (thrown) {
    if (thrown instanceof ClientGoneError) throw thrown;
    await dependencies.respondExportError({ request, response }, encoding, IngestError.from(thrown));
  }
}

/** The same over gRPC, gRPC-Web and Connect. */
export async function exportLogsRpc(
  dependencies: LogsDependencies,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const encoding = requireRpcEncoding(request);
  try {
    const decoder = dependencies.logDecoders.rpc(encoding);
    const { batch, headers } = await exportSpans(dependencies, request, { decoder, protocol: 'otlp-rpc' });
    sendRpcMessage(response, encoding, { headers, message: encodeAnswer(batch, encoding) });
  } catch (thrown) {
    if (thrown instanceof ClientGoneError) throw thrown;
    await dependencies.respondExportRpcError({ request, response }, encoding, IngestError.from(thrown));
  }
}

/**
 * An ExportLogsServiceResponse: `partial_success { rejected_log_records, error_message }`. A request without records of calls gets a
 * message, which is a warning in OTLP.
 */
function encodeAnswer({ counts, rejection }: SpanBatch, { isJson }: { isJson: boolean }): Uint8Array {
  const { stored, rejected } = counts;
  if (rejected === 0 && stored > 0) return isJson ? Buffer.from('{}') : Buffer.alloc(0);
  const errorMessage = rejection ?? notice;
  if (isJson) {
    const rejectedLogRecords = rejected === 0 ? undefined : String(rejected);
    return Buffer.from(JSON.stringify({ partialSuccess: { rejectedLogRecords, errorMessage } }));
  }
  const partialSuccess = new BinaryWriter();
  if (rejected > 0) partialSuccess.tag(1, WireType.Varint).int64(rejected);
  partialSuccess.tag(2, WireType.LengthDelimited).string(errorMessage);
  return new BinaryWriter().tag(1, WireType.LengthDelimited).bytes(partialSuccess.finish()).finish();
}
