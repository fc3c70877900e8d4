import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { zstdDecompressSync } from 'node:zlib';
import fc from 'fast-check';
import { parquetMetadata, parquetReadObjects } from 'hyparquet';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { setRole } from '../../../store/accounts/memberships.ts';
import {
  addEvents,
  openDashboard,
  type TestDashboard,
  type TestEvent,
  type TestSpace,
} from '../../../test/support/dashboard.ts';
import { csvRecord } from './csv.ts';
import { downloadLimits, parquetGroupEventsMax } from './limits.ts';

let dashboard: TestDashboard;
beforeAll(async () => {
  dashboard = await openDashboard();
});
afterAll(() => dashboard[Symbol.asyncDispose]());

/** Requests with node:http, which provides trailers. The body is not read yet. */
async function ask(
  { spaceId, client }: TestSpace,
  query: { format: string; filter?: object; sealed?: string },
): Promise<IncomingMessage> {
  const parameters = new URLSearchParams({ format: query.format });
  if (query.filter !== undefined) parameters.set('filter', JSON.stringify(query.filter));
  if (query.sealed !== undefined) parameters.set('sealed', query.sealed);
  const headers = { cookie: client.cookie ?? '' };
  const [response] = await once(
    get(`${dashboard.url}/export/${spaceId}?${parameters}`, { headers }),
    'response',
  );
  return response as IncomingMessage;
}

async function readAll(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

/** A parser of RFC 4180. */
function parseCsv(text: string): string[][] {
  const records: string[][] = [];
  let record: string[] = [];
  for (const [, quoted, plain = '', end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/g)) {
    record.push(quoted === undefined ? plain : quoted.replaceAll('""', '"'));
    if (end === ',') continue;
    records.push(record);
    record = [];
  }
  return records;
}

test('any text survives a round trip through a record, except for the prefix before formula starts', () => {
  const field = fc.oneof(
    fc.string({ unit: 'grapheme' }),
    fc.constantFrom(
      'a"b',
      'a,b',
      'a\r\nb',
      '',
      '=1+1',
      '-1',
      '@x',
      '\tx',
      '+1',
      '＝1',
      'x=1',
      'a;=1',
      'a\t@x',
      'a\n+1',
      'x;"=1',
      ';',
      '\t',
    ),
  );
  fc.assert(
    fc.property(fc.array(field, { minLength: 1 }), (values) => {
      const [record = []] = parseCsv(csvRecord(values));
      expect(record.length).toBe(values.length);
      for (const [place, read] of record.entries()) {
        const value = values[place] ?? '';
        expect(read.replaceAll("'", '')).toBe(value.replaceAll("'", ''));
        expect(read).not.toMatch(/^[=+\-@\t\r\n＝＋－＠]/);
        // A spreadsheet whose separator is a semicolon or a tab splits the text there.
        for (const piece of read.split(/[;\t\r\n]/)) expect(piece).not.toMatch(/^[ "]{0,8}[=+\-@＝＋－＠]/);
        if (!/(^|[;\t\r\n])[ "]*[=+\-@＝＋－＠]|^[\t\r\n]/.test(value)) expect(read).toBe(value);
      }
    }),
  );
  expect(csvRecord([-1.5, null, 1e21])).toBe('-1.5,,1e+21\r\n');
});

const odd = '=HYPERLINK("http://evil.example")\r\n,"x';
const rows = (count: number): TestEvent[] =>
  Array.from({ length: count }, (_, i) => ({
    startTimeMs: i,
    type: i % 3 === 0 ? 'tool' : 'llm',
    inputPreview: odd,
    attributes: { plan: 'pro', seats: i },
    text: `{"n": 1234567890123456789${i},\n "t":"x"}`,
  }));

test.each(['ndjson', 'csv', 'events'])(
  '%s holds every event of the filter once, and their number at the end',
  async (format) => {
    const space = await dashboard.addSpace({ role: 'viewer' });
    const other = await dashboard.addSpace();
    await addEvents(dashboard.sql, other.spaceId, rows(3));
    const ids = await addEvents(dashboard.sql, space.spaceId, rows(2_500));
    const expected = ids.filter((_, i) => i % 3 !== 0 && i >= 10).toReversed();
    const response = await ask(space, { format, filter: { type: 'llm', from: 10 } });
    const text = await readAll(response);
    expect(response.statusCode).toBe(200);
    expect(response.headers).toMatchObject({
      'content-disposition': expect.stringMatching(/^attachment; filename="events-[\w-]+\.[\w.]+"$/),
      'content-security-policy': expect.stringMatching(/^sandbox;/),
      'cache-control': 'no-store',
    });
    expect(response.trailers).toEqual({ 'weir-export-rows': String(expected.length) });
    if (format === 'csv') {
      const [names = [], ...records] = parseCsv(text.slice(1));
      // Excel needs the byte order mark, and shows no part of it in the first name.
      expect([text[0], names[0]]).toEqual(['\ufeff', 'id']);
      expect(records.map(([id]) => id)).toEqual(expected);
      for (const record of records) expect(record.length).toBe(names.length);
      expect(records[0]?.[names.indexOf('inputPreview')]).toBe(`'${odd}`);
      expect(records[0]?.[names.indexOf('attributes')]).toBe('{"plan":"pro","seats":2498}');
      expect(records[0]?.[names.indexOf('startTimeMs')]).toBe('2498');
      return;
    }
    const lines = text.split('\n').slice(0, -1);
    expect(JSON.parse(lines.pop() ?? '')).toEqual({ exportedRows: expected.length });
    if (format === 'events') {
      const sent = ids.flatMap((id, i) =>
        expected.includes(id) ? [`{"n": 1234567890123456789${i},  "t":"x"}`] : [],
      );
      expect(lines).toEqual(sent.toReversed());
      return;
    }
    expect(lines.map((line) => JSON.parse(line).id)).toEqual(expected);
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({ inputPreview: odd, attributes: { seats: 2498 } });
  },
);

test('parquet has every event in row groups, with typed columns and the text as sent', async () => {
  const space = await dashboard.addSpace({ role: 'viewer' });
  const count = parquetGroupEventsMax + 10;
  const ids: string[] = [];
  for (let from = 0; from < count; from += 1_000)
    ids.push(...(await addEvents(dashboard.sql, space.spaceId, rows(count).slice(from, from + 1_000))));
  await dashboard.sql`
    UPDATE events SET input_tokens = 1.5 WHERE space_id = ${space.spaceId}`;
  const response = await ask(space, { format: 'parquet' });
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  const { buffer } = new Uint8Array(Buffer.concat(chunks));
  expect(response.headers['content-type']).toBe('application/vnd.apache.parquet');
  expect(response.trailers).toEqual({ 'weir-export-rows': String(count) });
  const compressors = { ZSTD: (input: Uint8Array) => new Uint8Array(zstdDecompressSync(input)) };
  const read = await parquetReadObjects({ file: buffer, compressors });
  expect(read.map(({ id }) => id)).toEqual(ids.toReversed());
  const groups = parquetMetadata(buffer).row_groups;
  expect(groups.map(({ num_rows }) => Number(num_rows))).toEqual([parquetGroupEventsMax, 10]);
  const last = count - 1;
  expect(read[0]).toMatchObject({
    type: 'llm',
    name: null,
    startTime: new Date(last),
    durationMs: 10,
    inputTokens: 1.5,
    totalTokens: null,
    inputPreview: odd,
    attributes: `{"plan":"pro","seats":${last}}`,
    event: `{"n": 1234567890123456789${last},\n "t":"x"}`,
    receivedAt: new Date('2026-01-02T03:04:05.678Z'),
  });
});

test('an export without events is a Parquet file without rows, and Node warns of nothing', async () => {
  const warnings: Error[] = [];
  const note = (warning: Error) => void warnings.push(warning);
  process.on('warning', note);
  const response = await ask(await dashboard.addSpace(), { format: 'parquet' });
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  const { num_rows, schema } = parquetMetadata(new Uint8Array(Buffer.concat(chunks)).buffer);
  expect([Number(num_rows), schema.at(-1)?.name]).toEqual([0, 'event']);
  process.off('warning', note);
  expect(warnings).toEqual([]);
});

test('an export is read as fast as the client consumes it, and is complete while events are stored', async () => {
  const space = await dashboard.addSpace();
  const { spaceId } = space;
  const count = 60_000;
  const filler = 'x'.repeat(250);
  await dashboard.sql`
    INSERT INTO events (space_id, id, segment_id, segment_index, received_at, start_time_ms, end_time_ms, duration_ms,
      type, state, source, thread_id, user_id, agent_id)
    SELECT ${spaceId}, gen_random_uuid(), uuidv7(), 0, now(), n, n, 0, 'llm', 'ok', ${filler}, ${filler}, ${filler}, ${filler}
    FROM generate_series(1, ${count}::integer) AS n`;
  const response = await ask(space, { format: 'ndjson' });
  // The export has read its first page and what fits into sockets; 60 MB follow before these events.
  const [first] = await once(response, 'data');
  response.pause();
  const [late = '', newest = ''] = await addEvents(dashboard.sql, spaceId, [
    { startTimeMs: 0 },
    { startTimeMs: count + 1 },
  ]);
  const text = String(first) + (await readAll(response));
  const ids = text
    .split('\n')
    .slice(0, -2)
    .map((line) => JSON.parse(line).id);
  expect(ids.length).toBe(count + 1);
  expect(new Set(ids).size).toBe(count + 1);
  // The export reached the older position after the event was stored there; it had passed the newest position
  // before.
  expect(ids.at(-1)).toBe(late);
  expect(ids).not.toContain(newest);
  expect(response.trailers['weir-export-rows']).toBe(String(count + 1));
});

test('a user cannot export another space', async () => {
  const [space, other] = [await dashboard.addSpace(), await dashboard.addSpace()];
  const foreign = { ...space, spaceId: other.spaceId };
  const nowhere = { ...space, spaceId: randomUUID() };
  for (const asked of [foreign, nowhere]) {
    const response = await ask(asked, { format: 'csv' });
    expect([response.statusCode, await readAll(response)]).toEqual([404, 'There is no such space.\n']);
  }
  const stranger = await fetch(`${dashboard.url}/export/${space.spaceId}?format=csv`);
  expect(stranger.status).toBe(401);
});

test.each([
  ['format', { format: 'xml' }],
  ['filter.from', { format: 'csv', filter: { from: 'x' } }],
  ['filter', { format: 'csv', filter: { unknown: 1 } }],
])('a query with a wrong %s is a 400 that names it', async (member, query) => {
  const response = await ask(await dashboard.addSpace(), query);
  expect(response.statusCode).toBe(400);
  expect(await readAll(response)).toMatch(new RegExp(`^${member}: `));
});

test('damaged data resets the connection, so that a partial file is not mistaken for a complete one', async () => {
  const space = await dashboard.addSpace();
  await addEvents(dashboard.sql, space.spaceId, rows(1));
  await dashboard.sql`
    UPDATE events SET segment_id = gen_random_uuid() WHERE space_id = ${space.spaceId}`;
  await addEvents(
    dashboard.sql,
    space.spaceId,
    Array.from({ length: 1_000 }, () => ({ startTimeMs: 5_000 })),
  );
  const response = await ask(space, { format: 'events' });
  await expect(readAll(response)).rejects.toThrow();
});

/** Adds more events than sockets can buffer, so that an export waits for its client. */
async function addManyEvents({ spaceId }: TestSpace): Promise<void> {
  const filler = 'x'.repeat(250);
  await dashboard.sql`
    INSERT INTO events (space_id, id, segment_id, segment_index, received_at, start_time_ms, end_time_ms, duration_ms,
      type, state, source, thread_id, user_id, agent_id)
    SELECT ${spaceId}, gen_random_uuid(), uuidv7(), 0, now(), n, n, 0, 'llm', 'ok', ${filler}, ${filler}, ${filler}, ${filler}
    FROM generate_series(1, 30_000) AS n`;
}

test.each([
  ['removed', (space: TestSpace) => dashboard.sql`DELETE FROM memberships WHERE space_id = ${space.spaceId}`],
  ['signed out', (space: TestSpace) => space.client.trpc.auth.signOut.mutate()],
])('an export of a user who is %s meanwhile breaks off', async (_, lose) => {
  const space = await dashboard.addSpace({ role: 'viewer' });
  await addManyEvents(space);
  const response = await ask(space, { format: 'ndjson' });
  await once(response, 'data');
  response.pause();
  await lose(space);
  await expect(readAll(response)).rejects.toThrow();
});

test('an export of a read key that is revoked meanwhile breaks off', async () => {
  const space = await dashboard.addSpace();
  await addManyEvents(space);
  const issued = await space.client.trpc.apiKeys.create.mutate({ name: 'k', scope: 'events' });
  const headers = { authorization: `Bearer ${issued.apiKey}` };
  const path = `${dashboard.url}/export/${space.spaceId}?format=ndjson`;
  const [response] = (await once(get(path, { headers }), 'response')) as [IncomingMessage];
  await once(response, 'data');
  response.pause();
  await space.client.trpc.apiKeys.revoke.mutate({ keyId: issued.keyId });
  await expect(readAll(response)).rejects.toThrow();
});

test('the keys of a person are one holder, and a newcomer is served while others have all downloads', async () => {
  const { slotsMax, ofHolderMax } = downloadLimits;
  const opened: IncomingMessage[] = [];
  while (opened.length < slotsMax) {
    const person = await dashboard.addSpace();
    await addManyEvents(person);
    const open = async (): Promise<IncomingMessage> => {
      // Each with a read key of its own.
      const { apiKey } = await person.client.trpc.apiKeys.create.mutate({ name: 'k', scope: 'events' });
      const headers = { authorization: `Bearer ${apiKey}` };
      const path = `${dashboard.url}/export/${person.spaceId}?format=ndjson`;
      const [response] = (await once(get(path, { headers }), 'response')) as [IncomingMessage];
      return response;
    };
    const count = Math.min(ofHolderMax, slotsMax - opened.length);
    for (let place = 0; place < count; place++) opened.push(await open());
    if (count === ofHolderMax) expect((await open()).statusCode).toBe(429);
  }
  expect(opened.map(({ statusCode }) => statusCode)).toEqual(opened.map(() => 200));
  const newcomer = await dashboard.addSpace();
  expect((await ask(newcomer, { format: 'csv' })).statusCode).toBe(200);
  // Only the download that made room breaks off.
  let broken = 0;
  for (const response of opened) {
    response.on('error', () => {
      broken += 1;
    });
    response.resume();
  }
  await expect.poll(() => broken).toBe(1);
  for (const response of opened) response.destroy();
});

test('downloads are limited by user and by space, and a finished one frees its slot', async () => {
  const space = await dashboard.addSpace();
  await addManyEvents(space);
  const { spaceId, client } = space;
  const [second, third, stranger] = [
    await dashboard.addSpace(),
    await dashboard.addSpace(),
    await dashboard.addSpace(),
  ];
  for (const { client: other } of [second, third]) {
    const { user } = await other.trpc.me.query();
    await setRole(dashboard.database, spaceId, { userId: user.id, role: 'viewer' });
  }
  const of = (other: TestSpace) => ask({ ...other, spaceId }, { format: 'ndjson' });
  const held = [await of(space), await of(space), await of(space)];
  const refused = await of(space);
  expect([refused.statusCode, await readAll(refused)]).toEqual([
    429,
    'You have 3 downloads running. Close one, or try again later.\n',
  ]);
  held.pop()?.destroy();
  await expect
    .poll(async () => {
      const response = await of(second);
      held.push(response);
      return response.statusCode;
    })
    .toBe(200);
  const full = await of(third);
  expect([full.statusCode, await readAll(full)]).toEqual([
    429,
    'The space has 3 downloads running. Close one, or try again later.\n',
  ]);
  const audit = await fetch(`${dashboard.url}/audit/${spaceId}`, {
    headers: { cookie: client.cookie ?? '' },
  });
  expect(audit.status).toBe(429);
  // Other users still have slots.
  expect((await ask(stranger, { format: 'csv' })).statusCode).toBe(200);
  for (const response of held) response.destroy();
  await expect.poll(async () => (await of(space)).statusCode).toBe(200);
});

test('downloads and refusals are logged with user and address, and without the filter', async () => {
  const space = await dashboard.addSpace();
  const { user } = await space.client.trpc.me.query();
  const lines = () =>
    dashboard
      .log()
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
  await readAll(await ask(space, { format: 'csv', filter: { name: 'secret-name' } }));
  const other = await dashboard.addSpace();
  await readAll(await ask({ ...space, spaceId: other.spaceId }, { format: 'csv' }));
  const who = { userId: user.id, address: '127.0.0.1' };
  await expect
    .poll(lines)
    .toEqual(
      expect.arrayContaining([
        expect.objectContaining({ msg: 'request', path: `/export/${space.spaceId}`, status: 200, ...who }),
        expect.objectContaining({ msg: 'request', path: `/export/${other.spaceId}`, status: 404, ...who }),
      ]),
    );
  const viewer = await dashboard.addSpace({ role: 'viewer' });
  await expect(viewer.client.trpc.apiKeys.list.query()).rejects.toThrow();
  const { user: asked } = await viewer.client.trpc.me.query();
  expect(lines()).toContainEqual(
    expect.objectContaining({ msg: 'refused', path: 'apiKeys.list', code: 'FORBIDDEN', userId: asked.id }),
  );
  expect(dashboard.log()).not.toContain('secret-name');
});

test('a sealed filter exports the same events as the plain one', async () => {
  const space = await dashboard.addSpace();
  const filter = { userId: 'person@example.org' };
  await addEvents(dashboard.sql, space.spaceId, [filter, { userId: 'other' }, filter]);
  const { sealed } = await space.client.trpc.events.sealFilter.query(filter);
  const plain = await readAll(await ask(space, { format: 'csv', filter }));
  expect(plain.match(/person@example\.org/g)).toHaveLength(2);
  expect(await readAll(await ask(space, { format: 'csv', sealed }))).toBe(plain);
  const foreign = await ask(await dashboard.addSpace(), { format: 'csv', sealed });
  expect(foreign.statusCode).toBe(400);
  foreign.resume();
});
