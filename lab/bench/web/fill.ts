import { randomUUID } from 'node:crypto';
import { openIngestClient } from '../../../cli/client/ingest-client.ts';
import { llmEvent, toolEvent } from '../../../harness/fixtures/events.ts';
import { until } from '../../../harness/wait.ts';
import type { Connection } from '../../../launcher/local-system.ts';
import { openPostgres } from '../../../store/db/connect.ts';
import { openDatabase } from '../../../store/db/database.ts';
import { growSpace } from '../filters/growth.ts';

/** The limit of a request is 4 MiB (docs/api.md §8). */
const largeChars = 4_100_000;
/** As many events as the page shows, sent 500 per request. */
const traceEvents = 5_000;
const requestEvents = 500;

/** Names by which the measurements find the newest events. */
export const largeName = 'large';
export const firstWords = 'The first words';
export const tracedName = 'traced';

/** Stores many small events, a trace of 5,000, and a newest event of 4 MB. */
export async function fillSpace(
  connection: Connection,
  rows: number,
  say: (text: string) => void,
): Promise<void> {
  const { databaseUrl, spaceId, ingestUrl: url, apiKey } = connection;
  const options = { applicationName: 'weir-bench', connectionsMax: 4, statementTimeoutMs: 0 };
  await using sql = openPostgres(databaseUrl, options);
  await growSpace(openDatabase(sql), spaceId, { rows, nowMs: Date.now(), say });
  await using client = openIngestClient({ url, apiKey, connections: 1, timeoutMs: 30_000 });
  const events = [...makeTrace(), makeLarge()];
  for (let from = 0; from < events.length; from += requestEvents) {
    const body = JSON.stringify({ events: events.slice(from, from + requestEvents) });
    const { status, body: answer } = await client.post(Buffer.from(body));
    if (status !== 202) throw new Error(`ingest answered ${status}: ${answer}`);
  }
  const first = String(events[0]?.id);
  const last = String(events.at(-1)?.id);
  const isStored = async () => {
    const [row] = await sql`
      SELECT count(*) FROM events WHERE space_id = ${spaceId} AND (id = ${first} OR id = ${last})`;
    return Number(row?.count) === 2;
  };
  await until(isStored, 60_000);
}

/** Concurrent agents, each calling a model and then tools; one call in fifty fails. */
function makeTrace(): ReturnType<typeof llmEvent>[] {
  const traceId = randomUUID();
  const fromMs = Date.now();
  return Array.from({ length: traceEvents }, (_, i) => {
    const startTimeMs = fromMs + i * 10;
    const durationMs = 5 + ((i * 7919) % 400);
    const isLast = i === traceEvents - 1;
    const agent = `agent-${i % 12}`;
    const common = {
      traceId,
      startTimeMs,
      endTimeMs: startTimeMs + durationMs,
      durationMs,
      status: i % 50 === 7 ? { state: 'error', error: { code: 'timeout' } } : { state: 'ok' },
      context: { agentId: agent, threadId: `${agent}-thread` },
    };
    if (i % 4 !== 0 && !isLast) return toolEvent(common);
    return llmEvent({
      ...common,
      properties: {
        llm: {
          model: isLast ? tracedName : 'planner',
          input: { prompt: `step ${i}` },
          output: { toolCalls: [{ name: 'get_weather', input: { city: 'Bern' } }] },
          usage: {},
        },
      },
    });
  });
}

function makeLarge(): ReturnType<typeof llmEvent> {
  // After the trace, whose start times span less than a minute, so that it is the newest event.
  const endTimeMs = Date.now() + 120_000;
  const prompt = `${firstWords} ${'x'.repeat(largeChars)}`;
  return llmEvent({
    startTimeMs: endTimeMs - 10,
    endTimeMs,
    durationMs: 10,
    properties: { llm: { model: largeName, input: { prompt }, output: { response: 'ok' }, usage: {} } },
  });
}
