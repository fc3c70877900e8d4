import { Code, ConnectError, createClient, type Transport } from '@connectrpc/connect';
import {
  createConnectTransport,
  createGrpcTransport,
  createGrpcWebTransport,
} from '@connectrpc/connect-node';
import type { ErrorId } from '../../../event/errors.ts';
import { ErrorDetailSchema } from '../../../gen/weir/ingest/v1/error_detail_pb.ts';
import { IngestService } from '../../../gen/weir/ingest/v1/ingest_service_pb.ts';
import type { EventInit } from './message.ts';

/** The outcome of a call, in the same form for all protocols. */
export type Outcome = { message: string } | { id: ErrorId; status: number; details: string; code: string };

/** Every way of calling the RPC: protocol, message encoding, HTTP version. */
export const transports: Record<string, (baseUrl: string) => Transport> = {
  'Connect, binary, HTTP/1.1': (baseUrl) =>
    createConnectTransport({ baseUrl, httpVersion: '1.1', useBinaryFormat: true }),
  'Connect, JSON, HTTP/1.1': (baseUrl) =>
    createConnectTransport({ baseUrl, httpVersion: '1.1', useBinaryFormat: false }),
  'Connect, binary, HTTP/2': (baseUrl) =>
    createConnectTransport({ baseUrl, httpVersion: '2', useBinaryFormat: true }),
  'Connect, JSON, HTTP/2': (baseUrl) =>
    createConnectTransport({ baseUrl, httpVersion: '2', useBinaryFormat: false }),
  'gRPC, binary': (baseUrl) => createGrpcTransport({ baseUrl, useBinaryFormat: true }),
  'gRPC, JSON': (baseUrl) => createGrpcTransport({ baseUrl, useBinaryFormat: false }),
  'gRPC-Web, binary, HTTP/1.1': (baseUrl) =>
    createGrpcWebTransport({ baseUrl, httpVersion: '1.1', useBinaryFormat: true }),
  'gRPC-Web, JSON, HTTP/1.1': (baseUrl) =>
    createGrpcWebTransport({ baseUrl, httpVersion: '1.1', useBinaryFormat: false }),
  'gRPC-Web, binary, HTTP/2': (baseUrl) =>
    createGrpcWebTransport({ baseUrl, httpVersion: '2', useBinaryFormat: true }),
  'gRPC-Web, JSON, HTTP/2': (baseUrl) =>
    createGrpcWebTransport({ baseUrl, httpVersion: '2', useBinaryFormat: false }),
};

/** Calls the RPC and returns its outcome. */
export async function callIngest(
  transport: Transport,
  apiKey: string,
  events: readonly EventInit[],
): Promise<Outcome> {
  const headers = { Authorization: `Bearer ${apiKey}` };
  try {
    const { message } = await createClient(IngestService, transport).ingestEvents(
      { events: [...events] },
      { headers },
    );
    return { message };
  } catch (thrown) {
    const error = ConnectError.from(thrown);
    const [detail] = error.findDetails(ErrorDetailSchema);
    if (detail === undefined) throw error;
    return {
      id: detail.id as ErrorId,
      status: detail.status,
      details: detail.details,
      code: Code[error.code],
    };
  }
}
