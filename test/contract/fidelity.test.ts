import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { llmEvent, toolEvent } from '../../harness/fixtures/events.ts';
import { readEventTexts } from '../../store/segments/read.ts';
import { foldStatistics } from '../../store/write/statistics/fold.ts';
import { postRaw } from '../support/http.ts';
import { usePipeline } from '../support/use-pipeline.ts';
import { untilDrained } from '../support/wait.ts';

const { pipeline, tenant } = usePipeline();

interface Row extends Record<string, unknown> {
  segmentId: string;
  segmentIndex: number;
}

/** Sends one event as this JSON text, and reads its row and its stored text. */
async function roundTrip(id: string, eventJson: string): Promise<{ row: Row; stored: string | undefined }> {
  const answer = await postRaw(pipeline, tenant, `{"events":[${eventJson}]}`);
  expect(answer.body).toEqual({ message: 'Queued 1 event.' });
  await untilDrained(pipeline);
  const [row] = await pipeline.sql<Row[]>`
    SELECT *, segment_id AS "segmentId", segment_index AS "segmentIndex" FROM events
    WHERE space_id = ${tenant.spaceId} AND id = ${id}`;
  if (row === undefined)
    throw new Error(
      `no row; in quarantine: ${JSON.stringify(await pipeline.sql`SELECT message FROM quarantine`)}`,
    );
  const [stored] = await readEventTexts(pipeline.database, tenant.spaceId, [row]);
  return { row, stored };
}

test.each([
  ['64-bit integers', '{"n":9007199254740993,"m":18446744073709551615,"z":-0}'],
  ['numbers beyond double', '[1e400,1E-400,123456789012345678901234567890.123456789]'],
  ['U+0000 and lone surrogates', '"\\u0000 \\ud800 \\udfff 🦦"'],
  ['quotes, back-slashes and braces', '"\\"},{\\"id\\":\\"\\\\\\"[\\n"'],
  ['duplicate and prototype keys', '{"a":1,"a":2,"__proto__":{"x":1},"constructor":null}'],
  ['white space', '  [ 1 ,\n\t2 ]  '],
  ['deep nesting', `${'['.repeat(500)}${']'.repeat(500)}`],
])('%s in a payload are stored byte for byte', async (_, json) => {
  const id = randomUUID();
  const sent = JSON.stringify(toolEvent({ id, properties: { tool: { input: 'PAYLOAD' } } })).replace(
    '"PAYLOAD"',
    json,
  );
  expect((await roundTrip(id, sent)).stored).toBe(sent);
});

test.each([5e-324, -5e-324])('an event that starts at %d ms is stored', async (startTimeMs) => {
  const id = randomUUID();
  const sent = JSON.stringify(llmEvent({ id, startTimeMs, endTimeMs: startTimeMs, durationMs: startTimeMs }));
  const { row, stored } = await roundTrip(id, sent);
  expect(stored).toBe(sent);
  expect(row).toMatchObject({ start_time_ms: 0 });
});

test('characters that Postgres cannot store are replaced by U+FFFD in columns', async () => {
  const id = randomUUID();
  const odd = 'a\0b\uD800c"\\{},NULL🦦';
  const event = llmEvent({
    id,
    status: { state: 'error', error: { code: odd, httpStatus: 500, message: odd } },
    instrumentation: { vendor: 'weir', source: odd, sourcePackage: odd },
    context: { threadId: odd, userId: 'NULL', agentId: '', agentGroupId: ' ' },
    additionalProperties: { [odd]: odd, n: 1e308, __proto: 0 },
    properties: { llm: { model: odd, input: { prompt: odd }, output: { response: odd } } },
  });
  const { row } = await roundTrip(id, JSON.stringify(event));
  const shown = 'a\uFFFDb\uFFFDc"\\{},NULL🦦';
  expect(row).toMatchObject({
    name: shown,
    source: shown,
    thread_id: shown,
    user_id: 'NULL',
    agent_id: '',
    agent_group_id: ' ',
    error_code: shown,
    error_http_status: '500',
    error_message: shown,
    input_preview: shown,
    output_preview: shown,
    attributes: { [shown]: shown, n: 1e308, __proto: 0 },
  });
});

test('extreme numbers are stored, and tokens are counted whole, not below 0, and up to 1e15', async () => {
  const id = randomUUID();
  const usage = { inputTokens: 1e308, outputTokens: -1.5, totalTokens: 5e-324 };
  const event = llmEvent({
    id,
    startTimeMs: -8.64e15,
    endTimeMs: 8.64e15,
    durationMs: -0.001,
    properties: { llm: { usage } },
  });
  for (let copies = 0; copies < 3; copies++) {
    const copy = randomUUID();
    await roundTrip(copy, JSON.stringify({ ...event, id: copy }));
  }
  const { row } = await roundTrip(id, JSON.stringify(event));
  expect(row).toMatchObject({
    start_time_ms: -8.64e15,
    end_time_ms: 8.64e15,
    duration_ms: -0.001,
    input_tokens: 1e15,
    output_tokens: 0,
    total_tokens: 0,
  });
  await foldStatistics(pipeline.database);
  const stats = await pipeline.sql`
    SELECT events::integer, input_tokens, output_tokens, total_tokens FROM event_stats
    WHERE space_id = ${tenant.spaceId} AND minute = ${Math.floor(-8.64e15 / 60_000)}`;
  expect(stats).toEqual([{ events: 4, input_tokens: 4e15, output_tokens: null, total_tokens: null }]);
});

test('a long text is truncated in its column and stored completely in the segment', async () => {
  const id = randomUUID();
  const long = '🦦'.repeat(50_000);
  const event = llmEvent({
    id,
    context: { threadId: long, userId: long },
    properties: { llm: { model: long } },
  });
  const { row, stored } = await roundTrip(id, JSON.stringify(event));
  expect(row.thread_id).toBe('🦦'.repeat(128));
  expect(stored).toBe(JSON.stringify(event));
});
