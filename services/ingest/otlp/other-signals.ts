import type { IncomingMessage, ServerResponse } from 'node:http';
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import { IngestError } from '../../../event/errors.ts';
import type { AnswerAfterBody } from '../../../platform/http/unread-body.ts';
import type { ApiKeyCache } from '../admit/api-key-cache.ts';
import { authenticateExporter } from '../admit/authenticate.ts';
import { ClientGoneError } from '../body/body.ts';
import { requireRpcEncoding } from '../rpc/encoding.ts';
import { sendRpcMessage } from '../rpc/respond.ts';
import type { RespondRpcError } from '../rpc/respond-error.ts';
import { parseHttpEncoding, type RespondExportError, sendMessage } from './respond/http-response.ts';

export interface OtherSignalDependencies {
  apiKeyCache: ApiKeyCache;
  answerAfterBody: AnswerAfterBody;
  respondExportError: RespondExportError;
  respondExportRpcError: RespondRpcError;
}

/** The message of a response to metrics. */
const notice = 'Weir does not store metrics.';

/** The gRPC path of metrics, which are not stored. */
export const metricsRpcPath = '/opentelemetry.proto.collector.metrics.v1.MetricsService/Export';

/**
 * `POST /v1/metrics`. An error would appear every minute in the log of each program that exports all signals
 * to one endpoint. So the response is a partial success that rejects nothing and has a message, which is a warning in OTLP.
 *
 * @throws ClientGoneError
 */
export async function refuseSignal(
  dependencies: OtherSignalDependencies,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const encoding = parseHttpEncoding(request.headers['content-type'] ?? '') ?? { isJson: true };
  try {
    await authenticateExporter(request, dependencies.apiKeyCache);
    const message = encodeNotice(encoding);
    await dependencies.answerAfterBody(request, response, () =>
      sendMessage(response, encoding, { status: 200, headers: {}, message }),
    );
  } catch (thrown) {
    if (thrown instanceof ClientGoneError) throw thrown;
    await dependencies.respondExportError({ request, response }, encoding, IngestError.from(thrown));
  }
}

/** The same over gRPC, gRPC-Web and Connect. */
export async function refuseSignalRpc(
  dependencies: OtherSignalDependencies,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const encoding = requireRpcEncoding(request);
  try {
    await authenticateExporter(request, dependencies.apiKeyCache);
    const message = encodeNotice(encoding);
    await dependencies.answerAfterBody(request, response, () =>
      sendRpcMessage(response, encoding, { headers: {}, message }),
    );
  } catch (thrown) {
    if (thrown instanceof ClientGoneError) throw thrown;
    await dependencies.respondExportRpcError({ request, response }, encoding, IngestError.from(thrown));
  }
}

/** `partial_success { error_message }` of ExportMetricsServiceResponse. */
function encodeNotice({ isJson }: { isJson: boolean }): Uint8Array {
  if (isJson) return Buffer.from(JSON.stringify({ partialSuccess: { errorMessage: notice } }));
  const partialSuccess = new BinaryWriter().tag(2, WireType.LengthDelimited).string(notice).finish();
  return new BinaryWriter().tag(1, WireType.LengthDelimited).bytes(partialSuccess).finish();
}
