import type { IncomingMessage, ServerResponse } from 'node:http';
import { IngestError } from '../../../event/errors.ts';
import { ClientGoneError } from '../body/body.ts';
import type { SpanDecoders } from './decoders.ts';
import { type ExportDependencies, exportSpans } from './export-spans.ts';
import { encodeExportResponse } from './respond/export-response.ts';
import {
  type HttpEncoding,
  parseHttpEncoding,
  type RespondExportError,
  sendMessage,
} from './respond/http-response.ts';

export interface TracesDependencies extends ExportDependencies {
  spanDecoders: SpanDecoders;
  respondExportError: RespondExportError;
}

/** Default encoding when Content-Type is missing or unknown: JSON is readable. */
const readable: HttpEncoding = { isJson: true };

/**
 * `POST /v1/traces`: OTLP/HTTP, in protobuf and in JSON (ADR 0015).
 *
 * @throws ClientGoneError
 */
export async function exportTraces(
  dependencies: TracesDependencies,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const encoding = parseHttpEncoding(request.headers['content-type'] ?? '');
  try {
    if (encoding === undefined) {
      throw new IngestError(
        'unsupported_media_type',
        'The Content-Type must be application/x-protobuf or application/json.',
      );
    }
    const decoder = dependencies.spanDecoders.http(encoding);
    const { batch, headers } = await exportSpans(dependencies, request, { decoder, protocol: 'otlp-http' });
    sendMessage(response, encoding, { status: 200, headers, message: encodeExportResponse(batch, encoding) });
  } catch (thrown) {
    if (thrown instanceof ClientGoneError) throw thrown;
    const error = IngestError.from(thrown);
    await dependencies.respondExportError({ request, response }, encoding ?? readable, error);
  }
}
