import { Ajv2020 } from 'ajv/dist/2020.js';
import { beforeAll, expect, test } from 'vitest';
import { type ErrorId, errorTable } from '../../event/errors.ts';
import { eventSchema } from '../../event/schema.ts';
import { llmEvent, someEvents, toolEvent } from '../../harness/fixtures/events.ts';
import { ingestDependencies } from '../../services/ingest/readiness.ts';
import { routes } from '../../services/ingest/routes.ts';
import { createApiKey } from '../../store/accounts/api-key.ts';
import { postRaw } from '../support/http.ts';
import { startPipeline, type Tenant } from '../support/pipeline.ts';
import { usePipeline } from '../support/use-pipeline.ts';
import { until } from '../support/wait.ts';
import { type Description, readDescription } from './openapi-description.ts';

const { pipeline } = usePipeline();
let tenant: Tenant;
let description: Description;

beforeAll(async () => {
  // Only a space with a limit gets the quota headers.
  tenant = await pipeline.createTenant({ monthlyEventLimit: 1_000_000 });
  description = await readDescription(pipeline.url);
});

const post = (body: string, headers: Record<string, string> = {}) =>
  fetch(`${pipeline.url}/v1/ingest-events`, {
    method: 'POST',
    headers: { authorization: `Bearer ${tenant.apiKey}`, ...headers },
    body,
  });

/** An LLM span without ids. */
const unstorable = {
  resourceSpans: [
    {
      scopeSpans: [
        {
          spans: [
            {
              endTimeUnixNano: '1',
              attributes: [{ key: 'gen_ai.operation.name', value: { stringValue: 'chat' } }],
            },
          ],
        },
      ],
    },
  ],
};

test('the document has exactly the paths and methods of the service', () => {
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
  ['an empty batch', 202, () => post('{"events":[]}')],
  ['no JSON', 400, () => post('{')],
  ['no batch', 400, () => post('[]')],
  [
    'an invalid event',
    400,
    () => post(JSON.stringify({ events: [llmEvent({ [`${'x'.repeat(999)}`]: 1, id: 1 })] })),
  ],
  ['an unknown key', 401, () => post('{}', { authorization: `Bearer ${createApiKey()}` })],
  ['501 events', 413, () => post(JSON.stringify({ events: someEvents(501) }))],
  ['too many bytes', 413, () => post(' '.repeat(4 * 1024 * 1024 + 1))],
])('the response to %s, a %i, is as documented', async (_, status, send) => {
  const answer = await send();
  expect(answer.status).toBe(status);
  await description.expectDescribed('/v1/ingest-events', 'post', answer);
});

test.each([
  ['a space with inactive billing', { billingState: 'inactive' as const }],
  ['a space without quota', { monthlyEventLimit: 0 }],
])('the 402 of %s is as documented', async (_, settings) => {
  const { apiKey } = await pipeline.createTenant(settings);
  const answer = await post('{}', { authorization: `Bearer ${apiKey}` });
  expect(answer.status).toBe(402);
  await description.expectDescribed('/v1/ingest-events', 'post', answer);
});

test.each([
  ['no spans', 200, '{}', {}],
  ['a span that cannot be stored', 200, JSON.stringify(unstorable), {}],
  ['no JSON', 400, '{', {}],
  ['an unknown key', 401, '{}', { authorization: `Bearer ${createApiKey()}` }],
  ['too many bytes', 413, ' '.repeat(16 * 1024 * 1024 + 1), {}],
  ['another Content-Type', 415, '{}', { 'content-type': 'text/plain' }],
])('the response to an OTLP request, %s, a %i, is as documented', async (_, status, body, headers) => {
  const answer = await fetch(`${pipeline.url}/v1/traces`, {
    method: 'POST',
    headers: { authorization: `Bearer ${tenant.apiKey}`, 'content-type': 'application/json', ...headers },
    body,
  });
  expect(answer.status).toBe(status);
  await description.expectDescribed('/v1/traces', 'post', answer);
});

test('the responses of the other paths, and of unknown paths and methods, are as documented', async () => {
  for (const path of ['/v1/openapi.json', '/healthz', '/readyz']) {
    await description.expectDescribed(path, 'get', await fetch(`${pipeline.url}${path}`));
  }
  await description.expectDescribed('/healthz', 'get', await fetch(`${pipeline.url}/nothing`));
  const wrongMethod = await fetch(`${pipeline.url}/v1/ingest-events`, { method: 'PUT' });
  await description.expectDescribed('/v1/ingest-events', 'post', wrongMethod);
});

test('the 503 of /readyz is as documented, for every dependency', async () => {
  await using waiting = await startPipeline();
  const { expectDescribed, schemaAt } = await readDescription(waiting.url);
  await waiting.nats.stop();
  const unready = () => fetch(`${waiting.url}/readyz`);
  await until(async () => (await unready()).status === 503);
  const answer = await unready();
  expect(await answer.clone().json()).toEqual({ ready: false, waitingFor: ['nats'] });
  await expectDescribed('/readyz', 'get', answer);
  const place = ['paths', '/readyz', 'get', 'responses', '503', 'content', 'application/json', 'schema'];
  const matches = schemaAt(...place);
  // The service takes the names from the same list.
  expect(ingestDependencies).toContain('queue-loss');
  for (const name of ingestDependencies) expect(matches({ ready: false, waitingFor: [name] })).toBe(true);
  expect(matches({ ready: false, waitingFor: ['other'] })).toBe(false);
});

test.each(['text/plain', 'application/xml', ''])(
  'a batch with Content-Type "%s" is accepted',
  async (type) => {
    const answer = await post('{"events":[]}', type === '' ? {} : { 'content-type': type });
    expect(answer.status).toBe(202);
  },
);

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

test("an event's schema is the one that the service validates with, and is JSON Schema 2020-12", () => {
  const { schemas } = description.document.components;
  expect([schemas.LlmEvent, schemas.ToolEvent]).toEqual(eventSchema('weir').oneOf);
  const ajv = new Ajv2020();
  for (const schema of Object.values(schemas)) {
    expect(ajv.validateSchema(schema), JSON.stringify(ajv.errors)).toBe(true);
  }
});

/**
 * Any Content-Type, also a missing one, is accepted: 415 is only for RPCs, which the document does not
 * describe.
 */
const notInDocument: ErrorId[] = ['unsupported_media_type'];

test('every error of the JSON API is documented, with an example that validates', async () => {
  const { responses = {} } = description.document.paths['/v1/ingest-events']?.post ?? {};
  const documented: string[] = [];
  for (const response of Object.values(responses)) {
    for (const [id, { value }] of Object.entries(response.content['application/json']?.examples ?? {})) {
      expect(value).toMatchObject({ error: { id, ...titleAndStatus(id as ErrorId) } });
      documented.push(id);
    }
  }
  const expected = (Object.keys(errorTable) as ErrorId[]).filter((id) => !notInDocument.includes(id));
  expect(documented.sort()).toEqual(expected.sort());
});

function titleAndStatus(id: ErrorId) {
  const { title, status } = errorTable[id];
  return { title, status };
}

test('the document has the limits and body encodings of the contract', () => {
  const text = JSON.stringify(description.document);
  for (const limit of ['"maxItems":500', '4 MiB', 'gzip, deflate, br, zstd']) expect(text).toContain(limit);
});

test('the document has the configured vendor, and a Retry-After for 503', async () => {
  await using small = await startPipeline({ WEIR_VENDOR: 'acme', INGEST_BYTES_IN_FLIGHT_MAX: '1000' });
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
