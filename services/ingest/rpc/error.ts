import { Code, ConnectError } from '@connectrpc/connect';
import { ErrorDetailSchema } from '../../../gen/weir/ingest/v1/error_detail_pb.ts';
import { contentEncodings } from '../../../lib/content-encoding.ts';
import { errorTable, type IngestError } from '../../../lib/errors.ts';
import { retryAfterSeconds } from '../../../lib/limits.ts';
import type { CallForm } from './form.ts';

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

/**
 * The same for a compression that is not known here. gRPC has a code of its own for it, by which clients send again
 * uncompressed. In Connect that code is a 501, and a client's mistake is never a 5xx.
 */
export function unknownEncoding(error: IngestError, { protocol }: CallForm): ConnectError {
  const isConnect = protocol === 'connect';
  const failure = toConnectError(error, isConnect ? undefined : Code.Unimplemented);
  failure.metadata.set(isConnect ? 'Accept-Encoding' : 'grpc-accept-encoding', contentEncodings.join(','));
  return failure;
}
