import { randomBytes } from 'node:crypto';
import { afterAll, expect, test } from 'vitest';
import { toolEvent } from '../../../harness/fixtures/events.ts';
import { toProtobufLogs } from '../../../harness/fixtures/logs.ts';
import { toOtlpJson, toProtobuf } from '../../../harness/fixtures/spans.ts';
import { encodeBatch } from '../../../test/support/protocols/heaviest-batches.ts';
import { measureStall, unitsMax } from '../../../test/support/run/event-loop.ts';
import type { Encoding } from './encodings.ts';
import { openReaders } from './readers.ts';

const readers = openReaders('weir');
afterAll(() => readers[Symbol.asyncDispose]());

const id = (bytes: number) => randomBytes(bytes).toString('hex');
const traceId = id(16);
const attributes = {
  'gen_ai.operation.name': 'chat',
  'gen_ai.request.model': 'gpt-4o',
  'gen_ai.input.messages': JSON.stringify([
    { role: 'user', parts: [{ type: 'text', content: 'x'.repeat(300) }] },
  ]),
};
const spans = (count: number) => ({
  spans: Array.from({ length: count }, () => ({ traceId, spanId: id(8), attributes })),
});
const records = (count: number) =>
  Array.from({ length: count }, () => ({
    ...{ traceId, spanId: '', eventName: 'claude_code.api_request' },
    attributes: { model: 'claude', input_tokens: '10', output_tokens: '5', request_id: id(12) },
  }));
const keys = (count: number) => [
  toolEvent({
    properties: {
      tool: { name: 't', input: Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, i])) },
    },
  }),
];
const cases: [string, Encoding, Buffer][] = [3_000, 120].flatMap((count) => [
  [`${count} spans`, 'otlp', toProtobuf(spans(count))],
  [`${count} spans in JSON`, 'otlpJson', toOtlpJson(spans(count))],
  [`${count} log records`, 'otlpLogs', toProtobufLogs(records(count))],
]);
cases.push(
  ...[60_000, 40_000, 8_000].flatMap((count) =>
    (['json', 'protobuf', 'protobufJson'] as const).map((encoding): [string, Encoding, Buffer] => [
      `${count} keys in ${encoding}`,
      encoding,
      encodeBatch(encoding, keys(count)),
    ]),
  ),
);

test.each(cases)('the event loop turns while %s are read', async (_, encoding, bytes) => {
  // Half of what other calls may take: a turn also receives, publishes and answers.
  const boundUnits = unitsMax / 2;
  const units = await measureStall(async () => readers[encoding](bytes, 'space'), boundUnits);
  expect(units).toBeLessThanOrEqual(boundUnits);
});
