import { Code } from '@connectrpc/connect';
import { type ErrorId, errorTable, IngestError } from '../../../../event/errors.ts';

/**
 * The HTTP status and the gRPC code that report each error to an exporter. Exporters retry after 429, 502,
 * 503, 504 and UNAVAILABLE, and drop the spans after any other error. So every temporary error is one of
 * these, and a 500 or INTERNAL is never sent.
 */
const exportErrors: Record<ErrorId, { status: number; code: Code }> = {
  invalid_request_body: { status: 400, code: Code.InvalidArgument },
  invalid_event_batch: { status: 400, code: Code.InvalidArgument },
  unauthorized: { status: 401, code: Code.Unauthenticated },
  // Final, because it carries no RetryInfo.
  usage_limit_exceeded: { status: 402, code: Code.ResourceExhausted },
  billing_not_active: { status: 402, code: Code.FailedPrecondition },
  batch_too_large: { status: 413, code: Code.InvalidArgument },
  too_many_events: { status: 413, code: Code.InvalidArgument },
  internal_server_error: { status: 503, code: Code.Unavailable },
  ingest_unavailable: { status: 503, code: Code.Unavailable },
  not_found: { status: 404, code: Code.Unimplemented },
  method_not_allowed: { status: 405, code: Code.Unimplemented },
  unsupported_media_type: { status: 415, code: Code.InvalidArgument },
};

/** @returns `message` is human-readable, and begins with the `error.id` of the JSON API. */
export function toExportError(error: IngestError) {
  const { status, code } = exportErrors[error.id];
  // The details of an internal error mention event ids, which exporters do not have.
  const { details } = (status === 503 && errorTable[error.id].status === 500 ? unexpected : error).toBody()
    .error;
  return { status, code, isRetryable: code === Code.Unavailable, message: `${error.id}: ${details}` };
}

const unexpected = new IngestError('ingest_unavailable', 'An unexpected error occurred. Retry later.');
