import { randomBytes } from 'node:crypto';
import { zstdDecompressSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { cutEvents } from '../../../event/segment/cut.ts';
import { splitElements } from '../../../event/text.ts';
import { compileBatchRules } from '../../../event/validate.ts';
import { llmEvent, toolEvent } from '../../../harness/fixtures/events.ts';
import { openLog } from '../../../platform/log.ts';
import type { QueuePosition } from '../../../platform/queue/failover.ts';
import { decodeGroup, type Group } from '../../../platform/queue/group.ts';
import { payloadBytesMin } from '../../../platform/queue/limits.ts';
import { PubAckTimeoutError } from '../../../platform/queue/stream-publisher.ts';
import { heaviestBatches } from '../../../test/support/protocols/heaviest-batches.ts';
import { until } from '../../../test/support/wait.ts';
import { unlimited } from '../read/batch-reader.ts';
import { createBatchReaders } from '../read/batch-readers.ts';
import { createJsonBatchReader } from '../read/json-batch-reader.ts';
import { Committer } from './committer.ts';
import { compressBatch } from './compressed-batch.ts';

const readBatch = createJsonBatchReader(compileBatchRules('weir'), unlimited);
const log = openLog('test', { LOG_LEVEL: 'silent' });
const access = (name: string) =>
  ({
    keyId: `key-${name}`,
    spaceId: `space-${name}`,
    billingState: 'active',
    monthlyEventLimit: null,
  }) as const;

interface Published {
  group: Group;
  messageId: string;
  acknowledge(): void;
  fail(error: Error): void;
}

/** A committer, and a broker whose acknowledgements the test triggers. */
function openCommitter(payloadBytesMax = payloadBytesMin) {
  const published: Published[] = [];
  const publish = (payload: Uint8Array, messageId: string) =>
    new Promise<QueuePosition>((resolve, reject) => {
      const sequence = published.length + 1;
      const acknowledge = () => resolve({ stream: 'queue', sequence });
      published.push({ group: decodeGroup(payload), messageId, acknowledge, fail: reject });
    });
  /** The message of that number, once it is published. */
  const message = async (number: number): Promise<Published> => {
    await until(() => published.length > number);
    return published[number] as Published;
  };
  return { published, message, committer: new Committer(publish, payloadBytesMax, log) };
}

async function batchOf(tenant: string, ...events: Record<string, unknown>[]) {
  const body = Buffer.from(JSON.stringify({ events }));
  return compressBatch(access(tenant), readBatch(body).projection, { body, atMs: 1_760_000_000_000 });
}

async function heaviestBatch() {
  const [heaviest] = heaviestBatches('protobuf');
  const { projection, body } = createBatchReaders('weir', unlimited).protobuf(
    heaviest?.bytes ?? Buffer.alloc(0),
  );
  return compressBatch(access('a'), projection, { body: body ?? Buffer.alloc(0), atMs: 0 });
}

const unavailable = { status: 'rejected', reason: { id: 'ingest_unavailable' } };

test('batches that arrive while a publish is in flight share a message, and resolve with its PubAck', async () => {
  const { published, message, committer } = openCommitter();
  const answered: string[] = [];
  const commit = async (name: string) => {
    await committer.commit(await batchOf('a', llmEvent()));
    answered.push(name);
  };
  const first = commit('first');
  const firstMessage = await message(0);
  const others = [commit('second'), commit('third')];
  expect(answered).toEqual([]);
  firstMessage.acknowledge();
  await first;
  const { group, acknowledge } = await message(1);
  expect(answered).toEqual(['first']);
  expect(group.parts.map(({ eventCount }) => eventCount)).toEqual([2]);
  acknowledge();
  await Promise.all(others);
  expect(published).toHaveLength(2);
});

test('small batches of one key share a segment, in which each event is found by its index', async () => {
  const { message, committer } = openCommitter();
  const [a = {}, b = {}, c = {}, d = {}, e = {}, f = {}] = Array.from({ length: 6 }, () => llmEvent());
  const batches = await Promise.all([
    batchOf('a', a, b),
    batchOf('z', c),
    batchOf('a', d),
    batchOf('a', e, f),
  ]);
  const commits = batches.map((batch) => committer.commit(batch));
  const { group, acknowledge } = await message(0);
  expect(group.parts.map(({ spaceId, eventCount }) => [spaceId, eventCount])).toEqual([
    ['space-a', 5],
    ['space-z', 1],
  ]);
  const [shared] = group.parts;
  const ids = splitElements(shared?.columns?.id ?? '');
  const indexes = splitElements(shared?.columns?.segmentIndex ?? '').map(Number);
  const texts = cutEvents(zstdDecompressSync(shared?.body ?? Buffer.alloc(0)), indexes);
  expect(indexes.map((index) => JSON.parse(texts.get(index) ?? '').id)).toEqual(ids);
  expect(ids).toEqual([a, b, d, e, f].map(({ id }) => id));
  acknowledge();
  const ranges = (await Promise.all(commits)).map(([committed]) => committed?.range);
  const [segmentId, other] = group.parts.map((part) => part.segmentId);
  expect(ranges).toEqual([
    { segmentId, first: 0, last: 1 },
    { segmentId: other, first: 0, last: 0 },
    { segmentId, first: 2, last: 2 },
    { segmentId, first: 3, last: 4 },
  ]);
});

test('batches that do not fit into one message are published one after the other', async () => {
  const { message, committer } = openCommitter(3_000);
  const batches = await Promise.all(Array.from({ length: 4 }, () => batchOf('a', llmEvent())));
  const commits = batches.map((batch) => committer.commit(batch));
  for (let number = 0; number < 4; number++) {
    const { group, acknowledge } = await message(number);
    expect(group.parts.map(({ eventCount }) => eventCount)).toEqual([1]);
    acknowledge();
  }
  await Promise.all(commits);
});

test('messages of several batches stay small: making a large one would hold the event loop', async () => {
  const { message, committer } = openCommitter();
  // They do not compress, and have 2 MB each.
  const input = () => randomBytes(1_500_000).toString('base64');
  const batches = await Promise.all(
    Array.from({ length: 4 }, () =>
      batchOf('a', toolEvent({ properties: { tool: { name: 't', input: input() } } })),
    ),
  );
  const commits = batches.map((batch) => committer.commit(batch));
  for (const number of [0, 1]) {
    const { group, acknowledge } = await message(number);
    expect(group.parts).toHaveLength(2);
    acknowledge();
  }
  await Promise.all(commits);
});

test('of the batches that do not fit into one message, those of a space that has many do not delay another', async () => {
  const { published, message, committer } = openCommitter(3_000);
  const names = ['a', 'a', 'a', 'b', 'a', 'c', 'b'];
  const batches = await Promise.all(names.map((name) => batchOf(name, llmEvent())));
  const commits = batches.map((batch) => committer.commit(batch));
  for (const number of names.keys()) (await message(number)).acknowledge();
  await Promise.all(commits);
  const order = published.flatMap(({ group }) => group.parts.map(({ spaceId }) => spaceId));
  expect(order).toEqual(['a', 'b', 'c', 'a', 'b', 'a', 'a'].map((name) => `space-${name}`));
});

test('a batch in several messages is durable when all of them are acknowledged', async () => {
  const { published, message, committer } = openCommitter();
  let isAnswered = false;
  const commit = committer.commit(await heaviestBatch()).then((messages) => {
    isAnswered = true;
    return messages;
  });
  (await message(0)).acknowledge();
  const last = await message(1);
  await new Promise(setImmediate);
  expect(isAnswered).toBe(false);
  last.acknowledge();
  expect(await commit).toEqual(
    published.map(({ group }, index) => ({
      eventCount: group.parts[0]?.eventCount,
      position: { stream: 'queue', sequence: index + 1 },
      range: {
        segmentId: group.parts[0]?.segmentId,
        first: 0,
        last: (group.parts[0]?.eventCount ?? 0) - 1,
      },
    })),
  );
  expect(new Set(published.map(({ messageId }) => messageId)).size).toBe(2);
});

test('a batch with an unacknowledged message is unavailable, and its retry publishes the same messages', async () => {
  const { published, message, committer } = openCommitter();
  const batch = await heaviestBatch();
  const failed = Promise.allSettled([committer.commit(batch)]);
  (await message(0)).acknowledge();
  (await message(1)).fail(new Error('no space left'));
  expect(await failed).toMatchObject([unavailable]);
  const retry = committer.commit(batch);
  (await message(2)).acknowledge();
  (await message(3)).acknowledge();
  await retry;
  const ids = published.map(({ messageId }) => messageId);
  expect(ids.slice(2)).toEqual(ids.slice(0, 2));
});

test('a message that is larger than the server takes is never published', async () => {
  const { published, committer } = openCommitter(100);
  await expect(committer.commit(await batchOf('a', llmEvent()))).rejects.toMatchObject({
    id: 'ingest_unavailable',
  });
  expect(published).toEqual([]);
});

test('a retried request has the same message id, and another space another one', async () => {
  const { published, message, committer } = openCommitter();
  const event = llmEvent();
  for (const [number, tenant] of ['a', 'a', 'b'].entries()) {
    const commit = committer.commit(await batchOf(tenant, event));
    (await message(number)).acknowledge();
    await commit;
  }
  const [first, retry, other] = published.map(({ messageId }) => messageId);
  expect(first).toBe(retry);
  expect(first).not.toBe(other);
});

test('without a PubAck every batch of the message is unavailable, and the next message is published', async () => {
  const { message, committer } = openCommitter();
  const batches = [await batchOf('a', llmEvent()), await batchOf('b', llmEvent())];
  const failed = Promise.allSettled(batches.map((batch) => committer.commit(batch)));
  (await message(0)).fail(new Error('refused'));
  expect(await failed).toMatchObject([unavailable, unavailable]);
  const next = committer.commit(await batchOf('a', llmEvent()));
  (await message(1)).acknowledge();
  expect(await next).toMatchObject([{ eventCount: 1, position: { stream: 'queue', sequence: 2 } }]);
});

test('batches that wait behind a publish that timed out are unavailable at once, and are not published', async () => {
  const { published, message, committer } = openCommitter();
  const [one, two] = [await batchOf('a', llmEvent()), await batchOf('b', llmEvent())];
  const first = committer.commit(one);
  const { fail } = await message(0);
  const both = Promise.allSettled([first, committer.commit(two)]);
  fail(new PubAckTimeoutError('no PubAck'));
  expect(await both).toMatchObject([unavailable, unavailable]);
  expect(published).toHaveLength(1);
});
