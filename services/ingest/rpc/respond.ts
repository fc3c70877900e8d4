import type { IncomingMessage, ServerResponse } from 'node:http';
import { create, toBinary, toJsonString } from '@bufbuild/protobuf';
import type { ConnectError } from '@connectrpc/connect';
import { codeToHttpStatus, errorToJsonBytes } from '@connectrpc/connect/protocol-connect';
import { setTrailerStatus } from '@connectrpc/connect/protocol-grpc';
import { trailerFlag, trailerSerialize } from '@connectrpc/connect/protocol-grpc-web';
import type { IngestError } from '../../../event/errors.ts';
import { IngestEventsResponseSchema } from '../../../gen/weir/ingest/v1/ingest_service_pb.ts';
import type { AnswerAfterBody } from '../../../platform/http/unread-body.ts';
import { envelopeBytes } from '../../../platform/limits.ts';
import type { Receipt } from '../ingest-batch.ts';
import type { FailureLog } from '../respond/failure-log.ts';
import { contentTypeOf, type RpcEncoding } from './encoding.ts';
import { toConnectError } from './error.ts';

/** Sends the response of a successful call, in the protocol of the call. */
export function sendRpcMessage(
  response: ServerResponse,
  encoding: RpcEncoding,
  { headers: ofAnswer, message }: { headers: Record<string, string>; message: Uint8Array },
): void {
  const headers = { ...ofAnswer, 'Content-Type': contentTypeOf(encoding) };
  if (encoding.protocol === 'connect') {
    response.writeHead(200, { ...headers, 'Content-Length': message.length });
    response.end(message);
  } else if (encoding.protocol === 'grpc') {
    response.writeHead(200, headers);
    response.addTrailers({ 'grpc-status': '0' });
    response.end(inEnvelope(0, message));
  } else {
    response.writeHead(200, headers);
    response.end(Buffer.concat([inEnvelope(0, message), inEnvelope(trailerFlag, webStatusOk)]));
  }
}

const webStatusOk = Buffer.from('grpc-status: 0\r\n');

/** Logs an error and sends it in the call's protocol, once the rest of the request's body is read. */
export type RespondRpcError = (
  exchange: { request: IncomingMessage; response: ServerResponse },
  encoding: RpcEncoding,
  error: IngestError,
) => Promise<void>;

export function createRespondRpcError(
  answerAfterBody: AnswerAfterBody,
  failures: FailureLog,
): RespondRpcError {
  return ({ request, response }, encoding, error) => {
    failures.note(error);
    return answerAfterBody(request, response, () =>
      sendRpcError(response, encoding, toConnectError(error, encoding)),
    );
  };
}

/** Sends the error of a failed call, in the protocol of the call. */
export function sendRpcError(response: ServerResponse, encoding: RpcEncoding, error: ConnectError): void {
  // Send the metadata as headers and leave it out of the trailers.
  const headers = { ...Object.fromEntries(error.metadata), 'Content-Type': contentTypeOf(encoding) };
  if (encoding.protocol === 'connect') {
    const body = errorToJsonBytes(error, undefined);
    response.writeHead(codeToHttpStatus(error.code), {
      ...headers,
      'Content-Type': 'application/json',
      'Content-Length': body.length,
    });
    response.end(body);
  } else if (encoding.protocol === 'grpc') {
    // "Trailers-Only": the status is in the headers, whose frame must end the stream. Do not call writeHead:
    // an empty DATA frame would end the stream instead, and clients would expect trailers.
    setTrailerStatus(new Headers(headers), error).forEach((value, name) => {
      response.setHeader(name, value);
    });
    response.end();
  } else {
    response.writeHead(200, headers);
    response.end(inEnvelope(trailerFlag, trailerSerialize(setTrailerStatus(new Headers(), error))));
  }
}

/** The message of a successful call of IngestEvents. */
export function serialize({ message: text }: Receipt, { isJson }: RpcEncoding): Uint8Array {
  const message = create(IngestEventsResponseSchema, { message: text });
  return isJson
    ? Buffer.from(toJsonString(IngestEventsResponseSchema, message))
    : toBinary(IngestEventsResponseSchema, message);
}

function inEnvelope(flags: number, message: Uint8Array): Buffer {
  const head = Buffer.alloc(envelopeBytes);
  head.writeUInt8(flags, 0);
  head.writeUInt32BE(message.length, 1);
  return Buffer.concat([head, message]);
}
