import { eq } from 'drizzle-orm';
import { beforeAll, describe, expect, test } from 'vitest';
import { buildTimeoutMs, PackagesUnreachableError } from '../../harness/tools/build-cache.ts';
import { findMissingTool } from '../../harness/tools/toolchain.ts';
import { media, mediaUses } from '../../store/db/schema.ts';
import type { Recipe } from '../support/otlp/recipe-page.ts';
import { installRecipe, runRecipe } from '../support/otlp/recipe-program.ts';
import { mediaIdOf } from '../support/protocols/langfuse-media.ts';
import { readStored } from '../support/stored-events.ts';
import { usePipeline } from '../support/use-pipeline.ts';

/** Uploads of Langfuse's real SDKs, which take an image out of the input of a generation. */

const { pipeline } = usePipeline();

const png =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const bytes = Buffer.from(png, 'base64');
const prompt = `[{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,${png}"}}]}]`;

const python = `import json
from langfuse import get_client
langfuse = get_client()
for answer in ("A dot.", "Still a dot."):
    with langfuse.start_as_current_observation(as_type="generation", name="look", model="m", input=json.loads('${prompt}')) as call:
        call.update(output=answer)
langfuse.shutdown()
`;
const javascript = `import { LangfuseSpanProcessor } from '@langfuse/otel';
import { startActiveObservation } from '@langfuse/tracing';
import { NodeSDK } from '@opentelemetry/sdk-node';
const sdk = new NodeSDK({ spanProcessors: [new LangfuseSpanProcessor()] });
sdk.start();
for (const output of ['A dot.', 'Still a dot.'])
  await startActiveObservation('look', async (call) => call.update({ model: 'm', input: ${prompt}, output }), {
    asType: 'generation',
  });
await sdk.shutdown();
`;

const variables = `export LANGFUSE_PUBLIC_KEY=$WEIR_API_KEY LANGFUSE_SECRET_KEY=$WEIR_API_KEY
export LANGFUSE_BASE_URL=http://127.0.0.1:8080 LANGFUSE_HOST=http://127.0.0.1:8080`;
const ofPython = (version: string): Recipe => ({
  title: `Langfuse media, Python ${version}`,
  tools: ['python3'],
  install: ['python3 -m venv .venv', `.venv/bin/pip install langfuse==${version}`],
  run: '.venv/bin/python look.py',
  files: new Map([['look.py', python]]),
});
const recipes: Recipe[] = [
  ofPython('3.15.0'),
  ofPython('5.0.4'),
  {
    title: 'Langfuse media, JavaScript 5.11.1',
    tools: ['npm'],
    install: [
      'npm install @opentelemetry/api@1.9.1 @opentelemetry/sdk-node@0.223.0 @opentelemetry/exporter-trace-otlp-http@0.223.0 @langfuse/otel@5.11.1 @langfuse/tracing@5.11.1',
    ],
    run: 'node look.mjs',
    files: new Map([['look.mjs', javascript]]),
  },
];

describe.each(recipes)('$title', (recipe) => {
  const missing = findMissingTool(recipe.tools);
  let directory: string | undefined;
  beforeAll(async () => {
    if (missing !== undefined) return;
    directory = await installRecipe(recipe).catch((error) => {
      if (!(error instanceof PackagesUnreachableError)) throw error;
      console.warn(`${recipe.title} is skipped: its packages cannot be downloaded\n${error.message}`);
      return undefined;
    });
  }, buildTimeoutMs + 30_000);

  test('an image in two calls is stored once, and both name it', { timeout: 200_000 }, async (context) => {
    context.skip(directory === undefined, missing ?? 'its packages cannot be downloaded');
    const { spaceId, apiKey } = await pipeline.createTenant();
    const target = { url: pipeline.url, apiKey, providerUrl: pipeline.url };
    const result = await runRecipe(directory ?? '', { variables }, recipe, target);
    expect(result).toMatchObject({ exitCode: 0 });
    const events = await readStored(pipeline, spaceId);
    const named = events.map(
      (event) => /langfuseMedia:[^@]*\|id=([\w-]+)\|/.exec(JSON.stringify(event))?.[1],
    );
    expect(named).toEqual([mediaIdOf(bytes), mediaIdOf(bytes)]);
    const stored = await pipeline.database.select().from(media).where(eq(media.spaceId, spaceId));
    expect(stored).toMatchObject([{ id: mediaIdOf(bytes), type: 'image/png', data: bytes }]);
    const uses = await pipeline.database.select().from(mediaUses).where(eq(mediaUses.spaceId, spaceId));
    expect(uses.map(({ eventId }) => eventId).toSorted()).toEqual(events.map(({ id }) => id).toSorted());
  });
});
