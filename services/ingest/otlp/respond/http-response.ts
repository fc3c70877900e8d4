import type { IncomingMessage, ServerResponse } from 'node:http';
import { create, toBinary, toJsonString } from '@bufbuild/protobuf';
import type { IngestError } from '../../../../event/errors.ts';
import { StatusSchema } from '../../../../gen/google/rpc/status_pb.ts';
import type { AnswerAfterBody } from '../../../../platform/http/unread-body.ts';
import { secondsToMonthEnd } from '../../../../store/accounts/month.ts';
import { retryAfterSeconds } from '../../limits.ts';
import type { FailureLog } from '../../respond/failure-log.ts';
import { toExportError } from './export-error.ts';

/** The two forms of OTLP/HTTP. A response has the Content-Type of its request. */
export interface HttpEncoding {
  readonly isJson: boolean;
}

const contentTypes = /^application\/(?:(json)|x-protobuf|protobuf)[ \t]*(?:;.*)?$/i;

/** @returns undefined for a Content-Type that OTLP/HTTP does not have. */
export function parseHttpEncoding(contentType: string): HttpEncoding | undefined {
  const match = contentTypes.exec(contentType);
  return match === null ? undefined : { isJson: match[1] !== undefined };
}

/** Sends a message of OTLP/HTTP. */
export function sendMessage(
  response: ServerResponse,
  { isJson }: HttpEncoding,
  { status, message, headers }: { status: number; message: Uint8Array; headers: Record<string, string> },
): void {
  response.writeHead(status, {
    ...headers,
    'Content-Type': isJson ? 'application/json' : 'application/x-protobuf',
    'Content-Length': message.length,
  });
  response.end(message);
}

/** Logs an error and sends it as a google.rpc.Status, once the rest of the request's body is read. */
export type RespondExportError = (
  exchange: { request: IncomingMessage; response: ServerResponse },
  encoding: HttpEncoding,
  error: IngestError,
) => Promise<void>;

export function createRespondExportError(options: {
  answerAfterBody: AnswerAfterBody;
  failures: FailureLog;
}): RespondExportError {
  const { answerAfterBody, failures } = options;
  return ({ request, response }, encoding, error) => {
    failures.note(error);
    const { status, code, message, isRetryable } = toExportError(error);
    const headers = {
      ...(error.id === 'usage_limit_exceeded' && {
        'Weir-Quota-Reset': String(secondsToMonthEnd(Date.now())),
      }),
      ...(isRetryable && { 'Retry-After': String(retryAfterSeconds) }),
      ...(status === 401 && { 'WWW-Authenticate': 'Bearer' }),
    };
    return answerAfterBody(request, response, () =>
      sendMessage(response, encoding, {
        status,
        headers,
        message: encodeStatus({ code, message }, encoding),
      }),
    );
  };
}

function encodeStatus(init: { code: number; message: string }, { isJson }: HttpEncoding): Uint8Array {
  const status = create(StatusSchema, init);
  return isJson ? Buffer.from(toJsonString(StatusSchema, status)) : toBinary(StatusSchema, status);
}
