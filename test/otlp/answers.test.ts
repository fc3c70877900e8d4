import zlib from 'node:zlib';
import { Code } from '@connectrpc/connect';
import { describe, expect, test } from 'vitest';
import { type RequestInit, toOtlpJson, toProtobuf } from '../../harness/fixtures/spans.ts';
import { otlpBodyBytesMax } from '../../platform/limits.ts';
import { postEvents } from '../support/http.ts';
import { type ExportAnswer, type OtlpType, otlpTypes, postTraces } from '../support/otlp/otlp-http.ts';
import { readStored } from '../support/stored-events.ts';
import { usePipeline } from '../support/use-pipeline.ts';
import { until } from '../support/wait.ts';

/** Responses to exporters over HTTP, by the OTLP specification and ADR 0015. */

const { pipeline, tenant } = usePipeline();

const chat = { 'gen_ai.operation.name': 'chat' };
const spanId = (index: number) => (index + 1).toString(16).padStart(16, '0');
const spans = (count: number) =>
  Array.from({ length: count }, (_, index) => ({ spanId: spanId(index), attributes: chat }));

const encode = (type: OtlpType, ...requests: readonly RequestInit[]) =>
  (type === 'application/json' ? toOtlpJson : toProtobuf)(...requests);
const post = (type: OtlpType, body: Uint8Array, headers: Record<string, string> = {}, to = tenant) =>
  postTraces(pipeline, to, { type, body, headers });

function expectStatus(answer: ExportAnswer, status: number, expected: { code: Code; message: RegExp }): void {
  expect(answer.body).toEqual({ code: expected.code, message: expect.stringMatching(expected.message) });
  expect(answer.status).toBe(status);
}

describe.each(otlpTypes)('%s', (type) => {
  const good = encode(type, { spans: spans(2) });

  test('a request that is stored completely is answered with an empty message in the request encoding', async () => {
    const answer = await post(type, good);
    expect(answer).toMatchObject({ status: 200, body: {} });
    expect(answer.headers.get('content-type')).toBe(type);
    expect(answer.headers.get('weir-spans-stored')).toBe('2');
    expect(answer.headers.get('weir-spans-filtered')).toBe('0');
    if (type === 'application/x-protobuf') expect(answer.headers.get('content-length')).toBe('0');
  });

  test('spans that are not calls are answered with success and counted in a header', async () => {
    const http = { attributes: { 'http.request.method': 'GET' } };
    const answer = await post(type, encode(type, { spans: [http, { ...http, spanId: spanId(7) }] }));
    expect(answer).toMatchObject({ status: 200, body: {} });
    expect(answer.headers.get('weir-spans-filtered')).toBe('2');
    expect(await post(type, encode(type))).toMatchObject({ status: 200, body: {} });
  });

  test('calls that cannot be stored are reported as rejected, and the others are stored', async () => {
    const own = await pipeline.createTenant();
    const request = { spans: [...spans(1), { attributes: chat, spanId: 'abcd' }] };
    expect(await post(type, encode(type, request), {}, own)).toMatchObject({
      status: 200,
      body: {
        partialSuccess: {
          rejectedSpans: '1',
          errorMessage: '1 of the spans cannot be stored. The first: A span has no valid span id.',
        },
      },
    });
    expect(await readStored(pipeline, own.spaceId)).toHaveLength(1);
  });

  test.each([
    ['gzip', zlib.gzipSync],
    ['zstd', zlib.zstdCompressSync],
    ['deflate', zlib.deflateSync],
    ['br', zlib.brotliCompressSync],
  ] as const)('%s is decoded', async (encoding, compress) => {
    expect(await post(type, compress(good), { 'content-encoding': encoding })).toMatchObject({ status: 200 });
    const damaged = await post(type, compress(good).subarray(0, -4), { 'content-encoding': encoding });
    expectStatus(damaged, 400, { code: Code.InvalidArgument, message: /^invalid_request_body: .*not valid/ });
  });

  test('a request that is not OTLP gets a non-retryable error', async () => {
    for (const body of [Buffer.from('{"x'), Buffer.from([255])]) {
      expectStatus(await post(type, body), 400, {
        code: Code.InvalidArgument,
        message: /^invalid_request_body: The request/,
      });
    }
    expectStatus(await post(type, good, { 'content-encoding': 'lzma' }), 400, {
      code: Code.InvalidArgument,
      message: /Content-Encoding must be one of gzip/,
    });
  });

  test('an invalid key gets a non-retryable error', async () => {
    const answer = await post(type, good, {}, { ...tenant, apiKey: 'weir_unknown' });
    expectStatus(answer, 401, { code: Code.Unauthenticated, message: /^unauthorized: / });
    expect(answer.headers.get('content-type')).toBe(type);
    expect(answer.headers.get('www-authenticate')).toBe('Bearer');
    expect(answer.headers.get('retry-after')).toBeNull();
  });

  test('a space that cannot accept events gets a non-retryable error', async () => {
    const inactive = await pipeline.createTenant({ billingState: 'inactive' });
    expectStatus(await post(type, good, {}, inactive), 402, {
      code: Code.FailedPrecondition,
      message: /^billing_not_active: /,
    });
  });

  test('16 MiB are accepted; more is a non-retryable error, before and after decompression', async () => {
    const own = await pipeline.createTenant();
    const text = 'x'.repeat(1024 ** 2);
    const large = encode(type, {
      spans: spans(15).map((span) => ({ ...span, attributes: { ...chat, text } })),
    });
    expect(large.length).toBeGreaterThan(15 * 1024 ** 2);
    expect(await post(type, large, {}, own)).toMatchObject({ status: 200, body: {} });
    const headers = { 'content-encoding': 'gzip' };
    expect(await post(type, zlib.gzipSync(large), headers, own)).toMatchObject({ status: 200, body: {} });
    expect(await readStored(pipeline, own.spaceId)).toHaveLength(15);
    const tooLarge = Buffer.alloc(otlpBodyBytesMax + 1, ' ');
    const refusal = { code: Code.InvalidArgument, message: /^batch_too_large: .* 16777216 bytes \(16 MiB\)/ };
    expectStatus(await post(type, tooLarge), 413, refusal);
    expectStatus(await post(type, zlib.gzipSync(tooLarge), headers), 413, refusal);
  });

  test('more events than a batch may have are split into several batches and stored once each', async () => {
    const own = await pipeline.createTenant();
    const request = encode(type, { spans: spans(1_234) });
    for (let times = 0; times < 2; times++) {
      expect(await post(type, request, {}, own)).toMatchObject({ status: 200, body: {} });
    }
    const stored = await readStored(pipeline, own.spaceId);
    expect(new Set(stored.map(({ id }) => id)).size).toBe(1_234);
  });
});

test('an unsupported Content-Type gets a non-retryable error in JSON', async () => {
  for (const type of ['text/plain', 'application/proto', '']) {
    const answer = await post(type as OtlpType, toProtobuf());
    expectStatus(answer, 415, { code: Code.InvalidArgument, message: /application\/x-protobuf/ });
  }
});

test('another method is answered with 405', async () => {
  const response = await fetch(`${pipeline.url}/v1/traces`);
  expect(response.status).toBe(405);
  expect(response.headers.get('allow')).toBe('POST');
});

test('OTLP uses the quota of the space, and a request beyond it gets a non-retryable error', async () => {
  const own = await pipeline.createTenant({ monthlyEventLimit: 3 });
  const [type] = otlpTypes;
  const first = await post(type, encode(type, { spans: spans(3) }), {}, own);
  expect(first.status).toBe(200);
  expect(first.headers.get('weir-quota-limit')).toBe('3');
  expect(first.headers.get('weir-quota-reset')).toMatch(/^[1-9]\d*$/);
  await until(async () => (await postEvents(pipeline, own, [])).status === 402);
  const refused = await post(type, encode(type, { spans: spans(3) }), {}, own);
  expectStatus(refused, 402, { code: Code.ResourceExhausted, message: /^usage_limit_exceeded: / });
  expect(Number(refused.headers.get('weir-quota-reset'))).toBeGreaterThan(0);
  expect(refused.headers.get('retry-after')).toBeNull();
});
