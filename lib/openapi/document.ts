import { contentEncodings } from '../content-encoding.ts';
import { eventSchemas } from '../event/schema.ts';
import { bodyBytesMax, eventsPerBatchMax, jsonDepthMax } from '../limits.ts';
import { failures, refusals } from './responses.ts';

/** A part of the document: plain JSON. */
export type Json = Readonly<Record<string, unknown>>;

/**
 * The OpenAPI 3.1 document of ingest (contract §4, §7, §8), from the schema that events are validated with and the table
 * that errors are answered from. It has no rule of its own.
 *
 * @param vendor the literal that `instrumentation.vendor` must equal.
 */
export function describeApi(vendor: string): Json {
  return {
    openapi: '3.1.0',
    info: {
      title: 'Weir ingest',
      version: 'v1',
      description:
        'Takes in LLM and tool events in batches. A batch is validated and on disk before it is answered; an event ' +
        'is stored once per space and `id`, however often it is sent.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/', description: 'The service that this document came from.' }],
    security: [{ apiKey: [] }],
    paths: {
      '/v1/ingest-events': { post: ingestEvents },
      '/v1/openapi.json': { get: openApiJson },
      '/healthz': { get: liveness },
      '/readyz': { get: readiness },
    },
    components: {
      securitySchemes: {
        apiKey: { type: 'http', scheme: 'bearer', description: 'An API key. It opens one space.' },
      },
      schemas: schemasOf(vendor),
    },
  };
}

/** The schemas by name. A discriminator needs the kinds of event to have names (OpenAPI 3.1, §4.8.25). */
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
        'Weir-Batch-Id': {
          description: 'The name of this answer, for questions about it.',
          required: true,
          schema: { type: 'string', format: 'uuid' },
        },
        'Weir-Quota-Limit': count('Events that the space may send in a month, when there is a limit.'),
        'Weir-Quota-Used': count('Events that were stored in this month before this batch.'),
      },
      content: jsonOf({ $ref: '#/components/schemas/Queued' }),
    },
    ...refusals(),
  },
};

const openApiJson = probe('getOpenApi', 'This document', {
  200: { description: 'An OpenAPI document.', content: jsonOf(objectOf({ openapi: { type: 'string' } })) },
});

const liveness = probe('getLiveness', 'Whether ingest lives', {
  200: { description: 'It lives.', content: jsonOf(objectOf({ status: { const: 'ok' } })) },
});

const ready = (isReady: boolean) =>
  jsonOf(
    objectOf({
      ready: { const: isReady },
      waitingFor: {
        type: 'array',
        items: { enum: ['postgres', 'nats'] },
        ...(isReady ? { maxItems: 0 } : { minItems: 1 }),
      },
    }),
  );

const readiness = probe('getReadiness', 'Whether ingest reaches Postgres and NATS', {
  200: { description: 'It reaches both.', content: ready(true) },
  503: { description: 'It waits for one of them.', content: ready(false) },
});

/** A path that everybody may ask. */
function probe(operationId: string, summary: string, responses: Json): Json {
  return { operationId, summary, security: [], responses: { ...responses, ...failures() } };
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
