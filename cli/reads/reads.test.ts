import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { parquetMetadata } from 'hyparquet';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { llmEvent } from '../../harness/fixtures/events.ts';
import { insertParts } from '../../harness/fixtures/insert-parts.ts';
import { partOf } from '../../harness/fixtures/part.ts';
import { TcpProxy } from '../../harness/network/tcp-proxy.ts';
import { issueApiKey, revokeApiKey } from '../../store/accounts/api-keys.ts';
import { runWeir } from '../../test/support/cli/command-line.ts';
import {
  addEvents,
  dashboardPepper,
  openDashboard,
  type TestDashboard,
} from '../../test/support/dashboard.ts';
import { openPostgresProxy } from '../../test/support/postgres-proxy.ts';
import { until } from '../../test/support/wait.ts';
import { runCommandLine } from '../program.ts';

/** The commands that read through the dashboard API, with a read key and without a database. */

let dashboard: TestDashboard;
let spaceId: string;
let ids: string[];
let variables: Record<string, string>;
const traceId = randomUUID();
const directory = mkdtempSync(join(tmpdir(), 'weir-reads-'));

const issue = () =>
  issueApiKey(dashboard.database, spaceId, { name: 'k', pepper: dashboardPepper, scope: 'events' });

beforeAll(async () => {
  dashboard = await openDashboard();
  ({ spaceId } = await dashboard.addSpace());
  ids = await addEvents(
    dashboard.sql,
    spaceId,
    Array.from({ length: 450 }, (_, i) => ({
      startTimeMs: Date.UTC(2026, 0, 1) + i,
      threadId: 'chat',
      state: i % 2 === 0 ? ('ok' as const) : ('error' as const),
      name: `model-${i}`,
      outputPreview: '\u001b[31mred\nline',
      text: `{"n":${i}}`,
      ...(i < 3 && { traceId }),
    })),
  );
  const { apiKey } = await issue();
  variables = { WEIR_DASHBOARD_URL: dashboard.url, WEIR_READ_KEY: apiKey };
});
afterAll(async () => {
  rmSync(directory, { recursive: true });
  await dashboard[Symbol.asyncDispose]();
});

async function read(...args: string[]): Promise<Record<string, unknown>[]> {
  const { exitCode, stdout, stderr } = await runWeir(args, variables);
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
  return stdout
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line));
}

/** Runs a command as on a terminal. */
async function show(...args: string[]): Promise<string> {
  let text = '';
  const stdout = new Writable({
    write(chunk, _, done) {
      text += chunk;
      done();
    },
  });
  const host = { env: variables, directory, stdin: process.stdin, stderr: new Writable({ write() {} }) };
  const exitCode = await runCommandLine(args, {
    ...host,
    stdout: Object.assign(stdout, { isTTY: true, columns: 120 }),
  });
  expect(exitCode).toBe(0);
  return text;
}

test('events are listed over the pages of the API, with the filters of the command', async () => {
  expect((await read('events', '--limit', '410')).map(({ id }) => id)).toEqual(
    ids.toReversed().slice(0, 410),
  );
  const failed = await read('events', '--state', 'error', '--limit', '3');
  expect(failed.map(({ name }) => name)).toEqual(['model-449', 'model-447', 'model-445']);
});

test('a terminal gets a table, in which recorded text controls nothing', async () => {
  const [title, ...lines] = (await show('events', '--limit', '2')).split('\n').slice(0, -1);
  expect(title).toMatch(/^STARTED +STATE +TYPE +NAME/);
  expect(lines[0]).toMatch(/^2026-01-01 00:00:00 +error +llm +model-449 .* \[31mred line$/);
  expect(lines).toHaveLength(2);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the escape character is what must be missing.
  expect(lines.join()).not.toMatch(/\u001b/);
});

test('a trace and a thread are printed in time order, and charts by group', async () => {
  expect((await read('trace', traceId)).map(({ id }) => id)).toEqual(ids.slice(0, 3));
  expect(await show('trace', traceId)).toContain('model-1');
  expect((await read('thread', 'chat', '--limit', '2')).map(({ id }) => id)).toEqual(ids.slice(-2));
  expect(await read('charts', '--from', '2026-01-01', '--to', '2026-01-02')).toEqual([]);
  expect(await show('charts')).toMatch(/^GROUP +EVENTS +ERRORS/);
});

test('an event is printed with the reason of its cost', async () => {
  const call = {
    name: 'openai/gpt-4o',
    state: 'error',
    inputTokens: 1_000_000,
    outputTokens: 0,
    totalTokens: 7,
  } as const;
  const [id = ''] = await addEvents(dashboard.sql, spaceId, [{ ...call, startTimeMs: 0 }]);
  expect(await read('event', id)).toMatchObject([
    { id, costReason: { lines: [{ kind: 'input', cost: '2.5' }] } },
  ]);
  const [, line, summary] = (await show('event', id)).split('\n');
  expect(line).toMatch(/^input +1000000 +2\.5 +2\.5$/);
  expect(summary).toMatch(/^openai\/gpt-4o: \$2\.5, list price of gpt-4o \(.*\), token_sum_mismatch$/);
});

test.each(['ndjson', 'csv', 'parquet', 'events'])('an export as %s is a complete file', async (format) => {
  const file = join(directory, `events.${format}`);
  const args = ['export', '--format', format, '--state', 'ok', '--output', file];
  const { exitCode, stderr } = await runWeir(args, variables);
  expect([exitCode, stderr]).toEqual([0, expect.stringMatching(/: \d+\.\d MiB in \d+\.\d s\n$/)]);
  const bytes = readFileSync(file);
  const count =
    format === 'parquet'
      ? Number(parquetMetadata(new Uint8Array(bytes).buffer).num_rows)
      : bytes
          .toString()
          .trim()
          .split(format === 'csv' ? '\r\n' : '\n').length - 1;
  expect(count).toBe(225);
  expect(existsSync(`${file}.partial`)).toBe(false);
  if (format !== 'events') return;
  const piped = await runWeir(['export', '--format', 'events', '--state', 'ok'], variables);
  expect(piped.stdout).toBe(bytes.toString());
});

test('tail prints what is stored from now on, and ends when the key is revoked', async () => {
  const { keyId, apiKey } = await issue();
  const given = { ...variables, WEIR_READ_KEY: apiKey };
  const endless = runWeir(['tail'], given);
  let printed: string[] | undefined;
  const limited = runWeir(['tail', '--limit', '2', '--user', 'live'], given).then(({ exitCode, stdout }) => {
    expect(exitCode).toBe(0);
    printed = stdout.split('\n').slice(0, -1);
  });
  const stored: unknown[] = [];
  // The stream begins at a moment that the command does not tell: events are stored until it has printed two.
  await until(async () => {
    const event = llmEvent({ context: { userId: 'live' } });
    stored.push(event.id);
    await insertParts(dashboard.database, [partOf(spaceId, [event])]);
    return printed !== undefined;
  });
  await limited;
  const shown = (printed ?? []).map((line) => JSON.parse(line).id);
  const from = stored.indexOf(shown[0]);
  expect(shown).toEqual(stored.slice(from, from + 2));
  await revokeApiKey(dashboard.database, keyId);
  expect(await endless).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('read key') });
});

test('tail prints every event, also after the connection was lost and Postgres was away', async () => {
  await using postgres = await openPostgresProxy();
  await using away = await openDashboard({ through: postgres.through });
  await using proxy = await TcpProxy.open(Number(new URL(away.url).port));
  const space = await away.addSpace();
  const { apiKey } = await issueApiKey(away.database, space.spaceId, {
    name: 'k',
    pepper: dashboardPepper,
    scope: 'events',
  });
  const printed: string[] = [];
  let stderr = '';
  const ended = runCommandLine(['tail', '--limit', '300'], {
    env: { WEIR_DASHBOARD_URL: `http://127.0.0.1:${proxy.port}`, WEIR_READ_KEY: apiKey },
    directory,
    stdin: process.stdin,
    stdout: collect((text) => printed.push(...text.split('\n').filter((line) => line !== ''))),
    stderr: collect((text) => {
      stderr += text;
    }),
  });
  const stored: string[] = [];
  // U+2028 and U+2029 end a line of JavaScript, and neither one of server-sent events nor a text of JSON.
  const store = async (count: number) => {
    const events = Array.from({ length: count }, () =>
      llmEvent({ context: { userId: 'a\u2028b\u2029c\u0085d' } }),
    );
    stored.push(...events.map(({ id }) => String(id)));
    await insertParts(away.database, [partOf(space.spaceId, events)]);
  };
  await until(async () => {
    await store(1);
    return printed.length > 0;
  });
  await postgres.proxy.cut();
  proxy.reset();
  await until(() => /live\.tail.*SERVICE_UNAVAILABLE|SERVICE_UNAVAILABLE.*live\.tail/.test(away.log()));
  await store(50);
  await postgres.proxy.heal();
  await until(() => JSON.parse(printed.at(-1) ?? '{}').id === stored.at(-1));
  await store(300);
  expect(await ended).toBe(0);
  const ids = printed.map((line) => JSON.parse(line).id);
  const from = stored.indexOf(ids[0] ?? '');
  expect(ids).toEqual(stored.slice(from, from + 300));
  expect(stderr).toBe('The connection was lost. Connecting again.\n');
});

const collect = (take: (text: string) => void) =>
  new Writable({
    write(chunk, _, done) {
      take(String(chunk));
      done();
    },
  });

test('failures name what to do', async () => {
  const failure = async (args: string[], given: Record<string, string> = variables) => {
    const { exitCode, stdout, stderr } = await runWeir(args, given);
    expect([exitCode, stdout]).toEqual([1, '']);
    return stderr;
  };
  expect(await failure(['events'], {})).toContain('Give --space');
  expect(await failure(['trace', traceId], {})).toContain('Set WEIR_DASHBOARD_URL');
  const sending = { WEIR_URL: dashboard.url, WEIR_READ_KEY: 'weir_read_x' };
  expect(await failure(['trace', traceId], sending)).toContain(
    'WEIR_URL is the address that events are sent',
  );
  expect(await failure(['trace', traceId], { WEIR_DASHBOARD_URL: dashboard.url })).toContain('WEIR_READ_KEY');
  expect(await failure(['trace', randomUUID()])).toContain('There is no event of this trace. (404)');
  expect(await failure(['events', '--key', 'weir_read_x'])).toContain('The read key is unknown, was revoked');
  expect(await failure(['tail', '--key', 'weir_read_x'])).toContain('The read key is unknown');
  const nobody = { ...variables, WEIR_DASHBOARD_URL: 'http://127.0.0.1:1' };
  expect(await failure(['thread', 'chat'], nobody)).toContain('http://127.0.0.1:1 does not answer');
  expect(await failure(['export', '--output', join(directory, 'none')], nobody)).toContain('does not answer');
  expect(existsSync(join(directory, 'none'))).toBe(false);
  await using other = createServer((_, response) =>
    response.writeHead(404, { 'content-type': 'application/json' }).end('{}'),
  );
  await once(other.listen(0, '127.0.0.1'), 'listening');
  const wrong = `http://127.0.0.1:${(other.address() as AddressInfo).port}`;
  expect(await failure(['thread', 'chat'], { ...variables, WEIR_DASHBOARD_URL: wrong })).toContain(
    `${wrong} answers, but not as a dashboard of Weir`,
  );
});
