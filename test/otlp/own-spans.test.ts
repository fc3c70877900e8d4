import { createServer } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { fromBinary } from '@bufbuild/protobuf';
import { expect, test } from 'vitest';
import { ExportTraceServiceRequestSchema } from '../../gen/opentelemetry/proto/collector/trace/v1/trace_service_pb.ts';
import { llmEvent } from '../../harness/fixtures/events.ts';
import { postRaw } from '../support/http.ts';
import { startOnFreePort } from '../support/service.ts';
import { startService } from '../support/service-process.ts';
import { usePipeline } from '../support/use-pipeline.ts';
import { until, untilDrained } from '../support/wait.ts';

const { pipeline, tenant } = usePipeline();

const traceIds = ['0af7651916cd43dd8448eb211c80319c', '1bf7651916cd43dd8448eb211c80319c'] as const;
const parentSpanId = 'b7ad6b7169203331';
const secretText = 'what only the event says';

const send = (url: string, traceId: string, flags = '01') =>
  postRaw({ url }, tenant, JSON.stringify({ events: [llmEvent({ context: { userId: secretText } })] }), {
    headers: { traceparent: `00-${traceId}-${parentSpanId}-${flags}` },
  });

test('spans that Weir sends to itself: those of traces that clients sample, and none of the requests that carry them', async () => {
  await using ingest = await startOnFreePort((port) =>
    startService('ingest', {
      ...pipeline.variables,
      INGEST_PORT: String(port),
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`,
      OTEL_EXPORTER_OTLP_HEADERS: `authorization=Bearer ${tenant.apiKey}`,
      OTEL_BSP_SCHEDULE_DELAY: '100',
    }),
  );
  const url = ingest.ready.url ?? '';
  const readSpans = () => pipeline.sql<{ traceId: string; spanId: string; parentSpanId: string }[]>`
    SELECT trace_id AS "traceId", span_id AS "spanId", parent_span_id AS "parentSpanId" FROM trace_nodes
    WHERE space_id = ${tenant.spaceId}`;
  for (const [i, traceId] of traceIds.entries()) {
    expect((await send(url, traceId)).status).toBe(202);
    // Each export is a request with spans. If it made spans, there would be more of them with the second
    // trace.
    await until(async () => (await readSpans()).length >= 2 * (i + 1), 30_000);
  }
  const spans = await readSpans();
  expect(spans).toHaveLength(4);
  const roots = spans.filter((span) => span.parentSpanId === parentSpanId);
  expect(roots).toHaveLength(2);
  for (const root of roots) expect(spans.some((span) => span.parentSpanId === root.spanId)).toBe(true);
  const lines = ingest
    .log()
    .split('\n')
    .filter((line) => line.includes('"msg":"request"'));
  const [line] = lines.filter((one) => one.includes(traceIds[0])).map((one) => JSON.parse(one));
  expect(line).toMatchObject({ protocol: 'json', outcome: 'accepted', events: 1, parentSpanId });
});

test('a group has links to the spans of its requests, and the writer continues it; spans have no content, and unsampled traces have none', async () => {
  const received: Buffer[] = [];
  const receiver = createServer(async (request, response) => {
    const body = await buffer(request).catch(() => undefined);
    // The service was killed.
    if (body === undefined) return;
    received.push(body);
    response.setHeader('Content-Type', 'application/x-protobuf').end();
  }).listen(0, '127.0.0.1');
  using _receiver = { [Symbol.dispose]: () => void receiver.close() };
  await until(() => receiver.listening);
  const { port } = receiver.address() as { port: number };
  const variables = {
    ...pipeline.variables,
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `http://127.0.0.1:${port}/v1/traces`,
  };
  expect(await pipeline.writer.stop('SIGTERM')).toBe(0);
  await using writer = await startService('writer', variables);
  await using ingest = await startService('ingest', variables);
  const url = ingest.ready.url ?? '';
  const sent = [...Array.from({ length: 20 }, () => send(url, traceIds[0])), send(url, traceIds[1], '00')];
  for (const { status } of await Promise.all(sent)) expect(status).toBe(202);
  await untilDrained(pipeline);
  // The end of a service sends what waits.
  for (const service of [ingest, writer]) expect(await service.stop('SIGTERM')).toBe(0);
  expect(Buffer.concat(received).includes(secretText)).toBe(false);
  const spans = received
    .flatMap((body) => fromBinary(ExportTraceServiceRequestSchema, body).resourceSpans)
    .flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans));
  const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');
  expect(new Set(spans.map(({ traceId }) => hex(traceId)))).toEqual(new Set([traceIds[0]]));
  const requests = spans.filter(({ name }) => name === 'ingest').map(({ spanId }) => hex(spanId));
  const commits = spans.filter(({ name }) => name === 'commit');
  const linked = commits.flatMap(({ links }) => links);
  expect(requests).toHaveLength(20);
  expect(linked.map(({ spanId }) => hex(spanId)).toSorted()).toEqual(requests.toSorted());
  const stores = spans.filter(({ name }) => name === 'store').map(({ parentSpanId }) => hex(parentSpanId));
  expect(stores.toSorted()).toEqual(commits.map(({ spanId }) => hex(spanId)).toSorted());
});
