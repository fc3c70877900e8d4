import { randomUUID } from 'node:crypto';
import { zstdCompressSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createDatabase } from '../../test/support/test-servers.ts';
import { openPostgres } from '../db/connect.ts';
import { type Database, openDatabase } from '../db/database.ts';
import { segments } from '../db/schema.ts';
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
