import { Code, ConnectError } from '@connectrpc/connect';
import { errorTable, type IngestError } from '../../../event/errors.ts';
import { ErrorDetailSchema } from '../../../gen/weir/ingest/v1/error_detail_pb.ts';
import { secondsToMonthEnd } from '../../../store/accounts/month.ts';
import { contentEncodings, UnknownEncodingError } from '../body/decode.ts';
import { retryAfterSeconds } from '../limits.ts';
import type { RpcEncoding } from './encoding.ts';

/** Converts an error for a call: a code, and the error of the JSON API as a typed detail. */
export function toConnectError(error: IngestError, { protocol }: RpcEncoding): ConnectError {
  const { status, title, rpcCode } = errorTable[error.id];
  const { details } = error.toBody().error;
  const detail = { desc: ErrorDetailSchema, value: { id: error.id, title, status, details } };
  const isUnknownEncoding = error instanceof UnknownEncodingError;
  const known = contentEncodings.join(',');
  const metadata = {
    ...(error.id === 'usage_limit_exceeded' && { 'Weir-Quota-Reset': String(secondsToMonthEnd(Date.now())) }),
    ...(status === 503 && { 'Retry-After': String(retryAfterSeconds) }),
    ...(isUnknownEncoding && {
      [protocol === 'connect' ? 'Accept-Encoding' : 'grpc-accept-encoding']: known,
    }),
  };
  // After UNIMPLEMENTED, gRPC clients retry without compression. In Connect that code is a 501, but a
  // client's error must never be a 5xx.
  const code = isUnknownEncoding && protocol !== 'connect' ? Code.Unimplemented : Code[rpcCode];
  return new ConnectError(details, code, metadata, [detail], error.cause);
}
