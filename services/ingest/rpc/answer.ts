import type { IncomingMessage, ServerResponse } from 'node:http';
import { create, toBinary, toJsonString } from '@bufbuild/protobuf';
import type { ConnectError } from '@connectrpc/connect';
import { codeToHttpStatus, errorToJsonBytes } from '@connectrpc/connect/protocol-connect';
import { setTrailerStatus } from '@connectrpc/connect/protocol-grpc';
import { trailerFlag, trailerSerialize } from '@connectrpc/connect/protocol-grpc-web';
import { IngestEventsResponseSchema } from '../../../gen/weir/ingest/v1/ingest_service_pb.ts';
import { envelopeBytes } from '../../../lib/limits.ts';
import { discardBody } from '../body.ts';
import type { Receipt } from '../take-batch.ts';
import { type CallForm, contentTypeOf } from './form.ts';

/** Answers a call that succeeded, in its own protocol. */
export function sendReceipt(response: ServerResponse, form: CallForm, receipt: Receipt): void {
  const message = serialize(receipt, form);
  const headers = { ...receipt.headers, 'Content-Type': contentTypeOf(form) };
  if (form.protocol === 'connect') {
    response.writeHead(200, { ...headers, 'Content-Length': message.length });
    response.end(message);
  } else if (form.protocol === 'grpc') {
    response.writeHead(200, headers);
    response.addTrailers({ 'grpc-status': '0' });
    response.end(inEnvelope(0, message));
  } else {
    response.writeHead(200, headers);
    response.end(Buffer.concat([inEnvelope(0, message), inEnvelope(trailerFlag, webStatusOk)]));
  }
}

const webStatusOk = Buffer.from('grpc-status: 0\r\n');

/**
 * Answers a call that failed, after what is left of its request was read and thrown away: a client that is still writing
 * would see a reset instead.
 */
export async function refuseCall(
  { request, response }: { request: IncomingMessage; response: ServerResponse },
  form: CallForm,
  error: ConnectError,
): Promise<void> {
  const isWhole = await discardBody(request);
  if (!isWhole && request.httpVersionMajor === 1) response.setHeader('Connection', 'close');
  sendFailure(response, form, error);
}

function sendFailure(response: ServerResponse, form: CallForm, error: ConnectError): void {
  // Of the metadata, what begins with grpc- would not be among the trailers.
  const headers = { ...Object.fromEntries(error.metadata), 'Content-Type': contentTypeOf(form) };
  if (form.protocol === 'connect') {
    const body = errorToJsonBytes(error, undefined);
    response.writeHead(codeToHttpStatus(error.code), {
      ...headers,
      'Content-Type': 'application/json',
      'Content-Length': body.length,
    });
    response.end(body);
  } else if (form.protocol === 'grpc') {
    // There is no message, so the status goes with the headers ("Trailers-Only"). Their frame has to end the stream:
    // after writeHead an empty DATA frame would, and clients miss the trailers that ought to follow it.
    setTrailerStatus(new Headers(headers), error).forEach((value, name) => {
      response.setHeader(name, value);
    });
    response.end();
  } else {
    response.writeHead(200, headers);
    response.end(inEnvelope(trailerFlag, trailerSerialize(setTrailerStatus(new Headers(), error))));
  }
}

function serialize({ message: text }: Receipt, { isJson }: CallForm): Uint8Array {
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
