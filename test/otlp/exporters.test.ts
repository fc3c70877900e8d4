import { expect, test } from 'vitest';
import { loseFirstResponse } from '../support/lost-response.ts';
import { agentEventCount, recordAgent } from '../support/otlp/agent-spans.ts';
import { exporters, exportOnce } from '../support/otlp/otlp-exporters.ts';
import { readStored, readStoredTexts } from '../support/stored-events.ts';
import { usePipeline } from '../support/use-pipeline.ts';
import { countUsage } from '../support/wait.ts';

/** OpenTelemetry's exporters for Node against the real pipeline. For other languages: test/clients. */

const { pipeline } = usePipeline();

test.each(Object.entries(exporters))('spans exported over %s are stored as events', async (_, open) => {
  const { spaceId, apiKey } = await pipeline.createTenant();
  const spans = recordAgent();
  const exporter = open({ url: pipeline.url, apiKey });
  expect(await exportOnce(exporter, spans)).toBeUndefined();
  await exporter.shutdown();
  const [chat, tool, broken, ...others] = await readStored(pipeline, spaceId);
  expect(others).toEqual([]);
  const traceId = spans[0]?.spanContext().traceId;
  expect(chat).toMatchObject({
    type: 'llm',
    startTimeMs: 1_760_000_000_010,
    durationMs: 10,
    status: { state: 'ok' },
    instrumentation: { vendor: 'weir', source: 'openai', sourcePackage: 'test-instrumentation' },
    context: { threadId: 'thread-1', agentId: 'planner' },
    additionalProperties: { 'otel.trace_id': traceId },
    properties: {
      llm: {
        model: 'gpt-4o',
        input: { prompt: 'How warm is it in Bern? 🦦' },
        output: { mode: 'text', response: '21 °C.' },
        usage: { inputTokens: 12, outputTokens: 3, totalTokens: 15 },
        otel: {
          kind: 3,
          attributes: { 'gen_ai.operation.name': 'chat', 'gen_ai.request.stop_sequences': ['a', 'b'] },
          scope: { name: 'test-instrumentation', version: '1.2.3' },
        },
      },
    },
  });
  expect(tool).toMatchObject({
    type: 'tool',
    context: { agentId: 'planner' },
    properties: { tool: { name: 'get_weather', input: { city: 'Bern' } } },
  });
  expect(broken).toMatchObject({
    status: { state: 'error', error: { code: 'rate_limit_error', message: 'Slow down.' } },
    additionalProperties: { 'otel.parent_event_id': tool.id },
  });
  expect((await readStoredTexts(pipeline, spaceId))[1]).toContain('"station":9007199254740993');
});

test('a fan-out of the same spans over all protocols stores each once', async () => {
  const { spaceId, apiKey } = await pipeline.createTenant();
  const spans = recordAgent();
  const opened = Object.values(exporters).map((open) => open({ url: pipeline.url, apiKey }));
  expect(await Promise.all(opened.map((exporter) => exportOnce(exporter, spans)))).toEqual(
    opened.map(() => undefined),
  );
  await Promise.all(opened.map((exporter) => exporter.shutdown()));
  expect(await readStored(pipeline, spaceId)).toHaveLength(agentEventCount);
  expect(await countUsage(pipeline, spaceId)).toBe(agentEventCount);
});

test.each(['http/protobuf', 'http/json'])(
  'an exporter over %s retries when its response is lost, and nothing is stored twice',
  async (name) => {
    const { spaceId, apiKey } = await pipeline.createTenant();
    await using way = await loseFirstResponse(pipeline.url);
    const exporter = exporters[name]?.({ url: way.url, apiKey });
    if (exporter === undefined) throw new Error(`there is no exporter ${name}`);
    expect(await exportOnce(exporter, recordAgent())).toBeUndefined();
    await exporter.shutdown();
    expect(way.lost()).toBe(1);
    expect(await readStored(pipeline, spaceId)).toHaveLength(agentEventCount);
  },
);

test.each(['http/protobuf', 'grpc'])('an exporter over %s gives up on an invalid key', async (name) => {
  const exporter = exporters[name]?.({ url: pipeline.url, apiKey: 'weir_unknown' });
  if (exporter === undefined) throw new Error(`there is no exporter ${name}`);
  expect(String(await exportOnce(exporter, recordAgent()))).toMatch(/Unauthorized|UNAUTHENTICATED/i);
  await exporter.shutdown();
});
