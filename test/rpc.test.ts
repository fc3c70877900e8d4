import { randomUUID } from 'node:crypto';
import type { MessageInitShape } from '@bufbuild/protobuf';
import { Code, ConnectError, createClient, type Transport } from '@connectrpc/connect';
import {
  createConnectTransport,
  createGrpcTransport,
  createGrpcWebTransport,
} from '@connectrpc/connect-node';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ErrorDetailSchema } from '../gen/weir/ingest/v1/error_detail_pb.ts';
import type { EventSchema } from '../gen/weir/ingest/v1/event_pb.ts';
import { IngestService } from '../gen/weir/ingest/v1/ingest_service_pb.ts';
import { type Pipeline, startPipeline, type Tenant } from './support/pipeline.ts';

let pipeline: Pipeline;
let tenant: Tenant;
beforeAll(async () => {
  pipeline = await startPipeline();
  tenant = await pipeline.createTenant();
});
afterAll(() => pipeline[Symbol.asyncDispose]());

const transports: [string, (baseUrl: string) => Transport][] = [
  [
    'Connect, binary, HTTP/1.1',
    (baseUrl) => createConnectTransport({ baseUrl, httpVersion: '1.1', useBinaryFormat: true }),
  ],
  [
    'Connect, JSON, HTTP/1.1',
    (baseUrl) => createConnectTransport({ baseUrl, httpVersion: '1.1', useBinaryFormat: false }),
  ],
  [
    'Connect, binary, HTTP/2',
    (baseUrl) => createConnectTransport({ baseUrl, httpVersion: '2', useBinaryFormat: true }),
  ],
  [
    'Connect, JSON, HTTP/2',
    (baseUrl) => createConnectTransport({ baseUrl, httpVersion: '2', useBinaryFormat: false }),
  ],
  ['gRPC, binary', (baseUrl) => createGrpcTransport({ baseUrl, useBinaryFormat: true })],
  ['gRPC, JSON', (baseUrl) => createGrpcTransport({ baseUrl, useBinaryFormat: false })],
  [
    'gRPC-Web, binary, HTTP/1.1',
    (baseUrl) => createGrpcWebTransport({ baseUrl, httpVersion: '1.1', useBinaryFormat: true }),
  ],
  [
    'gRPC-Web, binary, HTTP/2',
    (baseUrl) => createGrpcWebTransport({ baseUrl, httpVersion: '2', useBinaryFormat: true }),
  ],
  [
    'gRPC-Web, JSON, HTTP/1.1',
    (baseUrl) => createGrpcWebTransport({ baseUrl, httpVersion: '1.1', useBinaryFormat: false }),
  ],
];

describe.each(transports)('%s', (_, open) => {
  const event = (): MessageInitShape<typeof EventSchema> => ({
    id: randomUUID(),
    startTimeMs: 1,
    endTimeMs: 2,
    durationMs: 1,
    status: { state: 1 },
    instrumentation: { vendor: 'weir', source: 'a', sourcePackage: 'b' },
    context: {},
    additionalProperties: { a: 1, b: 'x' },
    payload: {
      case: 'llm' as const,
      value: { model: 'm', input: { prompt: 'hello' }, extra: { temperature: 0.2 } },
    },
  });
  test('a batch is taken', async () => {
    const client = createClient(IngestService, open(pipeline.url));
    const answer = await client.ingestEvents(
      { events: [event()] },
      { headers: { Authorization: `Bearer ${tenant.apiKey}` } },
    );
    expect(answer.message).toBe('Queued 1 event.');
  });
  test('a bad one is refused', async () => {
    const client = createClient(IngestService, open(pipeline.url));
    const failure = await client
      .ingestEvents(
        { events: [{ ...event(), id: 'x' }] },
        { headers: { Authorization: `Bearer ${tenant.apiKey}` } },
      )
      .catch((error) => ConnectError.from(error));
    expect(failure).toMatchObject({ code: Code.InvalidArgument });
    expect((failure as ConnectError).findDetails(ErrorDetailSchema)).toMatchObject([
      { id: 'invalid_event_batch', status: 400 },
    ]);
  });
});
