import { fromBinary } from '@bufbuild/protobuf';
import { Code, ConnectError, createClient, type Transport } from '@connectrpc/connect';
import { compressionGzip, createGrpcTransport } from '@connectrpc/connect-node';
import { expect, test } from 'vitest';
import { RetryInfoSchema } from '../../gen/google/rpc/error_details_pb.ts';
import {
  ExportTraceServiceRequestSchema,
  TraceService,
} from '../../gen/opentelemetry/proto/collector/trace/v1/trace_service_pb.ts';
import { toProtobuf } from '../../harness/fixtures/spans.ts';
import { otlpBodyBytesMax } from '../../platform/limits.ts';
import type { Tenant } from '../support/pipeline.ts';
import { exchange, openSession } from '../support/protocols/http2.ts';
import { envelope } from '../support/protocols/rpc-calls.ts';
import { transports } from '../support/protocols/rpc-transports.ts';
import { readStored } from '../support/stored-events.ts';
import { usePipeline } from '../support/use-pipeline.ts';

/** `TraceService/Export` over every protocol of the port. */

const { pipeline, tenant } = usePipeline();

const chat = { 'gen_ai.operation.name': 'chat' };
const good = toProtobuf({ spans: [{ attributes: chat }, { spanId: 'a'.repeat(16) }] });
const withBadSpan = toProtobuf({ spans: [{ attributes: chat }, { attributes: chat, spanId: 'abcd' }] });

function exportOver(transport: Transport, bytes: Buffer, { apiKey }: Pick<Tenant, 'apiKey'> = tenant) {
  const request = fromBinary(ExportTraceServiceRequestSchema, bytes);
  return createClient(TraceService, transport).export(request, {
    headers: { Authorization: `Bearer ${apiKey}` },
  });
}

async function failureOf(call: Promise<unknown>): Promise<ConnectError> {
  const failure = await call.then(
    () => undefined,
    (error: unknown) => ConnectError.from(error),
  );
  if (failure === undefined) throw new Error('the call succeeded');
  return failure;
}

const grpc = () => createGrpcTransport({ baseUrl: pipeline.url });

test.each(Object.keys(transports))('spans exported over %s are stored', async (name) => {
  const own = await pipeline.createTenant();
  const transport = transports[name]?.(pipeline.url);
  if (transport === undefined) throw new Error(`there is no ${name}`);
  expect((await exportOver(transport, good, own)).partialSuccess).toBeUndefined();
  expect((await exportOver(transport, withBadSpan, own)).partialSuccess).toMatchObject({
    rejectedSpans: 1n,
    errorMessage: expect.stringContaining('no valid span id'),
  });
  expect(await readStored(pipeline, own.spaceId)).toHaveLength(1);
});

test('a compressed message is decoded', async () => {
  const transport = createGrpcTransport({
    baseUrl: pipeline.url,
    sendCompression: compressionGzip,
    compressMinBytes: 0,
  });
  expect((await exportOver(transport, good)).partialSuccess).toBeUndefined();
});

test('16 MiB are accepted, and more is a non-retryable error', async () => {
  const text = 'x'.repeat(1024 ** 2);
  const spans = (count: number) =>
    toProtobuf({
      spans: Array.from({ length: count }, (_, index) => ({
        spanId: (index + 1).toString(16).padStart(16, '0'),
        attributes: { ...chat, text },
      })),
    });
  expect((await exportOver(grpc(), spans(15))).partialSuccess).toBeUndefined();
  const tooLarge = spans(17);
  expect(tooLarge.length).toBeGreaterThan(otlpBodyBytesMax);
  const failure = await failureOf(exportOver(grpc(), tooLarge));
  expect(failure.code).toBe(Code.InvalidArgument);
  expect(failure.rawMessage).toMatch(/^batch_too_large: /);
  expect(failure.details).toEqual([]);
});

test('an invalid key, inactive billing and malformed messages get non-retryable errors', async () => {
  const unknown = await failureOf(exportOver(grpc(), good, { apiKey: 'weir_unknown' }));
  expect([unknown.code, unknown.details]).toEqual([Code.Unauthenticated, []]);
  const inactive = await pipeline.createTenant({ billingState: 'inactive' });
  expect((await failureOf(exportOver(grpc(), good, inactive))).code).toBe(Code.FailedPrecondition);
  using session = await openSession(pipeline);
  const { headers } = await exchange(session, grpcHeaders(), [envelope(Buffer.from([255]))]);
  expect(headers['grpc-status']).toBe(String(Code.InvalidArgument));
});

test('an unknown compression is UNIMPLEMENTED, so that clients retry without it', async () => {
  using session = await openSession(pipeline);
  const { headers } = await exchange(session, { ...grpcHeaders(), 'grpc-encoding': 'snappy' }, [
    envelope(good, { flags: 1 }),
  ]);
  expect(headers['grpc-status']).toBe(String(Code.Unimplemented));
  expect(headers['grpc-accept-encoding']).toContain('gzip');
});

test('an exhausted quota is RESOURCE_EXHAUSTED without RetryInfo, so clients do not retry', async () => {
  const empty = await pipeline.createTenant({ monthlyEventLimit: 0 });
  const failure = await failureOf(exportOver(grpc(), good, empty));
  expect(failure.code).toBe(Code.ResourceExhausted);
  expect(failure.findDetails(RetryInfoSchema)).toEqual([]);
});

function grpcHeaders() {
  return {
    ':method': 'POST',
    ':path': `/${TraceService.typeName}/Export`,
    'content-type': 'application/grpc',
    te: 'trailers',
    authorization: `Bearer ${tenant.apiKey}`,
  };
}
