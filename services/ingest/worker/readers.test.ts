import { once } from 'node:events';
import type { Worker } from 'node:worker_threads';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { llmEvent, someEvents, toolEvent } from '../../../harness/fixtures/events.ts';
import { bodyBytesMax, eventsPerBatchMax } from '../../../platform/limits.ts';
import { encodeBatch } from '../../../test/support/protocols/heaviest-batches.ts';
import { until } from '../../../test/support/wait.ts';
import { costlyBatches, largeBatches, readCostlyInTurn, readJsonOnLoop, readOnLoop } from '../limits.ts';
import {
  type BatchEncoding,
  type BatchReader,
  CostlyBatchError,
  type ReadBatch,
  unlimited,
} from '../read/batch-reader.ts';
import { createBatchReaders } from '../read/batch-readers.ts';
import { openReaders } from './readers.ts';
import { WorkerReader } from './worker-reader.ts';

const readers = openReaders('weir');
afterAll(() => readers[Symbol.asyncDispose]());
const asLarge = createBatchReaders('weir', largeBatches.limits);
const unlimitedReaders = createBatchReaders('weir', unlimited);

const encodings: BatchEncoding[] = ['json', 'protobuf', 'protobufJson'];
/** Beyond these limits a batch is read on the thread for costly ones. */
const { valuesMax, badBytesMax } = largeBatches.limits;

const withInput = (input: unknown) => toolEvent({ properties: { tool: { name: 't', input } } });
const withValues = (count: number) => withInput(Array.from({ length: count }, (_, i) => i));

/** A body of 4 MiB, filled with `unit`. */
function fullOf(before: string, unit: string, after: string): Buffer {
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

const notAnObject = 'events[0] must be an object';
const noType = 'events[0].type is required';

/** The bodies that need most memory, and the result of reading them. */
const heaviest: [string, Buffer, unknown][] = [
  ['empty lists', fullOf('{"events":[[[]', ',[]', ']]}'), notAnObject],
  ['empty objects', fullOf('{"events":[[{}', ',{}', ']]}'), notAnObject],
  ['nested lists', fullOf('{"events":[[0', `,${'['.repeat(500)}{}${']'.repeat(500)}`, ']]}'), notAnObject],
  [
    'keys',
    fullOfKeys('{"events":[{', (index) => `"${index.toString(36)}":{}`, '}]}'),
    // In protobuf's JSON one of the keys is `id`.
    expect.stringMatching(/events\[0\]\.(type is required|id must be a string of Unicode)/),
  ],
  ['escaped keys', fullOfKeys('{"events":[{', (index) => `"\\n${index.toString(36)}":{}`, '}]}'), noType],
  [
    'keys outside of the events',
    fullOfKeys('{', (index) => `"k${index}":0`, ',"events":[]}'),
    expect.objectContaining({ projection: expect.objectContaining({ eventCount: 0 }) }),
  ],
  ['brackets', fullOf('{"events":[', '[', ''), 'The request body is not valid JSON.'],
];

type Outcome = ReadBatch | string;

async function outcomeOf(
  read: (bytes: Buffer, spaceId: string) => ReadBatch | Promise<ReadBatch>,
  bytes: Buffer,
  spaceId = 'space',
): Promise<Outcome> {
  try {
    return await read(bytes, spaceId);
  } catch (error) {
    return String(error);
  }
}

const expectCostly = (read: BatchReader, bytes: Buffer) =>
  expect(() => read(bytes)).toThrow(CostlyBatchError);

test.each(encodings)('a large batch in %s is read on the thread for large ones', (encoding) => {
  const events = someEvents(eventsPerBatchMax).map((event) => ({
    ...event,
    additionalProperties: Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`key-${i}`, i])),
  }));
  expect(asLarge[encoding](encodeBatch(encoding, events)).projection.eventCount).toBe(eventsPerBatchMax);
});

test.each(encodings)(
  'a costly valid batch in %s is read on the other thread, with the same result',
  async (encoding) => {
    const bytes = encodeBatch(encoding, [llmEvent(), withValues(2 * valuesMax)]);
    expectCostly(asLarge[encoding], bytes);
    const read = await readers[encoding](bytes, 'space');
    expect(read).toEqual(unlimitedReaders[encoding](bytes));
    expect(read.projection.eventCount).toBe(2);
  },
);

test.each(encodings)('a costly invalid batch in %s is rejected like any other', async (encoding) => {
  const bytes = encodeBatch(encoding, [llmEvent({ id: 'no id' }), withValues(badBytesMax)]);
  expectCostly(asLarge[encoding], bytes);
  const outcome = await outcomeOf(readers[encoding], bytes);
  expect(outcome).toContain('events[0].id');
  expect(outcome).toBe(await outcomeOf(unlimitedReaders[encoding], bytes));
});

test.each(['json', 'protobufJson'] as const)(
  'the error of a large body in %s is found on the thread for costly ones',
  (encoding) => {
    expectCostly(
      asLarge[encoding],
      encodeBatch(encoding, [{ ...withInput('x'.repeat(badBytesMax)), id: 'no id' }]),
    );
  },
);

test.each(['json', 'protobufJson'] as const)(
  'in %s an escaped key counts as two values, and a back-slash in a value as none',
  (encoding) => {
    const count = 0.6 * valuesMax;
    const withText = (text: string) =>
      encodeBatch(encoding, [withInput(Array.from({ length: count }, () => text))]);
    const withKeys = (key: string) =>
      encodeBatch(encoding, [
        withInput(Object.fromEntries(Array.from({ length: count }, (_, i) => [`${key}${i}`, 0]))),
      ]);
    for (const bytes of [withText('\\[ x = 1 \\]'), withKeys('k')]) {
      expect(asLarge[encoding](bytes).projection.eventCount).toBe(1);
    }
    expectCostly(asLarge[encoding], withKeys('\\'));
  },
);

test.each(heaviest)(
  '4 MiB of %s are read on the thread for costly ones, within its memory',
  async (_, bytes, expected) => {
    for (const encoding of ['json', 'protobufJson'] as const) {
      expectCostly(asLarge[encoding], bytes);
      const outcome = await outcomeOf(readers[encoding], bytes);
      expect(outcome).toEqual(typeof expected === 'string' ? `IngestError: ${expected}` : expected);
    }
  },
);

test('simultaneous costly batches get their own results, and of one space one too many is rejected', async () => {
  const count = readCostlyInTurn.atOnceMax + readCostlyInTurn.waitingOfUserMax;
  // The first one occupies the thread until all others wait.
  const slow = withInput(Array.from({ length: bodyBytesMax / 4 }, () => []));
  const events = Array.from({ length: count + 1 }, (_, index) =>
    index === 0 ? slow : withValues(valuesMax + index),
  );
  const outcomes = await Promise.all(
    events.map((event) => outcomeOf(readers.json, encodeBatch('json', [event]))),
  );
  expect(outcomes.pop()).toContain('Too many batches');
  expect(outcomes).toMatchObject(
    events.slice(0, -1).map(({ id }) => ({ projection: { eventCount: 1, columns: { id } } })),
  );
  expect(await outcomeOf(readers.json, encodeBatch('json', events.slice(-1)))).toMatchObject({
    projection: { columns: { id: events.at(-1)?.id } },
  });
});

test.each([
  ['costly', 3, withValues(2 * valuesMax)],
  ['large', 2, withValues(readJsonOnLoop.valuesMax + 1)],
  ['small', 1, withInput('x'.repeat(2 * readOnLoop.inTurnBytesMin))],
])('a %s batch waits for one batch of each other space, however many they have', async (_, queues, event) => {
  const bytes = encodeBatch('json', [event]);
  const read: string[] = [];
  const readFor = async (spaceId: string) => {
    if (typeof (await outcomeOf(readers.json, bytes, spaceId)) !== 'string') read.push(spaceId);
  };
  const busy = ['a', 'b', 'a', 'b', 'a', 'b', 'a', 'b', 'a', 'b'].map(readFor);
  await Promise.all([...busy, readFor('newcomer')]);
  // It waits for the turn of the event loop, then of each thread that it needs: for what is being read, and
  // in each queue for one batch of each of the two.
  expect(read.indexOf('newcomer')).toBeLessThanOrEqual(1 + 2 * queues);
});

test('when the worker ends its batch is unavailable, and the next one is read by another worker', async () => {
  const resourceLimits = { maxOldGenerationSizeMb: 24, maxYoungGenerationSizeMb: 4 };
  await using worker = new WorkerReader('weir', { ...costlyBatches, resourceLimits });
  const heavy = fullOf('{"events":[[[]', ',[]', ']]}');
  const light = encodeBatch('json', [llmEvent()]);
  for (let times = 0; times < 2; times++) {
    await expect(worker.read('json', heavy)).rejects.toMatchObject({ id: 'ingest_unavailable' });
    expect(await worker.read('json', light)).toMatchObject({ projection: { eventCount: 1 } });
  }
});

test('a used worker is replaced when it is idle, and the next batch is read', async () => {
  const started: Worker[] = [];
  const onWorker = (worker: Worker) => started.push(worker);
  process.on('worker', onWorker);
  onTestFinished(() => void process.off('worker', onWorker));
  await using reader = new WorkerReader('weir', { ...largeBatches, idleMs: 1 });
  const light = encodeBatch('json', [llmEvent()]);
  for (let times = 1; times <= 2; times++) {
    await until(() => started.length === times);
    const ended = once(started.at(-1) as Worker, 'exit');
    expect(await reader.read('json', light)).toMatchObject({ projection: { eventCount: 1 } });
    await ended;
  }
});
