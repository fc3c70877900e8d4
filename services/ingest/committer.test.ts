import { zstdDecompressSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { splitElements } from '../../lib/event/text.ts';
import { compileBatchRules } from '../../lib/event/validate.ts';
import { openLog } from '../../lib/log.ts';
import type { QueuePosition } from '../../lib/queue/failover.ts';
import { decodeGroup, type Group } from '../../lib/queue/group.ts';
import { QueueSilentError } from '../../lib/queue/publish.ts';
import { cutEvents } from '../../lib/segment/cut.ts';
import { llmEvent } from '../../test/support/events.ts';
import { acceptBatch } from './accepted-batch.ts';
import { Committer } from './committer.ts';
import { createBatchReader } from './read-batch.ts';
import { unlimited } from './read-limits.ts';

const readBatch = createBatchReader(compileBatchRules('weir'), unlimited);
const log = openLog('test', { LOG_LEVEL: 'silent' });
const access = (name: string) =>
  ({
    keyId: `key-${name}`,
    spaceId: `space-${name}`,
    billingState: 'active',
    monthlyEventLimit: null,
  }) as const;

/** A broker that acknowledges only when told to. */
function openBroker() {
  const published: {
    group: Group;
    messageId: string;
    acknowledge: () => void;
    fail: (error: Error) => void;
  }[] = [];
  const publish = (payload: Uint8Array, messageId: string) =>
    new Promise<QueuePosition>((resolve, reject) => {
      const group = decodeGroup(payload);
      const acknowledge = () => resolve({ stream: 'queue', sequence: published.length });
      published.push({ group, messageId, acknowledge, fail: reject });
    });
  return { published, committer: (bytesMax = 7e6) => new Committer(publish, bytesMax, log) };
}

async function batchOf(tenant: string, ...events: Record<string, unknown>[]) {
  const body = Buffer.from(JSON.stringify({ events }));
  return acceptBatch(access(tenant), readBatch(body).projection, {
    body,
    atMs: 1_760_000_000_000,
  });
}

const tick = () => new Promise(setImmediate);

test('what arrives while a publish is in flight leaves together, and is answered by its own PubAck', async () => {
  const { published, committer: open } = openBroker();
  const committer = open();
  const answered: string[] = [];
  const commit = async (name: string) => {
    await committer.commit(await batchOf('a', llmEvent()));
    answered.push(name);
  };
  const first = commit('first');
  await tick();
  await tick();
  const others = [commit('second'), commit('third')];
  await tick();
  expect(published).toHaveLength(1);
  expect(answered).toEqual([]);
  published[0]?.acknowledge();
  await first;
  await tick();
  expect(answered).toEqual(['first']);
  expect(published).toHaveLength(2);
  expect(published[1]?.group.parts.map(({ eventCount }) => eventCount)).toEqual([2]);
  published[1]?.acknowledge();
  await Promise.all(others);
});

test('small batches of one key share a segment, in which each event is found by its index', async () => {
  const { published, committer: open } = openBroker();
  const committer = open();
  const events = Array.from({ length: 6 }, () => llmEvent());
  const [a = {}, b = {}, c = {}, d = {}, e = {}, f = {}] = events;
  const commits = [
    committer.commit(await batchOf('a', a, b)),
    committer.commit(await batchOf('z', c)),
    committer.commit(await batchOf('a', d)),
    committer.commit(await batchOf('a', e, f)),
  ];
  await tick();
  const parts = published[0]?.group.parts ?? [];
  expect(parts.map(({ spaceId, eventCount }) => [spaceId, eventCount])).toEqual([
    ['space-a', 5],
    ['space-z', 1],
  ]);
  const shared = parts[0];
  const ids = splitElements(shared?.columns?.id ?? '');
  const indexes = splitElements(shared?.columns?.segmentIndex ?? '').map(Number);
  const texts = cutEvents(zstdDecompressSync(shared?.body ?? Buffer.alloc(0)), indexes);
  expect(indexes.map((index) => JSON.parse(texts.get(index) ?? '').id)).toEqual(ids);
  expect(ids).toEqual([a, b, d, e, f].map(({ id }) => id));
  published[0]?.acknowledge();
  await Promise.all(commits);
});

test('a message stays within what the server takes', async () => {
  const { published, committer: open } = openBroker();
  const batches = await Promise.all(Array.from({ length: 4 }, () => batchOf('a', llmEvent())));
  const committer = open(1);
  const commits = batches.map((batch) => committer.commit(batch));
  while (published.length < 4) {
    published.at(-1)?.acknowledge();
    await tick();
  }
  published.at(-1)?.acknowledge();
  await Promise.all(commits);
  expect(published.map(({ group }) => group.parts.length)).toEqual([1, 1, 1, 1]);
});

test('a retried request has the same message id, and another space another one', async () => {
  const { published, committer: open } = openBroker();
  const committer = open();
  const event = llmEvent();
  for (const [i, tenant] of ['a', 'a', 'b'].entries()) {
    const commit = committer.commit(await batchOf(tenant, event));
    await tick();
    published[i]?.acknowledge();
    await commit;
  }
  const [first, retry, other] = published.map(({ messageId }) => messageId);
  expect(first).toBe(retry);
  expect(first).not.toBe(other);
});

test('without a PubAck every batch of the group is unavailable, and the next group is tried anew', async () => {
  const { published, committer: open } = openBroker();
  const committer = open();
  const batches = [await batchOf('a', llmEvent()), await batchOf('b', llmEvent())];
  const failed = Promise.allSettled(batches.map((batch) => committer.commit(batch)));
  await tick();
  published[0]?.fail(new Error('refused'));
  for (const outcome of await failed) {
    expect(outcome).toMatchObject({ status: 'rejected', reason: { id: 'ingest_unavailable' } });
  }
  const next = committer.commit(await batchOf('a', llmEvent()));
  await tick();
  published[1]?.acknowledge();
  expect(await next).toEqual({ stream: 'queue', sequence: 2 });
});

test('what waits behind a publish that nobody confirms is refused with it, and not published', async () => {
  const { published, committer: open } = openBroker();
  const committer = open();
  const first = committer.commit(await batchOf('a', llmEvent()));
  await tick();
  const second = committer.commit(await batchOf('b', llmEvent()));
  const both = Promise.allSettled([first, second]);
  published[0]?.fail(new QueueSilentError('no PubAck'));
  for (const outcome of await both) {
    expect(outcome).toMatchObject({ status: 'rejected', reason: { id: 'ingest_unavailable' } });
  }
  expect(published).toHaveLength(1);
});
