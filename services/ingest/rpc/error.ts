import { Code, ConnectError } from '@connectrpc/connect';
import { ErrorDetailSchema } from '../../../gen/weir/ingest/v1/error_detail_pb.ts';
import { contentEncodings } from '../../../lib/content-encoding.ts';
import { errorTable, type IngestError } from '../../../lib/errors.ts';
import { retryAfterSeconds } from '../../../lib/limits.ts';
import { UnknownEncodingError } from '../decode.ts';
import type { CallForm } from './form.ts';

/** An error as a call of that form is told it: a code, and the JSON API's error as a typed detail. */
export function toConnectError(error: IngestError, { protocol }: CallForm): ConnectError {
  const { status, title, rpcCode } = errorTable[error.id];
  const { details } = error.toBody().error;
  const detail = { desc: ErrorDetailSchema, value: { id: error.id, title, status, details } };
  const isUnknownEncoding = error instanceof UnknownEncodingError;
  const known = contentEncodings.join(',');
  const metadata = {
    ...(status === 503 && { 'Retry-After': String(retryAfterSeconds) }),
    ...(isUnknownEncoding && {
      [protocol === 'connect' ? 'Accept-Encoding' : 'grpc-accept-encoding']: known,
    }),
  };
  // gRPC has a code of its own for it, by which clients send again uncompressed. In Connect that code is a 501, and a
  // client's mistake is never a 5xx.
  const code = isUnknownEncoding && protocol !== 'connect' ? Code.Unimplemented : Code[rpcCode];
  return new ConnectError(details, code, metadata, [detail], error.cause);
}
