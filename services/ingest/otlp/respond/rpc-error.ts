import { Code, ConnectError } from '@connectrpc/connect';
import type { IngestError } from '../../../../event/errors.ts';
import { RetryInfoSchema } from '../../../../gen/google/rpc/error_details_pb.ts';
import { retryAfterSeconds } from '../../limits.ts';
import type { RpcEncoding } from '../../rpc/encoding.ts';
import { toConnectError } from '../../rpc/error.ts';
import { toExportError } from './export-error.ts';

/**
 * Converts an error for a call of TraceService: UNAVAILABLE with RetryInfo for temporary errors, a final code
 * for all others.
 */
export function toExportConnectError(error: IngestError, encoding: RpcEncoding): ConnectError {
  const { code, message, isRetryable } = toExportError(error);
  // An unknown compression is UNIMPLEMENTED: clients then retry without compression.
  const { metadata, code: rpcCode } = toConnectError(error, encoding);
  const converted = new ConnectError(message, rpcCode === Code.Unimplemented ? rpcCode : code, metadata);
  if (!isRetryable) return converted;
  converted.metadata.set('Retry-After', String(retryAfterSeconds));
  const retryDelay = { seconds: BigInt(retryAfterSeconds) };
  converted.details.push({ desc: RetryInfoSchema, value: { retryDelay } });
  return converted;
}
