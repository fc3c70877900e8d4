import { zstdCompressSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { isApiKey } from '../lib/access/api-key.ts';
import { openPostgres, type Sql } from '../lib/db/connect.ts';
import { printedEventsPage } from '../lib/limits.ts';
import { createDatabase } from '../test/support/backing.ts';
import { runWeir } from '../test/support/command-line.ts';

const resources = new AsyncDisposableStack();
let sql: Sql;
let variables: Record<string, string>;

beforeAll(async () => {
  const database = resources.use(await createDatabase());
  variables = { DATABASE_URL: database.url, API_KEY_PEPPER: 'a pepper of the tests' };
  sql = resources.use(
    openPostgres(database.url, { applicationName: 'test', connectionsMax: 2, statementTimeoutMs: 10_000 }),
  );
});
afterAll(() => resources.disposeAsync());

/** Runs a command that must work, and returns the JSON that it printed. */
async function weir(...args: string[]) {
  const { exitCode, stdout, stderr } = await runWeir(args, variables);
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
  return JSON.parse(stdout);
}

async function createSpace(...args: string[]): Promise<string> {
  return (await weir('space', 'create', '--name', 'a space', ...args)).spaceId;
}

const unknownId = '01900000-0000-7000-8000-000000000000';

test('a space is made, shown and changed', async () => {
  const spaceId = await createSpace('--monthly-events', '10', '--billing', 'inactive');
  const made = { spaceId, name: 'a space', monthlyEventLimit: 10, billingState: 'inactive' };
  const listed: unknown[] = await weir('space', 'list');
  expect(listed).toContainEqual({ ...made, createdAt: expect.stringMatching(/^\d{4}-.*Z$/) });
  expect(await weir('space', 'set', spaceId, '--billing', 'active')).toMatchObject({
    ...made,
    billingState: 'active',
  });
  expect(await weir('space', 'set', spaceId, '--monthly-events', 'none')).toMatchObject({
    monthlyEventLimit: null,
  });
  expect(await weir('space', 'set', spaceId.toUpperCase(), '--monthly-events', '0')).toMatchObject({
    monthlyEventLimit: 0,
    billingState: 'active',
  });
});

test('a key is made, shown without its secret, and revoked', async () => {
  const spaceId = await createSpace();
  const made = await weir('key', 'create', '--space', spaceId, '--name', 'agent');
  expect(Object.keys(made)).toEqual(['keyId', 'apiKey']);
  expect(isApiKey(made.apiKey)).toBe(true);
  const [listed] = await weir('key', 'list', '--space', spaceId);
  expect(listed).toMatchObject({ keyId: made.keyId, spaceId, name: 'agent', revokedAt: null });
  expect(JSON.stringify(listed)).not.toContain(made.apiKey);
  const revoked = await weir('key', 'revoke', made.keyId);
  expect(revoked.revokedAt).toMatch(/Z$/);
  expect(await weir('key', 'revoke', made.keyId)).toEqual(revoked);
});

test('usage tells the events of the month and the limit', async () => {
  const spaceId = await createSpace('--monthly-events', '7');
  expect(await weir('usage', '--space', spaceId)).toEqual({
    spaceId,
    month: expect.stringMatching(/^\d{4}-\d\d$/),
    events: 0,
    monthlyEventLimit: 7,
    billingState: 'active',
    resetsAt: expect.stringMatching(/-01T00:00:00\.000Z$/),
  });
});

test('quarantine is empty when nothing was refused', async () => {
  expect(await weir('quarantine', 'list')).toEqual([]);
  expect(await weir('quarantine', 'replay')).toEqual({ replayed: [], failed: [] });
});

test('what is in quarantine is listed without its content, and stays when it is refused again', async () => {
  const spaceId = await createSpace();
  await sql`
    INSERT INTO quarantine (space_id, id, received_at, event_count, sqlstate, message, part)
    VALUES (${spaceId}, ${unknownId}, '2026-01-02T03:04:05.678Z', 1, '23514', 'refused', ${Buffer.from('secret')})`;
  const listed = await weir('quarantine', 'list', '--space', spaceId);
  expect(listed).toEqual([
    {
      id: unknownId,
      spaceId,
      receivedAt: '2026-01-02T03:04:05.678Z',
      quarantinedAt: expect.stringMatching(/Z$/),
      eventCount: 1,
      sqlstate: '23514',
      message: 'refused',
    },
  ]);
  const { exitCode, stdout, stderr } = await runWeir(['quarantine', 'replay', unknownId], variables);
  expect(exitCode).toBe(1);
  expect(JSON.parse(stdout)).toMatchObject({ replayed: [], failed: [{ id: unknownId }] });
  expect(stderr).toBe('weir: Refused again, and still in quarantine: 1.\n');
  expect(await weir('quarantine', 'list', '--space', spaceId)).toEqual(listed);
  await sql`DELETE FROM quarantine`;
});

/** Stores a request body as one segment, as the writer does; the n-th event starts at startTimesMs[n]. */
async function storeBody(spaceId: string, body: string, startTimesMs: number[]): Promise<void> {
  const segment = Buffer.from(body);
  const [row] = await sql<{ id: string }[]>`
    INSERT INTO segments (space_id, id, api_key_id, received_at, event_count, raw_bytes, body)
    VALUES (${spaceId}, uuidv7(), ${unknownId}, '2026-01-02T03:04:05.678Z', ${startTimesMs.length}, ${segment.length},
      ${zstdCompressSync(segment)}) RETURNING id`;
  await sql`
    INSERT INTO events (space_id, id, segment_id, segment_index, received_at, start_time_ms, end_time_ms, duration_ms,
      type, state, source)
    SELECT ${spaceId}, uuidv4(), ${row?.id ?? ''}, ordinality - 1, '2026-01-02T03:04:05.678Z', start_time_ms, 0, 0,
      'tool', 'ok', 's'
    FROM unnest(${`{${startTimesMs}}`}::float8[]) WITH ORDINALITY AS t (start_time_ms, ordinality)`;
}

async function readEventLines(...args: string[]): Promise<string[]> {
  const { exitCode, stdout, stderr } = await runWeir(['events', ...args], variables);
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
  return stdout.split('\n').slice(0, -1);
}

test('events are printed as they were sent, newest first, a line each, with receivedAt at their end', async () => {
  const spaceId = await createSpace();
  const exact = '{"n":9007199254740993,"t":"\\u0000\\ud800é","d":1.0}';
  const pretty = '{\r\n  "a": [\n1\n]\n}';
  await storeBody(spaceId, `{"events":[${exact},${pretty}],"more":1}`, [1.25, 3]);
  await storeBody(spaceId, '{"events":[{"b":2}]}', [2]);
  const receivedAt = ',"receivedAt":"2026-01-02T03:04:05.678Z"}';
  expect(await readEventLines('--space', spaceId)).toEqual([
    `{    "a": [ 1 ] ${receivedAt}`,
    `{"b":2${receivedAt}`,
    exact.slice(0, -1) + receivedAt,
  ]);
  expect(await readEventLines('--space', spaceId, '--limit', '1')).toHaveLength(1);
  expect(await readEventLines('--space', spaceId, '--limit', '0')).toEqual([]);
});

test('every event of several pages is printed once, those of one instant too', async () => {
  const spaceId = await createSpace();
  const numbers = [...Array(printedEventsPage + 1_000).keys()];
  const body = `{"events":[${numbers.map((n) => `{"n":${n}}`).join(',')}]}`;
  // Most of them at one instant, across the border of two pages.
  await storeBody(
    spaceId,
    body,
    numbers.map((n) => (n < 600 || n > printedEventsPage + 400 ? n / 8 : 2_000)),
  );
  const lines = await readEventLines('--space', spaceId, '--limit', '100000');
  expect(lines.map((line) => JSON.parse(line).n).toSorted((a, b) => a - b)).toEqual(numbers);
  const fewer = await readEventLines('--space', spaceId, '--limit', String(printedEventsPage + 1));
  expect(fewer).toEqual(lines.slice(0, printedEventsPage + 1));
});

test('events too large for one page are printed in smaller ones', async () => {
  const spaceId = await createSpace();
  const large = 'x'.repeat(4_000_000);
  for (let n = 0; n < 20; n++) await storeBody(spaceId, `{"events":[{"n":${n},"x":"${large}"}]}`, [n]);
  const lines = await readEventLines('--space', spaceId);
  expect(lines.map((line) => JSON.parse(line).n)).toEqual([...Array(20).keys()].reverse());
});

test('a reader that leaves early ends the command quietly', async () => {
  const spaceId = await createSpace();
  await storeBody(spaceId, `{"events":[{"text":"${'x'.repeat(1_000_000)}"}]}`, [1]);
  const { exitCode, stderr } = await runWeir(['events', '--space', spaceId], variables, {
    readStdout: false,
  });
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
});

test.each([
  ['space', 'set', unknownId, '--billing', 'active'],
  ['space', 'set', 'nonsense', '--billing', 'active'],
  ['key', 'create', '--space', unknownId],
  ['key', 'create', '--space', 'nonsense'],
  ['key', 'list', '--space', unknownId],
  ['key', 'revoke', unknownId],
  ['key', 'revoke', 'nonsense'],
  ['events', '--space', unknownId],
  ['usage', '--space', unknownId],
  ['usage', '--space', 'nonsense'],
  ['quarantine', 'list', '--space', unknownId],
  ['quarantine', 'replay', unknownId],
])('what does not exist is a failure of one sentence: %s %s %s %s', async (...args) => {
  const { exitCode, stderr } = await runWeir(args, variables);
  expect(exitCode).toBe(1);
  expect(stderr).toMatch(/^weir: (There is no|Not in quarantine).*\.\n$/);
});

test.each([
  [[]],
  [['bogus']],
  [['space', 'create']],
  [['space', 'create', '--name', 'n', '--monthly-events', '-1']],
  [['space', 'create', '--name', 'n', '--billing', 'maybe']],
  [['space', 'set', unknownId]],
  [['events', '--space', unknownId, '--limit', 'x']],
  [['send']],
  [['send', 'file', '--batch', '501']],
  [['send', 'file', '--url', 'ftp://host']],
  [['send', 'file', '--key', 'a b']],
])('bad usage is exit code 2: %j', async (args) => {
  const { exitCode, stdout, stderr } = await runWeir(args, variables);
  expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
  expect(stderr).toMatch(/error: |Usage: /);
});

test('when nothing runs, the command says so and what to do', async () => {
  const nothing = await runWeir(['space', 'list']);
  expect(nothing).toMatchObject({ exitCode: 1, stdout: '' });
  expect(nothing.stderr).toMatch(/^weir: Nothing was started .*`npm start`.*\.\n$/);
  const gone = await runWeir(['space', 'list'], { DATABASE_URL: 'postgres://127.0.0.1:9/none' });
  expect(gone).toMatchObject({ exitCode: 1, stdout: '' });
  expect(gone.stderr).toMatch(/^weir: Postgres does not answer \(ECONNREFUSED\).*`npm start`.*\.\n$/);
});
