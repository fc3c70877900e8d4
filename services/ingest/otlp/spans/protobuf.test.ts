import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { IngestError } from '../../../../event/errors.ts';
import { ExportTraceServiceRequestSchema } from '../../../../gen/opentelemetry/proto/collector/trace/v1/trace_service_pb.ts';
import { toProtobuf } from '../../../../harness/fixtures/spans.ts';
import { readOnLoop } from '../../limits.ts';
import { CostlyBatchError, unlimited } from '../../read/batch-reader.ts';
import { createSpanReaders } from '../batch/span-readers.ts';
import { spansMax, spanValuesMax } from '../limits.ts';

const { otlp } = createSpanReaders('weir', unlimited);
const { otlp: otlpOnLoop } = createSpanReaders('weir', readOnLoop);

const chat = { 'gen_ai.operation.name': 'chat' };
const good = toProtobuf({
  resource: { 'service.name': 'agents' },
  spans: [
    { attributes: { ...chat, list: ['a', 1, { b: 0.5 }] }, events: [{ name: 'e', attributes: { f: true } }] },
    { spanId: 'a'.repeat(16), attributes: { 'http.request.method': 'GET' } },
  ],
});

/** Nests messages in protobuf: `[1, 2]` is field 1 with field 2 in it. */
function nest(fields: readonly number[], inner: Uint8Array): Uint8Array {
  return fields.reduceRight(
    (bytes, field) => new BinaryWriter().tag(field, WireType.LengthDelimited).bytes(bytes).finish(),
    inner,
  );
}

/** A request with one span of these bytes. */
const requestOf = (span: Uint8Array) => Buffer.from(nest([1, 2, 2], span));

const goodSpan = toBinary(
  ExportTraceServiceRequestSchema,
  create(ExportTraceServiceRequestSchema, fromBinary(ExportTraceServiceRequestSchema, good)),
);

function refusal(read: () => unknown): string {
  try {
    read();
    return 'accepted';
  } catch (error) {
    if (error instanceof IngestError) return error.id;
    throw error;
  }
}

test('the reader accepts and rejects the same bytes as a generic protobuf library', () => {
  expect(goodSpan).toEqual(new Uint8Array(good));
  expect(otlp(good).counts).toEqual({ stored: 1, rejected: 0, filtered: { not_genai: 1 } });
});

test('an empty request has no spans', () => {
  expect(otlp(Buffer.alloc(0))).toEqual({
    parts: [],
    nodes: [],
    notes: [],
    senders: [],
    counts: { stored: 0, rejected: 0, filtered: {} },
    rejection: undefined,
  });
});

test('a truncated request is rejected at any length', () => {
  for (let end = 1; end < good.length; end++) {
    expect(
      refusal(() => otlp(good.subarray(0, end))),
      `${end} bytes`,
    ).toBe('invalid_request_body');
  }
});

test('any bytes are read, or rejected with an error of the client', () => {
  const bytes = fc.oneof(
    fc.uint8Array({ maxLength: 200 }),
    // A valid request with some bytes replaced.
    fc
      .array(fc.tuple(fc.nat(good.length - 1), fc.nat(255)), { minLength: 1, maxLength: 4 })
      .map((changes) => {
        const changed = new Uint8Array(good);
        for (const [at, byte] of changes) changed[at] = byte;
        return changed;
      }),
  );
  fc.assert(
    fc.property(bytes, (changed) => {
      const [outcome, onLoop] = [otlp, otlpOnLoop].map((read) => refusal(() => read(Buffer.from(changed))));
      expect(['accepted', 'invalid_request_body']).toContain(outcome);
      expect(onLoop).toBe(outcome);
    }),
    { numRuns: 2_000 },
  );
});

test('unknown fields are skipped in every message', () => {
  const unknown = new BinaryWriter()
    .tag(1000, WireType.Varint)
    .uint32(7)
    .tag(1001, WireType.Bit64)
    .fixed64(1n)
    .tag(1002, WireType.Bit32)
    .fixed32(1)
    .tag(1003, WireType.LengthDelimited)
    .string('x')
    .finish();
  const places = [
    [],
    [1],
    [1, 1],
    [1, 2],
    [1, 2, 1],
    [1, 2, 2],
    [1, 2, 2, 9],
    [1, 2, 2, 9, 2],
    [1, 2, 2, 11],
  ];
  for (const place of places) {
    const added = Buffer.concat([good, nest(place, unknown)]);
    expect(otlp(added).counts.stored, String(place)).toBe(1);
  }
});

test('text that is not UTF-8 is read with U+FFFD: exporters truncate it in the middle of a character', () => {
  const bytes = Buffer.from(good);
  const at = bytes.indexOf('agents');
  bytes[at + 5] = 0xe2;
  expect(otlp(bytes).parts[0]?.body.toString()).toContain('"service.name":"agent\uFFFD"');
});

describe('limits', () => {
  test('nested lists are read up to a depth, beyond which their span is rejected', () => {
    const deep = (levels: number): never => (levels === 0 ? 'x' : [deep(levels - 1)]) as never;
    const deepest = toProtobuf({ spans: [{ attributes: { ...chat, deep: deep(64) } }] });
    expect(otlp(deepest).counts.stored).toBe(1);
    const { counts, rejection } = otlp(
      toProtobuf({
        spans: [
          { attributes: { ...chat, deep: deep(65) } },
          { attributes: chat, spanId: 'a'.repeat(16) },
          // The attributes of a filtered span are not read.
          { attributes: { deep: deep(65) }, spanId: 'b'.repeat(16) },
        ],
      }),
    );
    expect(counts).toEqual({ stored: 1, rejected: 1, filtered: { not_genai: 1 } });
    expect(rejection).toBe('An attribute is nested deeper than 64 levels.');
  });

  test('a million levels do not crash the process', () => {
    let value: Uint8Array = new Uint8Array();
    const levels = [];
    for (let level = 0; level < 1_000; level++) levels.push(5, 1);
    value = nest(levels, value);
    const span = Buffer.concat([
      nest([9], Buffer.concat([nest([1], Buffer.from('gen_ai.tool.name')), nest([2], value)])),
      new BinaryWriter().tag(8, WireType.Bit64).fixed64(1n).finish(),
    ]);
    expect(otlp(requestOf(span)).counts).toMatchObject({ rejected: 1 });
  });

  test('a costly request goes to the worker thread, which rejects a single span that is too costly', () => {
    const empties = Buffer.alloc(2 * 8 * (spanValuesMax + 1)).fill(Buffer.from([10, 0]));
    const list = nest(
      [9],
      Buffer.concat([nest([1], Buffer.from('gen_ai.tool.name')), nest([2, 5], empties)]),
    );
    const request = requestOf(
      Buffer.concat([list, new BinaryWriter().tag(8, WireType.Bit64).fixed64(1n).finish()]),
    );
    expect(() => otlpOnLoop(request)).toThrow(CostlyBatchError);
    expect(otlp(request)).toMatchObject({
      counts: { rejected: 1 },
      rejection: 'A span has too many values.',
    });
  });

  test('a request with too many spans is rejected', () => {
    const spans = (count: number) => nest([1, 2], Buffer.alloc(2 * count).fill(Buffer.from([18, 0])));
    expect(otlp(Buffer.from(spans(spansMax))).counts.filtered).toEqual({ unfinished: spansMax });
    expect(refusal(() => otlp(Buffer.from(spans(spansMax + 1))))).toBe('batch_too_large');
  });

  test('the largest texts of an event above 4 MiB are shortened; a span above 8 MiB is rejected', () => {
    const { counts, rejection, parts } = otlp(
      toProtobuf({
        spans: [
          { attributes: { ...chat, large: 'x'.repeat(4 * 1024 ** 2) } },
          { attributes: { ...chat, 'many escapes': '\u0001'.repeat(1024 ** 2) }, spanId: 'a'.repeat(16) },
          { attributes: { ...chat, larger: 'x'.repeat(9 * 1024 ** 2) }, spanId: 'b'.repeat(16) },
          { attributes: chat, spanId: 'c'.repeat(16) },
        ],
      }),
    );
    expect(counts).toEqual({ stored: 3, rejected: 1, filtered: {} });
    expect(rejection).toBe('The event of a span is larger than 4194304 bytes (4 MiB).');
    const events = parts.flatMap(({ body }) => JSON.parse(body.toString()).events);
    expect(events.map(({ properties }) => properties.llm.otel.attributes)).toMatchObject([
      { large: { truncated: true, bytes: 4 * 1024 ** 2, sha256: expect.stringMatching(/^[0-9a-f]{64}$/) } },
      { 'many escapes': { truncated: true, bytes: 1024 ** 2, sha256: expect.any(String) } },
      chat,
    ]);
  });

  test('a large dimension stays a string, and large numbers keep their digits', () => {
    const digits = `[${'9'.repeat(400)}]`;
    const { counts, parts } = otlp(
      toProtobuf({
        spans: [
          {
            attributes: {
              'gen_ai.tool.name': 't',
              'gen_ai.tool.call.arguments': digits,
              'langfuse.trace.metadata.note': 'x'.repeat(4 * 1024 ** 2),
            },
          },
          {
            attributes: {
              ...chat,
              'gen_ai.tool.call.arguments': digits,
              many: Array(40_000).fill('x'.repeat(120)),
            },
          },
        ],
      }),
    );
    expect(counts).toEqual({ stored: 1, rejected: 1, filtered: {} });
    const [body = ''] = parts.map((part) => part.body.toString());
    expect(body).toContain(`"input":${digits}`);
    expect(JSON.parse(JSON.parse(body).events[0].additionalProperties.note)).toMatchObject({
      truncated: true,
    });
  });

  test('the spans of a resource that is too large are rejected', () => {
    const large = { resource: { text: 'x'.repeat(64 * 1024) }, spans: [{ attributes: chat }] };
    const { counts, rejection } = otlp(toProtobuf(large, { spans: [{ attributes: chat }] }));
    expect(counts).toEqual({ stored: 1, rejected: 1, filtered: {} });
    expect(rejection).toBe('A resource and its scope have more than 65536 characters.');
  });
});

test('events fill parts of 500 events and 4 MiB', () => {
  const spanId = (index: number) => (index + 1).toString(16).padStart(16, '0');
  const many = otlp(
    toProtobuf({
      spans: Array.from({ length: 1_001 }, (_, index) => ({ spanId: spanId(index), attributes: chat })),
    }),
  );
  expect(many.parts.map(({ projection }) => projection.eventCount)).toEqual([500, 500, 1]);
  const large = otlp(
    toProtobuf({
      spans: Array.from({ length: 5 }, (_, index) => ({
        spanId: spanId(index),
        attributes: { ...chat, large: 'x'.repeat(1.5 * 1024 ** 2) },
      })),
    }),
  );
  expect(large.parts.map(({ projection }) => projection.eventCount)).toEqual([2, 2, 1]);
  for (const { body, projection } of large.parts) {
    expect(body.length).toBeLessThanOrEqual(4 * 1024 ** 2);
    expect(JSON.parse(body.toString()).events).toHaveLength(projection.eventCount);
  }
});
