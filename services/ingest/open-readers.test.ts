import { fromBinary, toJsonString } from '@bufbuild/protobuf';
import { afterAll, expect, test } from 'vitest';
import { IngestEventsRequestSchema } from '../../gen/weir/ingest/v1/ingest_service_pb.ts';
import { bodyBytesMax, costlyBatchesMax, eventsPerBatchMax, readOnLoop } from '../../lib/limits.ts';
import { llmEvent, someEvents, toolEvent } from '../../test/support/events.ts';
import { toRequest } from '../../test/support/message.ts';
import { CostlyReader } from './costly-reader.ts';
import { openReaders } from './open-readers.ts';
import { CostlyBatchError, unlimited } from './read-limits.ts';
import { type BatchForm, type BatchReader, compileReaders, type ReadBatch } from './readers.ts';

const readers = openReaders('weir');
afterAll(() => readers[Symbol.asyncDispose]());
const onLoop = compileReaders('weir', readOnLoop);
const patient = compileReaders('weir', unlimited);

const forms: BatchForm[] = ['json', 'message', 'messageJson'];

function batchOf(form: BatchForm, events: readonly unknown[]): Buffer {
  if (form === 'json') return Buffer.from(JSON.stringify({ events }));
  const message = toRequest(events);
  if (form === 'message') return Buffer.from(message);
  return Buffer.from(toJsonString(IngestEventsRequestSchema, fromBinary(IngestEventsRequestSchema, message)));
}

const valuesMax = readOnLoop.valuesMax;
const withValues = (count: number) =>
  toolEvent({ properties: { tool: { name: 't', input: Array.from({ length: count }, (_, i) => i) } } });

/** As many times `unit` as a body may hold. */
function full(before: string, unit: string, after: string): Buffer {
  const count = Math.floor((bodyBytesMax - before.length - after.length) / unit.length);
  return Buffer.from(before + unit.repeat(count) + after);
}

function fullOfKeys(before: string, key: (index: number) => string, after: string): Buffer {
  const members: string[] = [];
  let length = before.length + after.length + 10;
  for (let index = 0; length < bodyBytesMax - 40; index++) {
    members.push(key(index));
    length += key(index).length + 1;
  }
  return Buffer.from(`${before}${members.join(',')}${after}`);
}

/** Of all that fits into a body these need most memory, for each byte or in one piece. */
const heaviest: [string, Buffer][] = [
  ['empty lists', full('{"events":[[[]', ',[]', ']]}')],
  ['empty objects', full('{"events":[[{}', ',{}', ']]}')],
  ['nested lists', full('{"events":[[0', `,${'['.repeat(500)}{}${']'.repeat(500)}`, ']]}')],
  ['many keys', fullOfKeys('{"events":[{', (index) => `"${index.toString(36)}":{}`, '}]}')],
  ['many keys beside the events', fullOfKeys('{', (index) => `"k${index}":0`, ',"events":[]}')],
  ['brackets', full('{"events":[', '[', '')],
];

type Outcome = ReadBatch | string;

async function outcomeOf(
  read: (bytes: Buffer) => ReadBatch | Promise<ReadBatch>,
  bytes: Buffer,
): Promise<Outcome> {
  try {
    return await read(bytes);
  } catch (error) {
    return String(error);
  }
}

const expectCostly = (read: BatchReader, bytes: Buffer) =>
  expect(() => read(bytes)).toThrow(CostlyBatchError);

test.each(forms)('a large batch as %s is read on the event loop', (form) => {
  const events = someEvents(eventsPerBatchMax).map((event) => ({
    ...event,
    additionalProperties: Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`key-${i}`, i])),
  }));
  expect(onLoop[form](batchOf(form, events)).projection.eventCount).toBe(eventsPerBatchMax);
});

test.each(forms)('a good batch as %s that is costly is read elsewhere, to the same', async (form) => {
  const bytes = batchOf(form, [llmEvent(), withValues(2 * valuesMax)]);
  expectCostly(onLoop[form], bytes);
  const read = await readers[form](bytes);
  expect(read).toEqual(patient[form](bytes));
  expect(read.projection.eventCount).toBe(2);
});

test.each(forms)('a bad batch as %s that is costly is refused as any other', async (form) => {
  const bytes = batchOf(form, [llmEvent({ id: 'no id' }), withValues(readOnLoop.badBytesMax)]);
  expectCostly(onLoop[form], bytes);
  const outcome = await outcomeOf(readers[form], bytes);
  expect(outcome).toContain('events[0].id');
  expect(outcome).toBe(await outcomeOf(patient[form], bytes));
});

test.each(['json', 'messageJson'] as const)(
  'what is wrong in a large body as %s is looked for elsewhere',
  (form) => {
    const text = 'x'.repeat(readOnLoop.badBytesMax);
    expectCostly(
      onLoop[form],
      batchOf(form, [toolEvent({ properties: { tool: { input: text } }, id: 'no id' })]),
    );
  },
);

test.each(heaviest)(
  '4 MiB of %s are read elsewhere, within its memory',
  { timeout: 30_000 },
  async (_, bytes) => {
    for (const form of ['json', 'messageJson'] as const) {
      expectCostly(onLoop[form], bytes);
      expect(await outcomeOf(readers[form], bytes)).toEqual(await outcomeOf(patient[form], bytes));
    }
  },
);

test('of costly batches at a time each has its own outcome, and one too many is refused', async () => {
  const events = Array.from({ length: costlyBatchesMax + 1 }, (_, index) => withValues(valuesMax + index));
  const outcomes = await Promise.all(
    events.map((event) => outcomeOf(readers.json, batchOf('json', [event]))),
  );
  expect(outcomes.pop()).toContain('Too many batches');
  expect(outcomes).toMatchObject(
    events.slice(0, -1).map(({ id }) => ({ projection: { eventCount: 1, columns: { id } } })),
  );
  expect(await readers.json(batchOf('json', events.slice(-1)))).toMatchObject({
    projection: { columns: { id: events.at(-1)?.id } },
  });
});

test('a thread that ends costs its batch a 503, and the next one is read by another', async () => {
  await using thread = new CostlyReader('weir', { maxOldGenerationSizeMb: 24, maxYoungGenerationSizeMb: 4 });
  const heavy = full('{"events":[[{}', ',{}', ']]}');
  const light = batchOf('json', [llmEvent()]);
  for (let times = 0; times < 2; times++) {
    await expect(thread.read('json', heavy)).rejects.toMatchObject({ id: 'ingest_unavailable' });
    expect(await thread.read('json', light)).toMatchObject({ projection: { eventCount: 1 } });
  }
});
