import { fromBinary } from '@bufbuild/protobuf';
import { Code, ConnectError, createClient } from '@connectrpc/connect';
import { createGrpcTransport } from '@connectrpc/connect-node';
import { expect, test } from 'vitest';
import { RetryInfoSchema } from '../../gen/google/rpc/error_details_pb.ts';
import {
  ExportTraceServiceRequestSchema,
  TraceService,
} from '../../gen/opentelemetry/proto/collector/trace/v1/trace_service_pb.ts';
import { type SpanInit, toProtobuf } from '../../harness/fixtures/spans.ts';
import { pauseTree } from '../../harness/system/process-tree.ts';
import { postTraces } from '../support/otlp/otlp-http.ts';
import { startPipeline, startProcessPipeline } from '../support/pipeline.ts';
import { countRows, countUsage, until, untilDrained, untilResolved } from '../support/wait.ts';

test('success is sent only when the events are durable; a retry after an outage stores each span once', async () => {
  await using pipeline = await startPipeline();
  const tenant = await pipeline.createTenant({ monthlyEventLimit: 10_000 });
  // Two parts: one attempt may publish the first and another the second.
  const body = toProtobuf({
    spans: Array.from({ length: 700 }, (_, index) => ({
      spanId: (index + 1).toString(16).padStart(16, '0'),
      attributes: { 'gen_ai.operation.name': 'chat' },
    })),
  });
  const post = () => postTraces(pipeline, tenant, { type: 'application/x-protobuf', body });
  const headers = { Authorization: `Bearer ${tenant.apiKey}` };
  const client = createClient(TraceService, createGrpcTransport({ baseUrl: pipeline.url }));
  const call = () => client.export(fromBinary(ExportTraceServiceRequestSchema, body), { headers });
  expect((await post()).status).toBe(200);
  await pauseTree(pipeline.nats.pid);
  const answer = await post();
  expect(answer).toMatchObject({
    status: 503,
    body: { code: Code.Unavailable, message: expect.stringMatching(/^ingest_unavailable: /) },
  });
  expect(answer.headers.get('retry-after')).toBe('1');
  const failure = await call().catch(ConnectError.from);
  if (!(failure instanceof ConnectError)) throw new Error('the call succeeded');
  expect(failure.code).toBe(Code.Unavailable);
  expect(failure.findDetails(RetryInfoSchema)).toMatchObject([{ retryDelay: { seconds: 1n } }]);
  process.kill(pipeline.nats.pid, 'SIGCONT');
  await until(async () => (await post()).status === 200);
  expect((await call()).partialSuccess).toBeUndefined();
  await untilDrained(pipeline);
  expect(await countRows(pipeline, tenant.spaceId)).toBe(700);
  expect(await countUsage(pipeline, tenant.spaceId)).toBe(700);
});

test('the log counts the spans of a request by the reason for which they were left out', async () => {
  await using pipeline = await startPipeline();
  const tenant = await pipeline.createTenant();
  const body = toProtobuf({
    spans: [
      { attributes: { 'gen_ai.operation.name': 'chat' } },
      { attributes: { 'gen_ai.operation.name': 'embeddings' }, spanId: 'a'.repeat(16) },
      { attributes: { 'http.request.method': 'GET', secret: 'canary' }, spanId: 'b'.repeat(16) },
      { attributes: { 'gen_ai.operation.name': 'chat', secret: 'canary' }, spanId: 'abcd' },
    ],
  });
  expect((await postTraces(pipeline, tenant, { type: 'application/x-protobuf', body })).status).toBe(200);
  await pipeline.ingest.stop('SIGTERM');
  const lines = pipeline.ingest
    .log()
    .split('\n')
    .filter((line) => line.includes('spans received'));
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    { stored: 1, rejected: 1, filtered: { embeddings: 1, not_genai: 1 } },
  ]);
  expect(pipeline.ingest.log()).not.toContain('canary');
});

test('spans in requests of their own are one event a call, also when the writer is killed between them', async () => {
  await using pipeline = await startProcessPipeline();
  const tenant = await pipeline.createTenant();
  const idOf = (number: number) => number.toString(16).padStart(16, '0');
  const run = {
    'gen_ai.operation.name': 'invoke_agent',
    'gen_ai.agent.name': 'planner',
    'user.id': 'user-1',
  };
  const spans = Array.from({ length: 20 }, (_, at) => at * 4).flatMap(
    (first): (SpanInit & { library?: string })[] => [
      { spanId: idOf(first + 1), attributes: run },
      { spanId: idOf(first + 2), parentSpanId: idOf(first + 1), attributes: { 'http.route': '/plan' } },
      {
        spanId: idOf(first + 3),
        parentSpanId: idOf(first + 2),
        attributes: { 'openinference.span.kind': 'LLM', 'llm.model_name': 'm', 'session.id': 'thread-1' },
      },
      {
        spanId: idOf(first + 4),
        parentSpanId: idOf(first + 3),
        attributes: { 'gen_ai.operation.name': 'chat', 'gen_ai.response.id': `msg_${first}` },
      },
      // The provider's client, in a trace of its own.
      {
        ...{ traceId: idOf(first + 1).repeat(2), spanId: idOf(first + 1) },
        attributes: { 'gen_ai.operation.name': 'chat', 'gen_ai.response.id': `msg_${first}` },
        library: 'client',
      },
    ],
  );
  // Parents first, then children first, and half of them twice.
  const order = [...spans.slice(0, 50), ...spans.slice(50).reverse(), ...spans.slice(25, 75)];
  for (const [place, { library = 'framework', ...span }] of order.entries()) {
    const body = toProtobuf({ scope: { name: library }, spans: [span] });
    expect((await postTraces(pipeline, tenant, { type: 'application/x-protobuf', body })).status).toBe(200);
    if (place % 75 !== 12) continue;
    await pipeline.writer.stop('SIGKILL');
    pipeline.writer = await pipeline.start('writer');
  }
  await untilDrained(pipeline);
  const { sql } = pipeline;
  await untilResolved(sql, tenant.spaceId);
  const rows = await sql`
    SELECT agent_id, user_id, thread_id, count(*)::integer FROM events WHERE space_id = ${tenant.spaceId} GROUP BY 1, 2, 3`;
  expect([...rows]).toEqual([{ agent_id: 'planner', user_id: 'user-1', thread_id: 'thread-1', count: 20 }]);
  expect(await countUsage(pipeline, tenant.spaceId)).toBe(20);
});
