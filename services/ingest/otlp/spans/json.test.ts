import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { IngestError } from '../../../../event/errors.ts';
import { toOtlpJson } from '../../../../harness/fixtures/spans.ts';
import { readOnLoop } from '../../limits.ts';
import { CostlyBatchError, unlimited } from '../../read/batch-reader.ts';
import { createSpanReaders } from '../batch/span-readers.ts';
import { spanValuesMax } from '../limits.ts';

const { otlpJson } = createSpanReaders('weir', unlimited);
const { otlpJson: otlpJsonOnLoop } = createSpanReaders('weir', readOnLoop);

type Json = unknown;

/** A span in the JSON of OTLP's specification. */
const goodSpan = {
  traceId: '5B8EFFF798038103D269B633813FC60C',
  spanId: 'EEE19B7EC3C1B174',
  parentSpanId: 'EEE19B7EC3C1B173',
  name: 'chat',
  startTimeUnixNano: '1544712660000000001',
  endTimeUnixNano: '1544712661000000000',
  kind: 2,
  attributes: [
    { key: 'gen_ai.operation.name', value: { stringValue: 'chat' } },
    { key: 'gen_ai.usage.input_tokens', value: { intValue: '12' } },
    { key: 'gen_ai.usage.output_tokens', value: { intValue: 3 } },
  ],
};

const bodyOf = (...spans: Json[]) => ({ resourceSpans: [{ scopeSpans: [{ spans }] }] });
const read = (body: Json) => otlpJson(Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)));

// biome-ignore lint/suspicious/noExplicitAny: events are any JSON.
function eventOf(span: Json): any {
  const { parts } = read(bodyOf(span));
  return JSON.parse(parts[0]?.body.toString() ?? '{}').events?.[0];
}

function refusal(body: Json, reader = otlpJson): { id: string; details: string } {
  try {
    reader(Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)));
    return { id: 'accepted', details: '' };
  } catch (error) {
    if (error instanceof IngestError) return { id: error.id, details: error.message };
    throw error;
  }
}

test('ids are hexadecimal in either case, and 64-bit integers text or numbers', () => {
  expect(eventOf(goodSpan)).toMatchObject({
    traceId: '5b8efff7-9803-4103-9269-b633813fc60c',
    startTimeMs: 1_544_712_660_000,
    durationMs: 999.999999,
    additionalProperties: {
      'otel.trace_id': '5b8efff798038103d269b633813fc60c',
      'otel.span_id': 'eee19b7ec3c1b174',
      'otel.parent_span_id': 'eee19b7ec3c1b173',
    },
    properties: { llm: { usage: { inputTokens: 12, outputTokens: 3, totalTokens: 15 } } },
  });
});

test('ids in base64, which protobuf libraries write, are read, too', () => {
  const base64 = (hex: string) => Buffer.from(hex, 'hex').toString('base64');
  const { traceId, spanId, parentSpanId } = goodSpan;
  const span = {
    ...goodSpan,
    traceId: base64(traceId),
    spanId: base64(spanId),
    parentSpanId: base64(parentSpanId),
  };
  expect(eventOf(span)).toEqual(eventOf(goodSpan));
});

test('64-bit integers that are numbers keep their digits', () => {
  const body = JSON.stringify(bodyOf(goodSpan)).replace('"1544712660000000001"', '1544712660000000001');
  const [part] = read(body).parts;
  expect(part?.body.toString()).toContain('"startTimeUnixNano":1544712660000000001');
});

test('enums may be written by their names', () => {
  const span = { ...goodSpan, kind: 'SPAN_KIND_CLIENT', status: { code: 'STATUS_CODE_ERROR', message: 'x' } };
  expect(eventOf(span)).toMatchObject({
    status: { state: 'error', error: { message: 'x' } },
    properties: { llm: { otel: { kind: 3 } } },
  });
});

test('null, missing and unknown fields count as not sent', () => {
  const { id } = eventOf(goodSpan);
  const span = { ...goodSpan, events: null, links: null, status: null, flags: null, name: null, more: [{}] };
  expect(eventOf(span).id).toBe(id);
  expect(
    read({ resourceSpans: [{ scopeSpans: [{ spans: [goodSpan], new: 1 }], new: {} }], new: [] }).counts,
  ).toEqual({ stored: 1, rejected: 0, filtered: {} });
  for (const body of [
    {},
    { resourceSpans: null },
    { resourceSpans: [{}] },
    { resourceSpans: [{ scopeSpans: [{}] }] },
  ]) {
    expect(read(body).counts).toEqual({ stored: 0, rejected: 0, filtered: {} });
  }
});

test('duplicate members and escaped names are read like JSON.parse does', () => {
  const span = JSON.stringify(goodSpan);
  const scope = `{"spans":[{}],"sp\\u0061ns":[${span}]}`;
  const body = `{"resourceSpans":[1],"resource\\u0053pans":[{"scopeSpans":[${scope}]}]}`;
  expect(read(body).counts).toEqual({ stored: 1, rejected: 0, filtered: {} });
});

test('a key with an escape is not taken for a key of another span (nodejs/node#63785)', () => {
  const toolSpan = (input: string) => ({
    ...goodSpan,
    attributes: [
      { key: 'gen_ai.tool.name', value: { stringValue: 't' } },
      { key: 'gen_ai.tool.call.arguments', value: { stringValue: input } },
    ],
  });
  const other = JSON.parse('{"a":0,"\\\\":0}');
  expect(Object.keys(other)).toEqual(['a', '\\']);
  const text = '{"a":1,"\\u00e9":9007199254740993}';
  const [part] = read(bodyOf(toolSpan(text))).parts;
  expect(part?.body.toString()).toContain('"input":{"a":1,"é":9007199254740993}');
  const odd = JSON.stringify(bodyOf(goodSpan)).replace('"kind":2', '"kind":2,"\\u006eame":"escaped"');
  expect(JSON.parse(read(odd).parts[0]?.body.toString() ?? '').events[0].properties.llm.otel.name).toBe(
    'escaped',
  );
});

describe('rejected requests', () => {
  const malformed = (body: Json, details: string | RegExp = /./) =>
    expect(refusal(body)).toEqual({
      id: 'invalid_request_body',
      details: typeof details === 'string' ? details : expect.stringMatching(details),
    });

  test('a body that is not JSON', () => {
    malformed('', 'The request body is missing.');
    malformed('{', /not valid JSON/);
    malformed('{"resourceSpans":[}', /not valid JSON/);
    malformed('[]', /must be an object/);
    malformed('7', /must be an object/);
    malformed('null', /must be an object/);
    malformed(`${JSON.stringify(bodyOf(goodSpan))}x`, /not valid JSON/);
    malformed('{"resourceSpans":[{"scopeSpans":[{"spans":[{"name":x}]}]}]}', /not valid JSON/);
    malformed('{"resourceSpans":[{"scopeSpans":[{"spans":[1 2]}]}]}', /not valid JSON/);
    expect(refusal('\u00e9', (bytes) => otlpJson(bytes.subarray(1))).details).toMatch(/not valid UTF-8/);
    malformed(`{"more":${'['.repeat(513)}${']'.repeat(513)}}`, /nested deeper than 512/);
  });

  test.each([
    ['resourceSpans', { resourceSpans: {} }, 'an array'],
    ['resourceSpans', { resourceSpans: [1] }, 'an object'],
    ['scopeSpans', { resourceSpans: [{ scopeSpans: 'x' }] }, 'an array'],
    ['spans', { resourceSpans: [{ scopeSpans: [{ spans: {} }] }] }, 'an array'],
  ])('a %s of the wrong type', (name, body, type) => {
    malformed(body, `The request is not OTLP/JSON: ${name} must be ${type}.`);
  });
});

/** The good span beside another one. */
const beside = (span: Json): Json => ({
  resourceSpans: [{ scopeSpans: [{ spans: [span, { ...goodSpan, spanId: 'c'.repeat(16) }] }] }],
});

describe('a span with a value of a wrong type is rejected, and the others are stored', () => {
  test.each([
    ['span', beside(1), 'an object'],
    ['traceId', beside({ ...goodSpan, traceId: 1 }), 'a string'],
    ['name', beside({ ...goodSpan, name: {} }), 'a string'],
    ['kind', beside({ ...goodSpan, kind: 'CLIENT' }), 'a 64-bit integer'],
    ['startTimeUnixNano', beside({ ...goodSpan, startTimeUnixNano: '1.5' }), 'a 64-bit integer'],
    ['startTimeUnixNano', beside({ ...goodSpan, startTimeUnixNano: true }), 'a 64-bit integer'],
    ['endTimeUnixNano', beside({ ...goodSpan, endTimeUnixNano: '18446744073709551616' }), 'a 64-bit integer'],
    ['flags', beside({ ...goodSpan, flags: 1.5 }), 'a 64-bit integer'],
    ['attributes', beside({ ...goodSpan, attributes: {} }), 'an array'],
    ['attribute', beside({ ...goodSpan, attributes: [[]] }), 'an object'],
    ['status', beside({ ...goodSpan, status: 2 }), 'an object'],
    [
      'intValue',
      beside({ ...goodSpan, attributes: [...goodSpan.attributes, { key: 'a', value: { intValue: 1.5 } }] }),
      'a 64-bit integer',
    ],
  ])('%s', (name, body, type) => {
    const { counts, rejection } = otlpJson(Buffer.from(JSON.stringify(body)));
    expect(counts).toMatchObject({ stored: 1, rejected: 1 });
    expect(rejection).toBe(`The request is not OTLP/JSON: ${name} must be ${type}.`);
  });
});

test('a byte order mark before the body is skipped', () => {
  expect(otlpJson(Buffer.from(`\uFEFF${JSON.stringify(bodyOf(goodSpan))}`)).counts.stored).toBe(1);
});

test('any body is read, or rejected with an error of the client', () => {
  const good = toOtlpJson({
    resource: { a: 1 },
    spans: [
      {
        attributes: {
          'gen_ai.operation.name': 'chat',
          list: ['a', 1, { b: 0.5 }],
          bytes: new Uint8Array([1]),
        },
      },
      { spanId: 'a'.repeat(16) },
    ],
  });
  const changed = fc
    .array(fc.tuple(fc.nat(good.length - 1), fc.constantFrom(...'{}[],:"\\01x ')), {
      minLength: 1,
      maxLength: 3,
    })
    .map((changes) => {
      const bytes = Buffer.from(good);
      for (const [at, character] of changes) bytes.write(character, at);
      return bytes;
    });
  fc.assert(
    fc.property(fc.oneof(changed, fc.json().map(Buffer.from)), (bytes) => {
      const isJson = (() => {
        try {
          JSON.parse(bytes.toString());
          return true;
        } catch {
          return false;
        }
      })();
      const [whole, onLoop] = [otlpJson, otlpJsonOnLoop].map(
        (reader) => refusal(bytes.toString(), reader).id,
      );
      expect(['accepted', 'invalid_request_body']).toContain(whole);
      expect(onLoop).toBe(whole);
      if (!isJson) expect(whole).toBe('invalid_request_body');
    }),
    { numRuns: 2_000 },
  );
});

describe('limits', () => {
  test('a costly request goes to the worker thread, which rejects a single span that is too costly', () => {
    const values = Array(spanValuesMax + 1).fill('{}');
    const attribute = `{"key":"a","value":{"arrayValue":{"values":[${values}]}}}`;
    const spans = `{"attributes":[${attribute}]},${JSON.stringify(goodSpan)}`;
    const body = Buffer.from(`{"resourceSpans":[{"scopeSpans":[{"spans":[${spans}]}]}]}`);
    expect(() => otlpJsonOnLoop(body)).toThrow(CostlyBatchError);
    expect(otlpJson(body)).toMatchObject({
      counts: { stored: 1, rejected: 1, filtered: {} },
      rejection: 'A span has too many values.',
    });
  });

  test('the number of values outside of the spans is bounded', () => {
    const body = `{"more":[${Array(spanValuesMax + 1).fill(0)}],"resourceSpans":[]}`;
    expect(refusal(body).id).toBe('batch_too_large');
  });

  test('JSON text that is nested too deep or has too many values stays text', () => {
    const texts = [
      `${'['.repeat(300)}${']'.repeat(300)}`,
      `[${Array(spanValuesMax + 1).fill(0)}]`,
      '{"a":',
      '[1]]',
    ];
    for (const text of texts) {
      const attributes = [
        { key: 'gen_ai.tool.name', value: { stringValue: 't' } },
        { key: 'gen_ai.tool.call.arguments', value: { stringValue: text } },
      ];
      expect(eventOf({ ...goodSpan, attributes }).properties.tool.input).toBe(text);
    }
  });
});
