import { describe, expect, test } from 'vitest';
import { toJsonLogs, toProtobufLogs } from '../../harness/fixtures/logs.ts';
import { toOtlpJson, toProtobuf } from '../../harness/fixtures/spans.ts';
import { listSenders } from '../../store/senders.ts';
import { readStored } from '../support/stored-events.ts';
import { usePipeline } from '../support/use-pipeline.ts';
import { until } from '../support/wait.ts';

/* A sender built for another system only changes its endpoint and its key. */

const { pipeline, tenant } = usePipeline();

let spans = 0;
const body = () => {
  const spanId = (++spans).toString(16).padStart(16, '0');
  return toProtobuf({ spans: [{ spanId, attributes: { 'gen_ai.operation.name': 'chat' } }] });
};
const protobuf = { 'content-type': 'application/x-protobuf' };
const post = (path: string, headers: Record<string, string>, sent: Uint8Array = body()) =>
  fetch(`${pipeline.url}${path}`, {
    method: 'POST',
    headers: { ...protobuf, ...headers },
    body: Buffer.from(sent),
  });
const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`;

describe('the key', () => {
  const forms: [string, (key: string) => Record<string, string>][] = [
    ['Bearer KEY', (key) => ({ authorization: `Bearer ${key}` })],
    ['Bearer%20KEY', (key) => ({ authorization: `Bearer%20${key}` })],
    ['a bare key', (key) => ({ authorization: key })],
    ['Basic, as the password', (key) => ({ authorization: basic(`pk-lf-1:${key}`) })],
    ['Basic, as the user', (key) => ({ authorization: basic(`${key}:sk-lf-1`) })],
    ['x-api-key', (key) => ({ 'x-api-key': key })],
    ['api_key', (key) => ({ api_key: key })],
    ['api-key', (key) => ({ 'api-key': key })],
    ['two headers with one key', (key) => ({ 'x-api-key': key, authorization: `Bearer ${key}` })],
  ];

  test.each(forms)('%s', async (_, headersOf) => {
    const own = await pipeline.createTenant();
    expect((await post('/v1/traces', headersOf(own.apiKey))).status).toBe(200);
    expect(await readStored(pipeline, own.spaceId)).toHaveLength(1);
  });

  test('two different keys, an invalid key, no key', async () => {
    const other = await pipeline.createTenant();
    const refused = [
      { authorization: basic(`${tenant.apiKey}:${other.apiKey}`) },
      { authorization: `Bearer ${tenant.apiKey}`, 'x-api-key': other.apiKey },
      { authorization: `Bearer ${tenant.apiKey.slice(0, -1)}` },
      { authorization: basic('pk-lf-1:sk-lf-1') },
      {},
    ];
    for (const headers of refused) expect((await post('/v1/traces', headers)).status).toBe(401);
  });

  test('the JSON endpoint accepts only the form of its contract', async () => {
    for (const headers of [{ 'x-api-key': tenant.apiKey }, { authorization: tenant.apiKey }]) {
      const answer = await fetch(`${pipeline.url}/v1/ingest-events`, {
        method: 'POST',
        headers,
        body: '{"events":[]}',
      });
      expect(answer.status).toBe(401);
    }
  });
});

const key = () => ({ authorization: `Bearer ${tenant.apiKey}` });

test.each([
  '/api/public/otel/v1/traces',
  '/otel/v1/traces',
  '/api/v1/otel/v1/traces',
  '/v1/traces/',
  '//v1//traces',
])('spans are taken at %s', async (path) => {
  const answer = await post(path, key());
  expect([answer.status, answer.headers.get('weir-spans-stored')]).toEqual([200, '1']);
});

test('an unknown path is answered in the encoding of the request', async () => {
  const answer = await post('/api/public/otel/traces', key());
  expect(answer.status).toBe(404);
  expect(answer.headers.get('content-type')).toBe('application/x-protobuf');
  const json = await post('/nothing', { ...key(), 'content-type': 'application/json' }, Buffer.from('{}'));
  expect(await json.json()).toMatchObject({ error: { id: 'not_found' } });
});

describe.each([
  { signal: 'metrics', notice: 'Weir does not store metrics.' },
  {
    signal: 'logs',
    notice: 'Of logs, Weir stores records that describe a call of a model or a tool. This request has none.',
  },
])('$signal', ({ signal, notice }) => {
  const path = `/v1/${signal}`;

  test('are answered with success and a message that they are not stored', async () => {
    const answer = await post(path, { ...key(), 'content-type': 'application/json' }, toOtlpJson());
    expect(answer.status).toBe(200);
    expect(await answer.json()).toEqual({ partialSuccess: { errorMessage: notice } });
    const unread = signal === 'logs' ? toProtobuf() : Buffer.alloc(100_000);
    const binary = await post(path, key(), unread);
    // Field 1 of the response is partial_success, whose field 2 is error_message.
    const text = Buffer.from(notice);
    const expected = Buffer.concat([Buffer.from([0x0a, text.length + 2, 0x12, text.length]), text]);
    expect(Buffer.from(await binary.arrayBuffer())).toEqual(expected);
  });

  test('need a key, like all signals', async () => {
    expect((await post(path, {})).status).toBe(401);
  });

  test('over gRPC-Web too', async () => {
    const service = signal === 'logs' ? 'logs.v1.LogsService' : 'metrics.v1.MetricsService';
    const rpc = `/opentelemetry.proto.collector.${service}/Export`;
    const envelope = Buffer.from([0, 0, 0, 0, 0]);
    const answer = await post(rpc, { ...key(), 'content-type': 'application/grpc-web+proto' }, envelope);
    const text = Buffer.from(await answer.arrayBuffer()).toString('latin1');
    expect([answer.status, text]).toEqual([200, expect.stringContaining('grpc-status: 0')]);
    expect(text).toContain(notice);
    const refused = await post(rpc, { 'content-type': 'application/grpc-web+proto' }, envelope);
    expect(Buffer.from(await refused.arrayBuffer()).toString('latin1')).toContain('grpc-status: 16');
  });
});

test('who sends logs is a sender, over each transport and in each encoding', async () => {
  const own = await pipeline.createTenant();
  const headers = { authorization: `Bearer ${own.apiKey}` };
  const records = [
    {
      traceId: '0af7651916cd43dd8448eb211c80319c',
      spanId: 'b7ad6b7169203331',
      eventName: 'gen_ai.client.inference.operation.details',
      attributes: { 'gen_ai.operation.name': 'chat', 'gen_ai.request.model': 'gpt-4o' },
    },
  ];
  const rpc = '/opentelemetry.proto.collector.logs.v1.LogsService/Export';
  const requests = [
    ['/v1/logs', 'application/x-protobuf', toProtobufLogs(records, 'http-protobuf')],
    ['/v1/logs', 'application/json', toJsonLogs(records, 'http-json')],
    [rpc, 'application/proto', toProtobufLogs(records, 'rpc-protobuf')],
    [rpc, 'application/json', toJsonLogs(records, 'rpc-json')],
  ] as const;
  for (const [path, type, body] of requests)
    expect((await post(path, { ...headers, 'content-type': type }, body)).status).toBe(200);
  const list = async () => listSenders(pipeline.database, own.spaceId);
  await until(async () => (await list()).length === requests.length);
  expect((await list()).map(({ service, stored }) => [service, stored]).toSorted()).toEqual([
    ['http-json', 1],
    ['http-protobuf', 1],
    ['rpc-json', 1],
    ['rpc-protobuf', 1],
  ]);
});

test('the key check of a Langfuse SDK finds the space', async () => {
  const ask = (authorization: string) =>
    fetch(`${pipeline.url}/api/public/projects`, { headers: { authorization } });
  const answer = await ask(basic(`pk-lf-1:${tenant.apiKey}`));
  expect(await answer.json()).toMatchObject({ data: [{ id: tenant.spaceId, organization: {} }] });
  expect((await ask(basic('pk-lf-1:sk-lf-1'))).status).toBe(401);
});
