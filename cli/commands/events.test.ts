import { randomUUID } from 'node:crypto';
import { zstdCompressSync } from 'node:zlib';
import { eq } from 'drizzle-orm';
import { expect, test } from 'vitest';
import { projectionVersion } from '../../event/projection.ts';
import { anyTerm, inSpace } from '../../event/terms.ts';
import { events, segments } from '../../store/db/schema.ts';
import { runWeirProcess } from '../../test/support/cli/command-line.ts';
import { Operator, unknownId } from '../../test/support/cli/operator.ts';
import { printedEventsPage } from './events.ts';

const operator = new Operator();

/** Stores a request body as one segment, as the writer does; the n-th event starts at startTimesMs[n]. */
async function storeBody(spaceId: string, body: string, startTimesMs: number[]): Promise<void> {
  const segment = Buffer.from(body);
  const shared = { spaceId, receivedAt: new Date('2026-01-02T03:04:05.678Z') };
  const segmentId = randomUUID();
  await operator.database.insert(segments).values({
    ...shared,
    id: segmentId,
    apiKeyId: unknownId,
    eventCount: startTimesMs.length,
    rawBytes: segment.length,
    body: zstdCompressSync(segment),
    minStartMs: Math.min(...startTimesMs),
    maxStartMs: Math.max(...startTimesMs),
    terms: inSpace(spaceId, [anyTerm]),
    projection: projectionVersion,
  });
  const rows = startTimesMs.map((startTimeMs, segmentIndex) => ({
    ...shared,
    id: randomUUID(),
    segmentId,
    segmentIndex,
    startTimeMs,
    endTimeMs: 0,
    durationMs: 0,
    ...({ type: 'tool', state: 'ok', source: 's' } as const),
  }));
  // Postgres accepts at most 65,535 parameters per statement.
  for (let i = 0; i < rows.length; i += 1_000) {
    await operator.database.insert(events).values(rows.slice(i, i + 1_000));
  }
}

async function readEventLines(...args: string[]): Promise<string[]> {
  return (await operator.print(['events', ...args])).split('\n').slice(0, -1);
}

test('events are printed as they were sent, newest first, one per line, with receivedAt as the last member', async () => {
  const spaceId = await operator.createSpace();
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

test('every event of several pages is printed once, even when start times are equal', async () => {
  const spaceId = await operator.createSpace();
  const numbers = [...Array(printedEventsPage + 1_000).keys()];
  const body = `{"events":[${numbers.map((n) => `{"n":${n}}`).join(',')}]}`;
  // Most of them start at the same time, across the boundary of two pages.
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

test('the filter options select the events', async () => {
  const spaceId = await operator.createSpace();
  await storeBody(spaceId, '{"events":[{"n":0},{"n":1},{"n":2}]}', [1_000, 2_000, 3_000]);
  const [, middle] = await operator.database
    .select({ id: events.id })
    .from(events)
    .where(eq(events.spaceId, spaceId))
    .orderBy(events.startTimeMs);
  const traceId = randomUUID();
  await operator.database
    .update(events)
    .set({
      ...({
        type: 'llm',
        state: 'error',
        name: 'm',
        source: 'o',
        traceId,
        threadId: 't',
        agentId: 'a',
      } as const),
      agentGroupId: 'g',
      userId: 'u',
      errorCode: 'e',
      durationMs: 5.5,
      inputPreview: 'Hello',
      attributes: { plan: 'a=b', seats: 3 },
    })
    .where(eq(events.id, middle?.id ?? ''));
  const options = [
    ['--type', 'llm'],
    ['--state', 'error'],
    ['--name', 'm'],
    ['--source', 'o'],
    ['--trace', traceId.toUpperCase()],
    ['--thread', 't'],
    ['--agent', 'a'],
    ['--agent-group', 'g'],
    ['--user', 'u'],
    ['--error-code', 'e'],
    ['--attribute', 'plan=a=b', '--attribute', 'seats=3'],
    ['--from', '1970-01-01T00:00:02Z', '--to', '3000'],
    ['--min-duration', '5', '--max-duration', '5.5'],
    ['--text', 'hello'],
  ];
  for (const option of [...options, options.flat()]) {
    const lines = await readEventLines('--space', spaceId, ...option);
    expect(
      lines.map((line) => JSON.parse(line).n),
      option.join(' '),
    ).toEqual([1]);
  }
  expect(await readEventLines('--space', spaceId, '--user', 'other')).toEqual([]);
});

test('events too large for one page are printed in smaller pages', async () => {
  const spaceId = await operator.createSpace();
  const large = 'x'.repeat(4_000_000);
  for (let n = 0; n < 20; n++) await storeBody(spaceId, `{"events":[{"n":${n},"x":"${large}"}]}`, [n]);
  const lines = await readEventLines('--space', spaceId);
  expect(lines.map((line) => JSON.parse(line).n)).toEqual([...Array(20).keys()].reverse());
});

test('closing stdout early ends the command without an error', async () => {
  const spaceId = await operator.createSpace();
  await storeBody(spaceId, `{"events":[{"text":"${'x'.repeat(1_000_000)}"}]}`, [1]);
  const options = { readStdout: false };
  const ended = await runWeirProcess(['events', '--space', spaceId], operator.variables, options);
  expect(ended).toMatchObject({ exitCode: 0, stderr: '' });
});
