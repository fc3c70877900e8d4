import { Code, ConnectError } from '@connectrpc/connect';
import { ErrorDetailSchema } from '../../../gen/weir/ingest/v1/error_detail_pb.ts';
import { errorTable, type IngestError } from '../../../lib/errors.ts';
import { retryAfterSeconds } from '../../../lib/limits.ts';

/** An error as an RPC tells it: a code, and the JSON API's error as a typed detail. */
export function toConnectError(
  error: IngestError,
  code: Code = Code[errorTable[error.id].rpcCode],
): ConnectError {
  const { status, title } = errorTable[error.id];
  const { details } = error.toBody().error;
  const metadata = status === 503 ? { 'Retry-After': String(retryAfterSeconds) } : {};
  const detail = { desc: ErrorDetailSchema, value: { id: error.id, title, status, details } };
  return new ConnectError(details, code, metadata, [detail], error.cause);
}
