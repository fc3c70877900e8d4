import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import { afterAll, expect, test } from 'vitest';
import { toOtlpJson, toProtobuf } from '../../../harness/fixtures/spans.ts';
import { otlpBodyBytesMax } from '../../../platform/limits.ts';
import { largeBatches } from '../limits.ts';
import { createSpanReaders, type SpanEncoding } from '../otlp/batch/span-readers.ts';
import { attributesMax, eventsBytesMax, spanEventsMax, spansMax, spanValuesMax } from '../otlp/limits.ts';
import { CostlyBatchError, unlimited } from '../read/batch-reader.ts';
import { openReaders } from './readers.ts';

const readers = openReaders('weir');
afterAll(() => readers[Symbol.asyncDispose]());
const asLarge = createSpanReaders('weir', largeBatches.limits);
const { valuesMax } = largeBatches.limits;
const patient = createSpanReaders('weir', unlimited);

const chat = { 'gen_ai.operation.name': 'chat' };
const spanId = (index: number) => (index + 1).toString(16).padStart(16, '0');

test.each([
  ['otlp', toProtobuf],
  ['otlpJson', toOtlpJson],
] as const)(
  'a costly request in %s is read on the thread for costly ones, with the same result',
  async (encoding, toBytes) => {
    const list = Array.from({ length: 3 * valuesMax }, (_, index) => index);
    const bytes = toBytes({
      spans: [
        { attributes: { ...chat, list: encoding === 'otlp' ? list : list.slice(0, valuesMax / 2) } },
        { spanId: spanId(1), attributes: { 'http.request.method': 'GET' } },
        { spanId: 'abcd', attributes: chat },
      ],
    });
    expect(() => asLarge[encoding](bytes)).toThrow(CostlyBatchError);
    const read = await readers[encoding](bytes, 'space');
    expect(read).toEqual(patient[encoding](bytes));
    expect(read.counts).toEqual({ stored: 1, rejected: 1, filtered: { not_genai: 1 } });
  },
);

test('a request of more than 4 MiB is read on the thread for costly ones, because long texts take time, too', async () => {
  const text = 'x'.repeat(600 * 1024);
  const bytes = toProtobuf({
    spans: Array.from({ length: 25 }, (_, index) => ({
      spanId: spanId(index),
      attributes: { ...chat, text },
    })),
  });
  expect(() => asLarge.otlp(bytes)).toThrow(CostlyBatchError);
  const { parts, counts } = await readers.otlp(bytes, 'space');
  expect(counts.stored).toBe(25);
  expect(parts.map(({ projection }) => projection.eventCount)).toEqual([6, 6, 6, 6, 1]);
});

const message = (field: number, bytes: Uint8Array) =>
  new BinaryWriter().tag(field, WireType.LengthDelimited).bytes(bytes).finish();
const keyValue = (key: string, value: Uint8Array) =>
  Buffer.concat([message(1, Buffer.from(key)), message(2, value)]);
const llmSpan = (() => {
  const ids = Buffer.concat([message(1, Buffer.alloc(16, 1)), message(2, Buffer.alloc(8, 1))]);
  const ended = new BinaryWriter().tag(8, WireType.Bit64).fixed64(1n).finish();
  const llm = message(9, keyValue('llm.request.type', message(1, Buffer.from('chat'))));
  return Buffer.concat([ids, ended, llm]);
})();
const requestOf = (...spans: readonly Uint8Array[]) =>
  Buffer.from(message(1, message(2, Buffer.concat(spans.map((span) => message(2, span))))));
const llmRequestOf = (...fields: readonly Uint8Array[]) => requestOf(Buffer.concat([llmSpan, ...fields]));

const jsonSpan = {
  traceId: '1'.repeat(32),
  spanId: '1'.repeat(16),
  endTimeUnixNano: 1,
  attributes: [{ key: 'llm.request.type', value: { stringValue: 'chat' } }],
};
const jsonBefore = '{"resourceSpans":[{"scopeSpans":[{"spans":[';

/** Repeats `unit` as often as it fits into a request. */
function jsonFullOf(before: string, unit: string, after: string): Buffer {
  const count = Math.floor((otlpBodyBytesMax - before.length - after.length) / unit.length);
  return Buffer.from(before + unit.repeat(count) + after);
}

/** The requests that need most memory or produce most JSON. */
const heaviest: [string, SpanEncoding, () => Buffer, { stored?: number; rejected?: number }][] = [
  [
    'attributes of different names',
    'otlp',
    () =>
      llmRequestOf(
        ...Array.from({ length: attributesMax - 1 }, (_, index) =>
          message(9, keyValue(`attribute.${index}`, message(1, Buffer.from('x'.repeat(30))))),
        ),
      ),
    { stored: 1 },
  ],
  [
    'events',
    'otlp',
    () => llmRequestOf(Buffer.alloc(2 * spanEventsMax).fill(Buffer.from([90, 0]))),
    { stored: 1 },
  ],
  [
    'too many events',
    'otlp',
    () => llmRequestOf(Buffer.alloc(2 * spanValuesMax).fill(Buffer.from([90, 0]))),
    { rejected: 1 },
  ],
  [
    'empty objects in an attribute',
    'otlp',
    () => {
      const empties = Buffer.alloc(4 * (spanValuesMax - 8)).fill(Buffer.from([10, 2, 50, 0]));
      return llmRequestOf(message(9, keyValue('objects', message(5, empties))));
    },
    { stored: 1 },
  ],
  [
    'members of different names',
    'otlp',
    () => {
      const member = Buffer.from([10, 9, 10, 5, 0, 0, 0, 0, 0, 18, 0]);
      const members = Buffer.alloc(member.length * spanValuesMax).fill(member);
      for (let index = 0; index < spanValuesMax; index++) {
        members.write(index.toString(36).padStart(5, '_'), index * member.length + 4);
      }
      return llmRequestOf(message(9, keyValue('object', message(6, members))));
    },
    { stored: 1 },
  ],
  [
    'characters that JSON escapes',
    'otlp',
    () => llmRequestOf(message(5, Buffer.alloc(8_000_000, 1))),
    // Shortened after its 48 MB of JSON were made.
    { stored: 1 },
  ],
  ['LLM spans', 'otlp', () => requestOf(...Array(spansMax).fill(llmSpan)), { stored: spansMax }],
  [
    'LLM spans of a large resource',
    'otlp',
    () =>
      toProtobuf({
        resource: { text: 'x'.repeat(60 * 1024) },
        spans: Array.from({ length: 1_000 }, (_, index) => ({ spanId: spanId(index), attributes: chat })),
      }),
    {},
  ],
  [
    'empty objects',
    'otlpJson',
    () => jsonFullOf(`${jsonBefore}{"attributes":[{}`, ',{}', ']}]}]}]}'),
    { rejected: 1 },
  ],
  [
    'empty lists in JSON within text',
    'otlpJson',
    () => {
      const prompt = { key: 'ai.prompt', value: { stringValue: `[[]${',[]'.repeat(1_000_000)}]` } };
      const span = { ...jsonSpan, attributes: [...jsonSpan.attributes, prompt] };
      return Buffer.from(`${jsonBefore}${JSON.stringify(span)}]}]}]}`);
    },
    { stored: 1 },
  ],
];

test.each(heaviest)(
  'a request full of %s is read within the memory of the thread',
  { timeout: 120_000 },
  async (_, encoding, toBytes, counts) => {
    const bytes = toBytes();
    expect(bytes.length).toBeLessThanOrEqual(otlpBodyBytesMax);
    const batch = await readers[encoding](bytes, 'space');
    expect(batch.counts).toMatchObject(counts);
    const made = batch.parts.reduce((sum, { body }) => sum + body.length, 0);
    // The event that exceeds the limit is only detected after it is made.
    expect(made).toBeLessThanOrEqual(eventsBytesMax + 4 * 1024 ** 2);
  },
);
