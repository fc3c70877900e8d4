import { eventSchemas } from '../../../event/schema.ts';
import { bodyBytesMax, eventsPerBatchMax, jsonDepthMax } from '../../../platform/limits.ts';
import { contentEncodings } from '../body/decode.ts';
import { ingestDependencies } from '../readiness.ts';
import { batchId, eventErrors, type Json, probeErrors } from './responses.ts';
import { exportTraces, traceSchemas } from './traces.ts';

/**
 * The OpenAPI 3.1 document of ingest (docs/api.md §4, §7, §8). It is generated from the schema that validates
 * events and from the error table, and adds no rule of its own.
 * @param vendor the literal that `instrumentation.vendor` must equal.
 */
export function describeApi(vendor: string): Json {
  return {
    openapi: '3.1.0',
    info: {
      title: 'Weir ingest',
      version: 'v1',
      description:
        'Accepts batches of LLM and tool events. A batch is validated and on disk before the response; an event is ' +
        'stored once per space and `id`, however often it is sent.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/', description: 'The service that returned this document.' }],
    security: [{ apiKey: [] }],
    paths: {
      '/v1/ingest-events': { post: ingestEvents },
      '/v1/traces': { post: exportTraces },
      '/v1/openapi.json': { get: openApiJson },
      '/healthz': { get: liveness },
      '/readyz': { get: readiness },
    },
    components: {
      securitySchemes: {
        apiKey: { type: 'http', scheme: 'bearer', description: 'An API key. It belongs to one space.' },
      },
      schemas: schemasOf(vendor),
    },
  };
}

/** The schemas by name, by which a discriminator refers to those of events (OpenAPI 3.1, §4.8.25). */
function schemasOf(vendor: string): Json {
  const { llm, tool } = eventSchemas(vendor);
  const mapping = { llm: '#/components/schemas/LlmEvent', tool: '#/components/schemas/ToolEvent' };
  return {
    Batch: {
      type: 'object',
      required: ['events'],
      properties: {
        events: { type: 'array', maxItems: eventsPerBatchMax, items: { $ref: '#/components/schemas/Event' } },
      },
    },
    Event: {
      type: 'object',
      discriminator: { propertyName: 'type', mapping },
      oneOf: Object.values(mapping).map(($ref) => ({ $ref })),
    },
    LlmEvent: llm,
    ToolEvent: tool,
    ...traceSchemas,
    Queued: objectOf({ message: { type: 'string', examples: ['Queued 3 events.'] } }),
  };
}

const ingestEvents: Json = {
  operationId: 'ingestEvents',
  summary: 'Send a batch of LLM and tool events',
  description: 'Retry on 5xx and on network failures, with back-off and the same ids.',
  requestBody: {
    required: true,
    description:
      `At most ${eventsPerBatchMax} events and ${bodyBytesMax / 1024 ** 2} MiB, counted before and after decoding. The body may be compressed, ` +
      `with Content-Encoding ${contentEncodings.join(', ')}. It must not nest deeper than ${jsonDepthMax} levels.`,
    content: jsonOf({ $ref: '#/components/schemas/Batch' }),
  },
  responses: {
    202: {
      description: 'The batch is on disk.',
      headers: {
        'Weir-Batch-Id': batchId,
        'Weir-Quota-Limit': count('The monthly event limit of the space, if it has one.'),
        'Weir-Quota-Used': count('Events stored this month, before this batch.'),
        'Weir-Quota-Reset': count('Seconds until the count of the next month starts.'),
      },
      content: jsonOf({ $ref: '#/components/schemas/Queued' }),
    },
    ...eventErrors(),
  },
};

const openApiJson = probe('getOpenApi', 'This document', {
  200: { description: 'An OpenAPI document.', content: jsonOf(objectOf({ openapi: { type: 'string' } })) },
});

const liveness = probe('getLiveness', 'Liveness', {
  200: { description: 'The process runs.', content: jsonOf(objectOf({ status: { const: 'ok' } })) },
});

const ready = (isReady: boolean) =>
  jsonOf(
    objectOf({
      ready: { const: isReady },
      waitingFor: {
        type: 'array',
        items: { enum: ingestDependencies },
        ...(isReady ? { maxItems: 0 } : { minItems: 1 }),
      },
    }),
  );

const readiness = probe('getReadiness', 'Readiness', {
  200: { description: 'Ingest can accept events.', content: ready(true) },
  503: {
    description:
      'Ingest waits for the dependencies in `waitingFor`. `clock` means that the clocks of ingest and of Postgres differ, `queue-loss` that the queue lost accepted events.',
    content: ready(false),
  },
});

/** An operation that needs no API key. */
function probe(operationId: string, summary: string, responses: Json): Json {
  return { operationId, summary, security: [], responses: { ...responses, ...probeErrors() } };
}

function jsonOf(schema: Json): Json {
  return { 'application/json': { schema } };
}

function objectOf(properties: Json): Json {
  return { type: 'object', required: Object.keys(properties), properties };
}

function count(description: string): Json {
  return { description, schema: { type: 'integer', minimum: 0 } };
}
