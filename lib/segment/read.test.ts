import { randomUUID } from 'node:crypto';
import { zstdCompressSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createDatabase } from '../../test/support/backing.ts';
import { openPostgres, type Sql } from '../db/connect.ts';
import { EventTextsTooLarge, readEventTexts } from './read.ts';

const resources = new AsyncDisposableStack();
let sql: Sql;

beforeAll(async () => {
  const database = resources.use(await createDatabase());
  sql = resources.use(
    openPostgres(database.url, { applicationName: 'test', connectionsMax: 4, statementTimeoutMs: 10_000 }),
  );
});
afterAll(() => resources.disposeAsync());

async function storeSegment(
  spaceId: string,
  text: string,
  rawBytes = Buffer.byteLength(text),
): Promise<string> {
  const [row] = await sql<{ id: string }[]>`
    INSERT INTO segments (space_id, id, api_key_id, received_at, event_count, raw_bytes, body)
    VALUES (${spaceId}, uuidv7(), uuidv7(), now(), 0, ${rawBytes}, ${zstdCompressSync(Buffer.from(text))})
    RETURNING id`;
  return row?.id ?? '';
}

test('events come in the order asked for, from as many segments as they are in', async () => {
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
  expect(await readEventTexts(sql, spaceId, asked)).toEqual(order.map((place) => expected[place]));
});

test('what the space does not have is undefined, another space too', async () => {
  const spaceId = randomUUID();
  const segmentId = await storeSegment(spaceId, '{"events":[1]}');
  const locators = [
    { segmentId, segmentIndex: 1 },
    { segmentId: randomUUID(), segmentIndex: 0 },
    { segmentId, segmentIndex: 0 },
  ];
  expect(await readEventTexts(sql, spaceId, locators)).toEqual([undefined, undefined, '1']);
  expect(await readEventTexts(sql, randomUUID(), locators)).toEqual([undefined, undefined, undefined]);
  expect(await readEventTexts(sql, spaceId, [])).toEqual([]);
});

test('more text than there is room for is refused', async () => {
  const spaceId = randomUUID();
  const segmentId = await storeSegment(spaceId, '{"events":["12345","67890"]}');
  const locators = [
    { segmentId, segmentIndex: 0 },
    { segmentId, segmentIndex: 1 },
  ];
  expect(await readEventTexts(sql, spaceId, locators, { charsMax: 14 })).toEqual(['"12345"', '"67890"']);
  await expect(readEventTexts(sql, spaceId, locators, { charsMax: 13 })).rejects.toThrow(EventTextsTooLarge);
});

test.each([13, 15])(
  'a segment that is not as long as it was stored is refused: %i bytes',
  async (rawBytes) => {
    const spaceId = randomUUID();
    const segmentId = await storeSegment(spaceId, '{"events":[1]}', rawBytes);
    await expect(readEventTexts(sql, spaceId, [{ segmentId, segmentIndex: 0 }])).rejects.toThrow();
  },
);
