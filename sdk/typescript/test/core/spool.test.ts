import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Weir, type WeirOptions } from '../../src/index.ts';
import type { QueuedEvent } from '../../src/queue/queue.ts';
import type { SpoolStore } from '../../src/queue/spool-store.ts';
import { type FileSpoolOptions, fileSpool } from '../../src/spool.ts';
import { llmEvent } from '../support/events.ts';
import { eventually } from '../support/eventually.ts';
import { runOutage } from '../support/outage.ts';
import { VirtualRuntime } from '../support/virtual-runtime.ts';
import { refuse, WeirStub } from '../support/weir-stub.ts';

let directory: string;
let stub: WeirStub;
let runtime: VirtualRuntime;
beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'weir-test-spool-'));
  stub = await WeirStub.start();
  runtime = new VirtualRuntime();
});
afterEach(async () => {
  await stub.close();
  rmSync(directory, { recursive: true });
});

const openSpool = (options: Partial<FileSpoolOptions> = {}) => fileSpool({ directory, ...options });
const open = (spool: SpoolStore, options: WeirOptions = {}) =>
  new Weir({ url: stub.url, apiKey: 'key', flushOnExit: false, runtime, spool, ...options });
const record = (weir: Weir, count: number, prompt?: string) =>
  Array.from({ length: count }, () => weir.record(llmEvent(prompt)));
const files = () =>
  readdirSync(directory, { recursive: true })
    .map(String)
    .filter((name) => /ndjson/.test(name));

const queued = (count: number, size = 100): QueuedEvent[] =>
  Array.from({ length: count }, () => {
    const id = crypto.randomUUID();
    return { id, bytes: Buffer.from(JSON.stringify({ id, fill: 'x'.repeat(size) })), atMs: Date.now() };
  });

async function drain(spool: SpoolStore): Promise<string[]> {
  const ids: string[] = [];
  for (let batch = await spool.next(() => {}); batch; batch = await spool.next(() => {})) {
    ids.push(...batch.events.map(({ id }) => id));
    batch.release();
  }
  return ids;
}

test('4,000 events/s of 6 KB while Weir does not respond: none is dropped while the disk has room', async () => {
  stub.respond = () => new Promise<boolean>(() => {});
  const weir = open(openSpool());
  const prompt = 'x'.repeat(6_000);
  for (let recorded = 0; recorded < 14_000; recorded += 400) {
    record(weir, 400, prompt);
    await runtime.advance(100);
  }
  const { dropped, pending, spooled } = weir.stats();
  expect({ dropped, pending }).toEqual({ dropped: 0, pending: 14_000 });
  expect(spooled).toBeGreaterThan(13_000);
  await stub.close();
  await weir.shutdown({ timeoutMs: 0 });
});

test('with a spool the batch of a request without a response is pending', async () => {
  stub.respond = () => new Promise<boolean>(() => {});
  const weir = open(openSpool());
  record(weir, 700);
  await runtime.advance(100);
  await eventually(() => expect(stub.requests).toHaveLength(1));
  await runtime.advance(2_000);
  expect(weir.stats()).toMatchObject({ recorded: 700, pending: 700, dropped: 0 });
  await stub.close();
});

test('while Weir is unreachable events are on disk; afterwards each is delivered once', async () => {
  await stub.close();
  const weir = open(openSpool());
  const ids = record(weir, 1_200);
  await runtime.advance(1_000);
  await eventually(() => expect(weir.stats().spooled).toBeGreaterThanOrEqual(500));
  await runtime.advance(500);
  ids.push(...record(weir, 10));
  await runtime.advance(100);
  expect(weir.stats()).toMatchObject({ pending: 1_210, spooled: 1_210 });
  await stub.open();
  await runtime.advance(30_000);
  await eventually(() => expect(weir.stats()).toMatchObject({ accepted: 1_210, pending: 0, spooled: 0 }));
  expect(new Set(stub.accepted.keys())).toEqual(new Set(ids));
  expect([...stub.deliveries.values()].every((count) => count === 1)).toBe(true);
  expect(files()).toEqual([]);
  record(weir, 1);
  await weir.shutdown();
  expect(readdirSync(directory)).toEqual([]);
});

test('a request that hangs does not keep events off the disk', async () => {
  let release = () => {};
  stub.respond = async () => {
    await new Promise<void>((resolve) => {
      release = resolve;
    });
    return false;
  };
  const weir = open(openSpool());
  record(weir, 5);
  await runtime.advance(1_000);
  await eventually(() => expect(stub.requests).toHaveLength(1));
  record(weir, 3);
  await runtime.advance(1_100);
  expect(files()).toHaveLength(2);
  stub.respond = () => undefined;
  release();
  await eventually(async () => {
    await runtime.advance(1_000);
    expect(weir.stats()).toMatchObject({ accepted: 8, pending: 0 });
  });
  expect(files()).toEqual([]);
});

test('shutdown leaves undelivered events to the next process', async () => {
  await stub.close();
  const first = open(openSpool());
  const ids = record(first, 7);
  // Time only passes in `advance`: the flush stops at its time-out.
  const closing = first.shutdown({ timeoutMs: 100 });
  await eventually(() => expect(first.stats().spooled).toBe(7));
  await runtime.advance(200);
  expect(await closing).toEqual({ accepted: 0, dropped: 0, pending: 7 });
  await stub.open();
  const second = open(openSpool());
  expect(await second.flush()).toEqual({ accepted: 7, dropped: 0, pending: 0 });
  expect([...stub.accepted.keys()]).toEqual(ids);
});

test('files of a live owner are not adopted, nor files that another process has adopted', async () => {
  const first = openSpool();
  first.append(queued(3));
  const second = openSpool();
  expect(second.events).toBe(0);
  first.close();
  const [third, fourth] = [openSpool(), openSpool()];
  expect([third.events, fourth.events]).toEqual([3, 0]);
});

test('the spool of a process that has ended is adopted, also when its pid was reused', async () => {
  const first = openSpool();
  first.append(queued(2));
  const [name = ''] = readdirSync(directory);
  const lock = join(directory, name, 'lock');
  const owner = JSON.parse(readFileSync(lock, 'utf8'));
  const stranger = {
    startedAtMs: owner.startedAtMs - 60_000,
    startTicks: owner.startTicks && owner.startTicks - 6_000,
  };
  for (const change of [{ pid: 2 ** 22 + 1 }, stranger, { pid: 1 }]) {
    const [current = ''] = readdirSync(directory);
    writeFileSync(join(directory, current, 'lock'), JSON.stringify({ ...owner, ...change }));
    const adopter = openSpool();
    expect(adopter.events).toBe(2);
  }
});

test.runIf(existsSync('/proc/self/stat'))(
  'a live owner remains the owner after the clock was set or the machine was suspended',
  () => {
    const first = openSpool();
    first.append(queued(2));
    const lock = join(directory, readdirSync(directory)[0] ?? '', 'lock');
    const owner = JSON.parse(readFileSync(lock, 'utf8'));
    writeFileSync(lock, JSON.stringify({ ...owner, startedAtMs: owner.startedAtMs - 3_600_000 }));
    expect(openSpool().events).toBe(0);
  },
);

test.runIf(existsSync('/proc/self/stat'))(
  'the spool of a process whose parent has not noticed its end is adopted',
  async () => {
    // As in a container whose first process does not wait for its children.
    const parent = spawn('sh', ['-c', 'cat <&3 & echo $!; exec sleep 60'], {
      stdio: ['ignore', 'pipe', 'ignore', 'pipe'],
    });
    try {
      const [said] = parent.stdout === null ? [] : await once(parent.stdout, 'data');
      const pid = Number(said);
      // The shell waits for a child that ends before.
      const commandOf = () => readFileSync(`/proc/${parent.pid}/comm`, 'utf8');
      await eventually(() => expect(commandOf()).toBe('sleep\n'));
      parent.stdio[3]?.destroy();
      await eventually(() => expect(readFileSync(`/proc/${pid}/stat`, 'utf8')).toContain(') Z '));
      openSpool().append(queued(2));
      const lock = join(directory, readdirSync(directory)[0] ?? '', 'lock');
      const { startTicks: _, ...owner } = JSON.parse(readFileSync(lock, 'utf8'));
      writeFileSync(lock, JSON.stringify({ ...owner, pid }));
      expect(openSpool().events).toBe(2);
    } finally {
      parent.kill('SIGKILL');
    }
  },
);

test('a line that a crash truncated is left out, and the others are read', async () => {
  const first = openSpool();
  const events = queued(3);
  first.append(events);
  const [name = ''] = files();
  truncateSync(join(directory, name), 2 * (events[0]?.bytes.length ?? 0) + 30);
  first.close();
  expect(await drain(openSpool())).toEqual(events.slice(0, 2).map(({ id }) => id));
});

test('a file that cannot be read is counted as damaged, and does not stop the others', async () => {
  const first = openSpool();
  first.append(queued(500));
  const later = queued(2);
  first.append(later);
  const [oldest = ''] = files().sort();
  writeFileSync(join(directory, oldest), 'no events');
  const lost: unknown[] = [];
  const batch = await first.next((reason, events) => lost.push([reason, events]));
  expect(lost).toEqual([['damaged', 500]]);
  expect(batch?.events.map(({ id }) => id)).toEqual(later.map(({ id }) => id));
});

test('the disk is bounded', async () => {
  const spool = openSpool({ bytesMax: 10_000 });
  expect(spool.append(queued(100, 400))).toBeLessThan(25);
  expect(spool.bytes).toBeLessThanOrEqual(10_000);
});

test('full segments are compressed, except for those that are sent next', async () => {
  const spool = openSpool();
  spool.append(queued(2_000, 1_000));
  spool.append(queued(1));
  await eventually(() => expect(files().filter((name) => name.endsWith('.gz'))).toHaveLength(2));
  // The file exists shortly before it is counted.
  await eventually(() => expect(spool.bytes).toBeLessThan(1_200_000));
  expect(await drain(spool)).toHaveLength(2_001);
  expect([spool.events, spool.bytes]).toEqual([0, 0]);
});

test('an event is on disk when record() returns, and until Weir has accepted it', async () => {
  const weir = open(openSpool());
  const ids = [weir.record(llmEvent('now')), weir.record(llmEvent('x'.repeat(5 * 1024 ** 2)))];
  const onDisk = () =>
    files().flatMap((name) => readFileSync(join(directory, name), 'utf8').trim().split('\n'));
  expect(onDisk().map((line) => JSON.parse(line).id)).toEqual(ids);
  expect(weir.stats()).toMatchObject({ pending: 2, spooled: 2, truncated: 1 });
  let whileSent: string[] = [];
  stub.respond = () => {
    whileSent = onDisk();
    return undefined;
  };
  expect(await weir.flush()).toEqual({ accepted: 2, dropped: 0, pending: 0 });
  expect(whileSent).toHaveLength(2);
  expect(files()).toEqual([]);
});

test('events that the disk does not take are delivered from memory', async () => {
  const weir = open(openSpool());
  rmSync(directory, { recursive: true });
  const ids = record(weir, 3);
  expect(weir.stats()).toMatchObject({ pending: 3, spooled: 0, dropped: 0 });
  mkdirSync(directory);
  expect(await weir.flush()).toEqual({ accepted: 3, dropped: 0, pending: 0 });
  expect([...stub.accepted.keys()]).toEqual(ids);
});

test('with onQuota: drop, a 402 drops what is on disk', async () => {
  await stub.close();
  const weir = open(openSpool());
  record(weir, 1_200);
  await stub.open();
  stub.respond = (_, response) => refuse(response, 402, 'Used up.');
  expect(await weir.flush()).toEqual({ accepted: 0, dropped: 1_200, pending: 0 });
  record(weir, 1);
  expect(weir.stats()).toMatchObject({ droppedByReason: { quota: 1_201 }, spooled: 0 });
  expect(files()).toEqual([]);
});

test('in an invocation of a serverless platform the spool is delivered', async () => {
  const promises: Promise<unknown>[] = [];
  const weir = open(openSpool(), { waitUntil: (promise) => promises.push(promise) });
  record(weir, 3);
  await runtime.advance(100);
  await Promise.all(promises);
  expect(weir.stats()).toMatchObject({ accepted: 3, pending: 0 });
});

test('events older than the limit are dropped as expired', async () => {
  const spool = openSpool({ ageMaxMs: -1 });
  spool.append(queued(4));
  const lost: unknown[] = [];
  expect(await spool.next((reason, events) => lost.push([reason, events]))).toBeUndefined();
  expect(lost).toEqual([['expired', 4]]);
  expect(spool.events).toBe(0);
});

test('with onQuota: spool, events are kept after a 402 until the quota resets', async () => {
  stub.respond = (_, response) => refuse(response, 402, 'Used up.', { 'weir-quota-reset': '90' });
  const weir = open(openSpool(), { onQuota: 'spool' });
  const ids = record(weir, 5);
  await runtime.advance(1_000);
  await eventually(() => expect(weir.stats().spooled).toBe(5));
  ids.push(...record(weir, 2));
  await runtime.advance(200);
  expect(weir.stats()).toMatchObject({ dropped: 0, spooled: 7 });
  stub.respond = () => undefined;
  await runtime.advance(90_000);
  await eventually(async () => {
    await runtime.advance(1_000);
    expect(weir.stats()).toMatchObject({ accepted: 7, pending: 0 });
  });
  expect(new Set(stub.accepted.keys())).toEqual(new Set(ids));
});

test('after a 401 events stay on disk for a process with a valid key', async () => {
  stub.respond = (_, response) => refuse(response, 401);
  const first = open(openSpool());
  record(first, 5);
  await first.shutdown();
  stub.respond = () => undefined;
  expect(await open(openSpool()).flush()).toEqual({ accepted: 5, dropped: 0, pending: 0 });
});

test('a bad event in the spool is dropped once, and the others are delivered', async () => {
  await stub.close();
  const weir = open(openSpool());
  const ids = record(weir, 10);
  await runtime.advance(1_000);
  await eventually(() => expect(weir.stats().spooled).toBe(10));
  stub.respond = ({ events }, response) => {
    const index = events.findIndex(({ id }) => id === ids[4]);
    return index === -1 ? undefined : refuse(response, 400, `events[${index}] is bad`);
  };
  await stub.open();
  await runtime.advance(30_000);
  await eventually(() => expect(weir.stats()).toMatchObject({ accepted: 9, pending: 0 }));
  expect(weir.stats().droppedByReason).toEqual({ rejected: 1 });
});

test('an hour without Weir at 10 events/s: no event is dropped, and each is delivered once', async () => {
  // `npm run sdk` runs the same with 100 events/s of 6 KB.
  const outage = await runOutage({ stub, directory, eventsPerSecond: 10, prompt: 'Hi' });
  expect(outage).toMatchObject({ recorded: 36_000, delivered: 36_000, duplicates: 0, dropped: 0 });
  expect(files()).toEqual([]);
});

test('a directory that cannot be created is an error at the start', () => {
  writeFileSync(join(directory, 'file'), '');
  expect(() => fileSpool({ directory: join(directory, 'file', 'spool') })).toThrow();
  expect(existsSync(join(directory, 'file', 'spool'))).toBe(false);
});

test('segments of another user in a shared directory are not adopted', async () => {
  const left = openSpool();
  left.append(queued(2));
  left.close();
  const { getuid } = process;
  const user = vi.spyOn(process, 'getuid').mockReturnValue((getuid?.() ?? 0) + 1);
  const other = openSpool();
  expect(other.events).toBe(0);
  other.close();
  user.mockRestore();
  const own = openSpool();
  expect(await drain(own)).toHaveLength(2);
  own.close();
});

test('a compressed segment that would decompress to much more than a segment is dropped', async () => {
  const left = openSpool();
  left.append(queued(1));
  left.close();
  const [name = ''] = files();
  const [event] = queued(1);
  const filling = Buffer.alloc(64 * 1024 * 1024, ' ');
  const bomb = gzipSync(
    Buffer.concat([event?.bytes ?? filling, Buffer.from('\n'), filling, Buffer.from('\n')]),
  );
  writeFileSync(join(directory, name.split('/')[0] ?? '', '00000009.5.ndjson.gz'), bomb);
  const spool = openSpool();
  expect(await drain(spool)).toHaveLength(1);
  expect(spool.events).toBe(0);
  spool.close();
});
