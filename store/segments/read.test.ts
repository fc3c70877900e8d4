import { randomUUID } from 'node:crypto';
import { zstdCompressSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createDatabase } from '../../test/support/test-servers.ts';
import { openPostgres } from '../db/connect.ts';
import { type Database, openDatabase } from '../db/database.ts';
import { events, segments } from '../db/schema.ts';
import { readListTexts } from './list-texts.ts';
import { OpenBytes } from './open-segments.ts';
import { EventTextsTooLargeError, readEventTexts } from './read.ts';

const resources = new AsyncDisposableStack();
let database: Database;

beforeAll(async () => {
  const { url } = resources.use(await createDatabase());
  const options = { applicationName: 'test', connectionsMax: 4, statementTimeoutMs: 10_000 };
  database = openDatabase(resources.use(openPostgres(url, options)));
});
afterAll(() => resources.disposeAsync());

async function storeSegment(
  spaceId: string,
  text: string,
  rawBytes = Buffer.byteLength(text),
): Promise<string> {
  const id = randomUUID();
  await database.insert(segments).values({
    spaceId,
    id,
    apiKeyId: randomUUID(),
    receivedAt: new Date(),
    eventCount: 0,
    rawBytes,
    body: zstdCompressSync(Buffer.from(text)),
    minStartMs: 0,
    maxStartMs: 0,
    terms: [],
    projection: 1,
  });
  return id;
}

test('events are returned in the requested order, from any number of segments', async () => {
  const spaceId = randomUUID();
  const segmentIds = await Promise.all(
    [...Array(10).keys()].map((n) =>
      storeSegment(spaceId, `{"events":["${n}a"]}{"events":["${n}b","${n}c"]}`),
    ),
  );
  const locators = segmentIds.flatMap((segmentId) => [
    { segmentId, segmentIndex: 2 },
    { segmentId, segmentIndex: 0 },
  ]);
  const expected = [...Array(10).keys()].flatMap((n) => [`"${n}c"`, `"${n}a"`]);
  const order = [...locators.keys()].sort((a, b) => ((a * 7) % 20) - ((b * 7) % 20));
  const asked = order.flatMap((place) => locators[place] ?? []);
  expect(await readEventTexts(database, spaceId, asked)).toEqual(order.map((place) => expected[place]));
});

test('an event that the space does not have is undefined, even when another space has it', async () => {
  const spaceId = randomUUID();
  const segmentId = await storeSegment(spaceId, '{"events":[1]}');
  const locators = [
    { segmentId, segmentIndex: 1 },
    { segmentId: randomUUID(), segmentIndex: 0 },
    { segmentId, segmentIndex: 0 },
  ];
  expect(await readEventTexts(database, spaceId, locators)).toEqual([undefined, undefined, '1']);
  expect(await readEventTexts(database, randomUUID(), locators)).toEqual([undefined, undefined, undefined]);
  expect(await readEventTexts(database, spaceId, [])).toEqual([]);
});

test('more text than charsMax is an error', async () => {
  const spaceId = randomUUID();
  const segmentId = await storeSegment(spaceId, '{"events":["12345","67890"]}');
  const locators = [
    { segmentId, segmentIndex: 0 },
    { segmentId, segmentIndex: 1 },
  ];
  expect(await readEventTexts(database, spaceId, locators, { charsMax: 14 })).toEqual(['"12345"', '"67890"']);
  await expect(readEventTexts(database, spaceId, locators, { charsMax: 13 })).rejects.toThrow(
    EventTextsTooLargeError,
  );
});

test.each([13, 15])('a segment of another length than stored is an error: %i bytes', async (rawBytes) => {
  const spaceId = randomUUID();
  const segmentId = await storeSegment(spaceId, '{"events":[1]}', rawBytes);
  await expect(readEventTexts(database, spaceId, [{ segmentId, segmentIndex: 0 }])).rejects.toThrow();
});

test.each([
  ['that stay open', 1_000_000, 12],
  ['that nothing has room for', 0, 12 * 8],
])(
  'a list of events that interleave has their texts in order, from segments %s',
  async (_, bytesMax, openingsMax) => {
    const spaceId = randomUUID();
    const perSegment = 20;
    const segmentIds = await Promise.all(
      Array.from({ length: 12 }, (_, n) => {
        const texts = Array.from({ length: perSegment }, (_, i) => `"${n} ${i}"`);
        return storeSegment(spaceId, `{"events":[${texts}]}`);
      }),
    );
    const listed = Array.from({ length: perSegment }, (_, i) =>
      segmentIds.map((segmentId) => ({ id: randomUUID(), startTimeMs: i, segmentId, segmentIndex: i })),
    );
    const pages = listed.toReversed();
    let openings = 0;
    const openBytes = new OpenBytes(bytesMax);
    const source = {
      database,
      spaceId,
      limiter: <T>(open: () => Promise<T>) => {
        openings += 1;
        return open();
      },
      openBytes,
    };
    const limits = { firstEvents: 12, eventsMax: 40, charsMax: 10_000 };
    const read = (from: typeof pages) => Array.fromAsync(readListTexts(source, iterate(from), limits));
    const texts = (await read(pages)).flat().map(([, text]) => text);
    expect(texts).toEqual(
      pages.flatMap((page) => page.map(({ segmentIndex }, n) => `"${n} ${segmentIndex}"`)),
    );
    expect(openings).toBeLessThanOrEqual(openingsMax);
    expect(openings).toBeGreaterThanOrEqual(12);
    expect(openBytes.take(bytesMax)).toBe(true);
  },
);

test('a read of a list ends early when its texts are long, and the next one is smaller', async () => {
  const spaceId = randomUUID();
  const segmentIds = await Promise.all(
    Array.from({ length: 30 }, () => storeSegment(spaceId, `{"events":["${'x'.repeat(1_000)}"]}`)),
  );
  const rows = segmentIds.map((segmentId) => ({
    id: randomUUID(),
    startTimeMs: 1,
    segmentId,
    segmentIndex: 0,
  }));
  const source = {
    database,
    spaceId,
    limiter: <T>(open: () => Promise<T>) => open(),
    openBytes: new OpenBytes(0),
  };
  const limits = { firstEvents: 30, eventsMax: 30, charsMax: 5_000 };
  const reads = await Array.fromAsync(readListTexts(source, iterate([rows]), limits));
  expect(reads.flat().map(([row]) => row)).toEqual(rows);
  // The four segments that are being read when the limit is reached are read to their end.
  for (const read of reads) expect(read.length).toBeLessThan(10);
});

test('an event that was deleted since it was listed is left out; a missing segment of a stored event is an error', async () => {
  const spaceId = randomUUID();
  const row = { id: randomUUID(), startTimeMs: 1, segmentId: randomUUID(), segmentIndex: 0 };
  const source = {
    database,
    spaceId,
    limiter: <T>(open: () => Promise<T>) => open(),
    openBytes: new OpenBytes(9),
  };
  const limits = { firstEvents: 1, eventsMax: 1, charsMax: 1 };
  const read = () => Array.fromAsync(readListTexts(source, iterate([[row]]), limits));
  expect((await read()).flat()).toEqual([]);
  await database.insert(events).values({
    ...row,
    spaceId,
    receivedAt: new Date(),
    endTimeMs: 1,
    durationMs: 0,
    type: 'llm',
    state: 'ok',
    source: 'x',
  });
  await expect(read()).rejects.toThrow(`The segment of event ${row.id} is missing.`);
});

async function* iterate<T>(list: readonly T[]): AsyncGenerator<T> {
  yield* list;
}
