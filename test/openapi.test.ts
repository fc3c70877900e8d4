import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createApiKey } from '../lib/access/api-key.ts';
import { type ErrorId, errorTable } from '../lib/errors.ts';
import { eventSchema } from '../lib/event/schema.ts';
import { routes } from '../services/ingest/routes.ts';
import { llmEvent, someEvents, toolEvent } from './support/events.ts';
import { postRaw } from './support/http.ts';
import { type Description, readDescription } from './support/openapi.ts';
import { type Pipeline, startPipeline, type Tenant } from './support/pipeline.ts';

let pipeline: Pipeline;
let tenant: Tenant;
let description: Description;

beforeAll(async () => {
  pipeline = await startPipeline();
  tenant = await pipeline.createTenant({ monthlyEventLimit: 1_000_000 });
  description = await readDescription(pipeline.url);
});
afterAll(() => pipeline?.[Symbol.asyncDispose]());

const post = (body: string, headers: Record<string, string> = {}) =>
  fetch(`${pipeline.url}/v1/ingest-events`, {
    method: 'POST',
    headers: { authorization: `Bearer ${tenant.apiKey}`, ...headers },
    body,
  });

test('every path and method of the service is in the document, and no other', () => {
  const described = Object.entries(description.document.paths).map(([path, operations]) => [
    path,
    Object.keys(operations).map((method) => method.toUpperCase()),
  ]);
  expect(Object.fromEntries(described)).toEqual(
    Object.fromEntries(Object.entries(routes).map(([path, methods]) => [path, Object.keys(methods)])),
  );
});

test.each([
  ['a batch', 202, () => post(JSON.stringify({ events: [llmEvent(), toolEvent()] }))],
  ['a batch of nothing', 202, () => post('{"events":[]}')],
  ['no JSON', 400, () => post('{')],
  ['no batch', 400, () => post('[]')],
  [
    'a bad event',
    400,
    () => post(JSON.stringify({ events: [llmEvent({ [`${'x'.repeat(999)}`]: 1, id: 1 })] })),
  ],
  ['an unknown key', 401, () => post('{}', { authorization: `Bearer ${createApiKey()}` })],
  ['501 events', 413, () => post(JSON.stringify({ events: someEvents(501) }))],
  ['too many bytes', 413, () => post(' '.repeat(4 * 1024 * 1024 + 1))],
])('the answer to %s, a %i, is as the document says', async (_, status, send) => {
  const answer = await send();
  expect(answer.status).toBe(status);
  await description.expectDescribed('/v1/ingest-events', 'post', answer);
});

test.each([
  ['a space that is not billed', { billingState: 'inactive' as const }],
  ['a space without quota', { monthlyEventLimit: 0 }],
])('so is the 402 of %s', async (_, settings) => {
  const { apiKey } = await pipeline.createTenant(settings);
  const answer = await post('{}', { authorization: `Bearer ${apiKey}` });
  expect(answer.status).toBe(402);
  await description.expectDescribed('/v1/ingest-events', 'post', answer);
});

test('so are the answers of the other paths, and of what is no path or method', async () => {
  for (const path of ['/v1/openapi.json', '/healthz', '/readyz']) {
    await description.expectDescribed(path, 'get', await fetch(`${pipeline.url}${path}`));
  }
  await description.expectDescribed('/healthz', 'get', await fetch(`${pipeline.url}/nothing`));
  const wrongMethod = await fetch(`${pipeline.url}/v1/ingest-events`, { method: 'PUT' });
  await description.expectDescribed('/v1/ingest-events', 'post', wrongMethod);
});

test.each([
  ['good events', { events: [llmEvent(), toolEvent()] }, true],
  ['unknown fields', { events: [llmEvent({ more: 1 })], more: 1 }, true],
  ['500 events', { events: someEvents(500) }, true],
  ['501 events', { events: someEvents(501) }, false],
  ['a tool event with the payload of an LLM', { events: [llmEvent({ type: 'tool' })] }, false],
  ['an unknown type', { events: [llmEvent({ type: 'other' })] }, false],
  ['another vendor', { events: [llmEvent({ instrumentation: { vendor: 'x' } })] }, false],
  ['no events', {}, false],
])('the document and the service agree about %s', async (_, body, isGood) => {
  expect(description.schemaAt('components', 'schemas', 'Batch')(body)).toBe(isGood);
  expect((await postRaw(pipeline, tenant, JSON.stringify(body))).status === 202).toBe(isGood);
});

test("an event's schema is the one that the service validates with, and JSON Schema 2020-12", () => {
  const { schemas } = description.document.components;
  expect([schemas.LlmEvent, schemas.ToolEvent]).toEqual(eventSchema('weir').oneOf);
  const ajv = new Ajv2020();
  for (const schema of Object.values(schemas)) {
    expect(ajv.validateSchema(schema), JSON.stringify(ajv.errors)).toBe(true);
  }
});

test('every error of the table is a documented answer, with an example that validates', async () => {
  const { responses = {} } = description.document.paths['/v1/ingest-events']?.post ?? {};
  const documented: string[] = [];
  for (const response of Object.values(responses)) {
    for (const [id, { value }] of Object.entries(response.content['application/json']?.examples ?? {})) {
      expect(value).toMatchObject({ error: { id, ...titleAndStatus(id as ErrorId) } });
      documented.push(id);
    }
  }
  expect(documented.sort()).toEqual(Object.keys(errorTable).sort());
});

function titleAndStatus(id: ErrorId) {
  const { title, status } = errorTable[id];
  return { title, status };
}

test("the document has the contract's limits, and what compresses a body", () => {
  const text = JSON.stringify(description.document);
  for (const limit of ['"maxItems":500', '4 MiB', 'gzip, deflate, br, zstd']) expect(text).toContain(limit);
});

test('the document has the vendor of the configuration, and a 503 its Retry-After', async () => {
  await using small = await startPipeline({ VENDOR: 'acme', INGEST_BYTES_IN_FLIGHT_MAX: '1000' });
  const { document, expectDescribed } = await readDescription(small.url);
  expect(JSON.stringify(document)).toContain('"vendor":{"const":"acme"}');
  const { apiKey } = await small.createTenant();
  const answer = await fetch(`${small.url}/v1/ingest-events`, {
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}` },
    body: ' '.repeat(2_000),
  });
  expect(answer.status).toBe(503);
  await expectDescribed('/v1/ingest-events', 'post', answer);
});
