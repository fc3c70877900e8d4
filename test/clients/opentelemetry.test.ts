import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { pauseTree, signalAll } from '../../harness/system/process-tree.ts';
import { buildTimeoutMs, PackagesUnreachableError } from '../../harness/tools/build-cache.ts';
import { findMissingTool } from '../../harness/tools/toolchain.ts';
import { type Provider, startProvider } from '../../sdk/typescript/test/support/provider.ts';
import { eventIdOf, traceUuidOf } from '../../services/ingest/otlp/mapping/ids.ts';
import { type ExpectedAgent, exactTicket, expectedAgents } from '../support/otlp/recipe-events.ts';
import { type Recipe, readRecipePage } from '../support/otlp/recipe-page.ts';
import { installRecipe, runRecipe } from '../support/otlp/recipe-program.ts';
import { readStored, readStoredTexts } from '../support/stored-events.ts';
import { usePipeline } from '../support/use-pipeline.ts';
import { countUsage, until } from '../support/wait.ts';

/**
 * Runs the recipes of docs/opentelemetry.md: real instrumentations and exporters, against our own model
 * provider.
 */

const { pipeline } = usePipeline();
let provider: Provider;
beforeAll(async () => {
  provider = await startProvider();
});
afterAll(() => provider?.[Symbol.asyncDispose]());

const page = readRecipePage(new URL('../../docs/opentelemetry.md', import.meta.url));

test('every recipe of the page has an expectation, and every expectation a recipe', () => {
  expect(page.recipes.map(({ title }) => title).toSorted()).toEqual(Object.keys(expectedAgents).toSorted());
});

for (const recipe of page.recipes) {
  const missing = findMissingTool(recipe.tools);
  if (missing !== undefined) {
    const title = `${recipe.title} is skipped: ${missing}`;
    // The reporter prints only the number of skipped tests.
    console.warn(title);
    test.skip(title, () => {});
    continue;
  }
  describe(recipe.title, () => runTests(recipe, expectedAgents[recipe.title]));
}

function runTests(recipe: Recipe, expected: ExpectedAgent | undefined): void {
  let directory: string | undefined;
  beforeAll(async () => {
    directory = await installRecipe(recipe).catch((error) => {
      if (!(error instanceof PackagesUnreachableError)) throw error;
      console.warn(`${recipe.title} is skipped: its packages cannot be downloaded\n${error.message}`);
      return undefined;
    });
  }, buildTimeoutMs + 30_000);

  const run = (apiKey: string, change = '') =>
    runRecipe(directory ?? '', page, recipe, {
      url: pipeline.url,
      apiKey,
      providerUrl: provider.url,
      change,
    });

  test('its calls are stored with all data that its instrumentation records', {
    timeout: 200_000,
  }, async (context) => {
    context.skip(directory === undefined, 'its packages cannot be downloaded');
    const { spaceId, apiKey } = await pipeline.createTenant();
    expect(await run(apiKey)).toMatchObject({ exitCode: 0 });
    const events = await readStored(pipeline, spaceId);
    const calls = events.filter(({ type }) => type === 'llm');
    expect(calls.map(({ properties }) => properties.llm)).toMatchObject(expected?.calls ?? []);
    const tools = events.filter(({ type }) => type === 'tool').map(({ properties }) => properties.tool);
    expect(tools.toSorted((a, b) => (a.callId < b.callId ? -1 : 1))).toMatchObject(expected?.tools ?? []);
    expect(events).toHaveLength(calls.length + tools.length);
    for (const { id, traceId, status, context: own, instrumentation, additionalProperties, type } of events) {
      const { 'otel.trace_id': trace, 'otel.span_id': span, ...dimensions } = additionalProperties;
      expect([id, traceId]).toEqual([eventIdOf(trace, span), traceUuidOf(trace)]);
      expect(dimensions).toMatchObject({ ...expected?.dimensions, 'service.name': 'my-agent' });
      expect(dimensions['otel.parent_span_id']).toMatch(/^[0-9a-f]{16}$/);
      expect(status).toEqual({ state: 'ok' });
      expect(own).toEqual(expected?.context);
      if (type === 'llm') expect(instrumentation).toEqual({ vendor: 'weir', ...expected?.instrumentation });
    }
    expect(new Set(events.map(({ traceId }) => traceId)).size).toBe(1);
    const texts = (await readStoredTexts(pipeline, spaceId)).join('');
    if (expected?.isExact) expect(texts).toContain(exactTicket);
  });

  test.for(expected?.refusal === undefined ? [] : [expected.refusal])(
    'a call that the provider rejects is stored with its error',
    { timeout: 200_000 },
    async (refusal, context) => {
      context.skip(directory === undefined, 'its packages cannot be downloaded');
      const { spaceId, apiKey } = await pipeline.createTenant();
      expect(await run(apiKey, 'export MODEL=bad-request')).toMatchObject({ exitCode: 1 });
      expect(await readStored(pipeline, spaceId)).toMatchObject([
        {
          type: 'llm',
          status: { state: 'error', error: refusal },
          properties: { llm: { model: 'bad-request' } },
        },
      ]);
    },
  );

  test.for(expected?.protocols ?? [])(
    'over %s it retries until Weir can store, and nothing is stored twice',
    { timeout: 200_000 },
    async (protocol, context) => {
      context.skip(directory === undefined, 'its packages cannot be downloaded');
      const { spaceId, apiKey } = await pipeline.createTenant();
      const rejections = () => pipeline.ingest.log().split('requests rejected with 503').length;
      const before = rejections();
      const paused = await pauseTree(pipeline.nats.pid);
      const result = run(apiKey, `export OTEL_EXPORTER_OTLP_PROTOCOL=${protocol}`);
      try {
        await until(async () => rejections() > before, 120_000);
      } finally {
        signalAll(paused, 'SIGCONT');
      }
      expect(await result).toMatchObject({ exitCode: 0 });
      const count = (expected?.calls.length ?? 0) + (expected?.tools.length ?? 0);
      expect(await readStored(pipeline, spaceId)).toHaveLength(count);
      expect(await countUsage(pipeline, spaceId)).toBe(count);
    },
  );

  test.for(expected?.fanOuts ?? [])(
    'spans sent by two of its exporters are stored once: %s',
    { timeout: 200_000 },
    async (exporters, context) => {
      context.skip(directory === undefined, 'its packages cannot be downloaded');
      const { spaceId, apiKey } = await pipeline.createTenant();
      const before = countCommitted();
      expect(await run(apiKey, `export OTEL_TRACES_EXPORTER=${exporters}`)).toMatchObject({ exitCode: 0 });
      const count = (expected?.calls.length ?? 0) + (expected?.tools.length ?? 0);
      expect(await readStored(pipeline, spaceId)).toHaveLength(count);
      expect(await countUsage(pipeline, spaceId)).toBe(count);
      expect(countCommitted() - before).toBeGreaterThanOrEqual(2);
    },
  );
}

/** Number of requests with calls that ingest has committed to the queue. */
function countCommitted(): number {
  const lines = pipeline.ingest.log().split('\n');
  const commits = lines.filter((line) => line.includes('"msg":"committed"')).map((line) => JSON.parse(line));
  return commits.reduce((sum, { batchIds }) => sum + batchIds.length, 0);
}
