import { errorTable } from '../../../event/errors.ts';
import { sourceTextJson } from '../../../event/json/source-text.ts';
import { otlpBodyBytesMax } from '../../../platform/limits.ts';
import { contentEncodings } from '../body/decode.ts';
import { batchId, headersOf, type Json, noOperation } from './responses.ts';

/** The ends of 64-bit integers, which a double cannot hold. */
const int64Min = sourceTextJson.rawJSON('-9223372036854775808');
const uint64Max = sourceTextJson.rawJSON('18446744073709551615');

/** The schemas of `POST /v1/traces`, by name. Fields without a type are read for LLM and tool spans only. */
export const traceSchemas: Json = {
  Traces: {
    type: 'object',
    description: 'An ExportTraceServiceRequest in OTLP/JSON. Unknown fields are ignored.',
    properties: {
      resourceSpans: listOf(
        objectOf({
          resource: { description: 'The process that the spans come from.' },
          scopeSpans: listOf(
            objectOf({
              scope: { description: 'The library that made the spans.' },
              spans: listOf({
                description: 'A span that is not as described is rejected alone, by `partialSuccess`.',
                anyOf: [{ $ref: '#/components/schemas/Span' }, { description: 'Anything else.' }],
              }),
            }),
          ),
        }),
      ),
    },
  },
  Span: objectOf({
    traceId: { type: ['string', 'null'], description: '16 bytes in hexadecimal.' },
    spanId: { type: ['string', 'null'], description: '8 bytes in hexadecimal.' },
    parentSpanId: { type: ['string', 'null'] },
    traceState: { type: ['string', 'null'] },
    name: { type: ['string', 'null'] },
    kind: int64Or(['UNSPECIFIED', 'INTERNAL', 'SERVER', 'CLIENT', 'PRODUCER', 'CONSUMER'], 'SPAN_KIND_'),
    startTimeUnixNano: int64Or([]),
    endTimeUnixNano: int64Or([]),
    attributes: listOf(
      objectOf({
        key: { type: ['string', 'null'] },
        value: { description: 'An AnyValue, such as `{ "stringValue": "chat" }`.' },
      }),
    ),
    events: { type: ['array', 'null'] },
    links: { type: ['array', 'null'] },
    status: objectOf({
      code: int64Or(['UNSET', 'OK', 'ERROR'], 'STATUS_CODE_'),
      message: { type: ['string', 'null'] },
    }),
    flags: int64Or([]),
    droppedAttributesCount: int64Or([]),
    droppedEventsCount: int64Or([]),
    droppedLinksCount: int64Or([]),
  }),
  TracesResponse: {
    type: 'object',
    properties: {
      partialSuccess: {
        type: 'object',
        required: ['rejectedSpans', 'errorMessage'],
        description: 'Absent when every LLM and tool span is stored.',
        properties: {
          rejectedSpans: { type: 'string', description: 'LLM and tool spans that cannot be stored.' },
          errorMessage: { type: 'string', description: 'Why the first of them cannot be stored.' },
        },
      },
    },
  },
  Status: {
    type: 'object',
    required: ['code', 'message'],
    description: 'A google.rpc.Status.',
    properties: {
      code: { type: 'integer', description: 'The gRPC status code.' },
      message: { type: 'string', description: 'The `error.id` and its details.' },
    },
  },
};

/** `POST /v1/traces` (ADR 0015). */
export const exportTraces: Json = {
  operationId: 'exportTraces',
  summary: 'Send OpenTelemetry spans',
  description:
    'OTLP/HTTP. Spans of LLM and tool calls become events; all others are accepted and not stored. An event has the same ' +
    'id whenever the same span is sent.',
  requestBody: {
    required: true,
    description:
      `At most ${otlpBodyBytesMax / 1024 ** 2} MiB, counted before and after decoding. The body may be compressed, with ` +
      `Content-Encoding ${contentEncodings.join(', ')}.`,
    content: contentOf('Traces'),
  },
  responses: {
    200: {
      description: 'The events are on disk.',
      headers: {
        'Weir-Batch-Id': batchId,
        'Weir-Spans-Stored': count('Spans that became events.'),
        'Weir-Spans-Filtered': count('Spans that are not LLM or tool calls.'),
      },
      content: contentOf('TracesResponse'),
    },
    400: statusResponse(errorTable.invalid_request_body.condition),
    401: statusResponse(errorTable.unauthorized.condition, headersOf(401)),
    402: statusResponse(
      `${errorTable.usage_limit_exceeded.condition} Or: ${errorTable.billing_not_active.condition}`,
      headersOf(402),
    ),
    413: statusResponse('The request is too large, or has too many spans.'),
    415: statusResponse('The Content-Type is neither application/x-protobuf nor application/json.'),
    503: statusResponse(
      `${errorTable.ingest_unavailable.condition} The only response to retry.`,
      headersOf(503),
    ),
    ...noOperation,
  },
};

/** Both forms of OTLP/HTTP: a response has that of its request. */
function contentOf(schema: string): Json {
  return {
    'application/json': { schema: { $ref: `#/components/schemas/${schema}` } },
    'application/x-protobuf': { schema: { type: 'string', format: 'binary' } },
  };
}

function statusResponse(description: string, headers: Json = {}): Json {
  return { description, headers, content: contentOf('Status') };
}

function objectOf(properties: Json): Json {
  return { type: ['object', 'null'], properties };
}

function listOf(items: Json): Json {
  return { type: ['array', 'null'], items };
}

/** A 64-bit integer, as text or as a number, or one of the names of an enum. */
function int64Or(names: readonly string[], prefix = ''): Json {
  const text = { type: 'string', pattern: '^(-?[0-9]{1,18}|[0-9]{19})?$' };
  const words = { enum: names.map((name) => prefix + name) };
  return {
    anyOf: [
      { type: 'null' },
      { type: 'integer', minimum: int64Min, maximum: uint64Max },
      text,
      ...(names.length > 0 ? [words] : []),
    ],
  };
}

function count(description: string): Json {
  return { description, required: true, schema: { type: 'integer', minimum: 0 } };
}
