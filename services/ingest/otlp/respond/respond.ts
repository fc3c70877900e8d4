import type { IncomingMessage, ServerResponse } from 'node:http';
import { create, toBinary, toJsonString } from '@bufbuild/protobuf';
import type { IngestError } from '../../../../event/errors.ts';
import { StatusSchema } from '../../../../gen/google/rpc/status_pb.ts';
import type { AnswerAfterBody } from '../../../../platform/http/unread-body.ts';
import { secondsToMonthEnd } from '../../../../store/accounts/month.ts';
import { retryAfterSeconds } from '../../limits.ts';
import type { FailureLog } from '../../respond/failure-log.ts';
import { sendRpcError, sendRpcMessage } from '../../rpc/respond.ts';
import type { ExportEncoding, HttpEncoding } from './encoding.ts';
import { toExportError } from './export-error.ts';
import { toExportConnectError } from './rpc-error.ts';

/** Sends a message in the protocol of its request. @param status over HTTP; an RPC has its own. */
export function sendMessage(
  response: ServerResponse,
  encoding: ExportEncoding,
  { status, message, headers }: { status: number; message: Uint8Array; headers: Record<string, string> },
): void {
  if (encoding.protocol !== 'http') {
    sendRpcMessage(response, encoding, { message, headers });
    return;
  }
  response.writeHead(status, {
    ...headers,
    'Content-Type': encoding.isJson ? 'application/json' : 'application/x-protobuf',
    'Content-Length': message.length,
  });
  response.end(message);
}

/**
 * Logs an error and sends it with the codes that exporters retry, once the rest of the request's body is
 * read.
 */
export type RespondExportError = (
  exchange: { request: IncomingMessage; response: ServerResponse },
  encoding: ExportEncoding,
  error: IngestError,
) => Promise<void>;

export function createRespondExportError(
  answerAfterBody: AnswerAfterBody,
  failures: FailureLog,
): RespondExportError {
  return ({ request, response }, encoding, error) => {
    failures.note(error);
    return answerAfterBody(request, response, () => {
      if (encoding.protocol === 'http') sendStatus(response, encoding, error);
      else sendRpcError(response, encoding, toExportConnectError(error, encoding));
    });
  };
}

/** Sends a google.rpc.Status. */
function sendStatus(response: ServerResponse, encoding: HttpEncoding, error: IngestError): void {
  const { status, code, message: reason, isRetryable } = toExportError(error);
  const headers = {
    ...(error.id === 'usage_limit_exceeded' && {
      'Weir-Quota-Reset': String(secondsToMonthEnd(Date.now())),
    }),
    ...(isRetryable && { 'Retry-After': String(retryAfterSeconds) }),
    ...(status === 401 && { 'WWW-Authenticate': 'Bearer' }),
  };
  const rpcStatus = create(StatusSchema, { code, message: reason });
  const message = encoding.isJson
    ? Buffer.from(toJsonString(StatusSchema, rpcStatus))
    : toBinary(StatusSchema, rpcStatus);
  sendMessage(response, encoding, { status, headers, message });
}
