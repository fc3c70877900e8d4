import { and, eq } from 'drizzle-orm';
import { createLatencies } from '../../../cli/client/latencies.ts';
import type { Database } from '../../../store/db/database.ts';
import { events } from '../../../store/db/schema.ts';
import type { EventFilter } from '../../../store/read/event-filter.ts';
import { readEventPage } from '../../../store/read/event-page.ts';
import { rare, retired, uuidOfNumber } from './growth.ts';

/** The measurements of one list. */
export interface ListFigure {
  readonly name: string;
  readonly p50Ms: number;
  readonly p95Ms: number;
  readonly p99Ms: number;
  readonly rows: number;
  /** Pages that ended before the search did. */
  readonly incomplete: number;
}

const pageEvents = 50;
const times = 60;

const columns = {
  id: events.id,
  startTimeMs: events.startTimeMs,
  type: events.type,
  state: events.state,
  name: events.name,
  userId: events.userId,
  inputPreview: events.inputPreview,
  outputPreview: events.outputPreview,
};

/**
 * The filters by one value. Each is measured with a frequent, a rare, an absent, and a formerly frequent
 * value.
 */
const byValue = {
  name: (value: string) => ({ name: value }),
  source: (value: string) => ({ source: value }),
  thread: (value: string) => ({ threadId: value }),
  agent: (value: string) => ({ agentId: value }),
  'agent group': (value: string) => ({ agentGroupId: value }),
  user: (value: string) => ({ userId: value }),
  attribute: (value: string) => ({ attributes: [{ key: 'plan', value }] }),
} satisfies Record<string, (value: string) => EventFilter>;

function filters(rows: number, nowMs: number): [string, EventFilter][] {
  const frequent = { name: 'name-1', source: 'source-1', thread: 'thread-1', agent: 'agent-1' };
  const more = { 'agent group': 'group-1', user: 'user-31', attribute: 'plan-1' };
  const values: Record<string, string> = { ...frequent, ...more };
  const day = { from: nowMs - 24 * 60 * 60 * 1_000 };
  return [
    ['no filter', {}],
    ...Object.entries(byValue).flatMap(([kind, filter]): [string, EventFilter][] => [
      [`${kind}: ${kind === 'thread' ? 'recent or not' : 'frequent'}`, filter(values[kind] ?? '')],
      [`${kind}: rare`, filter(rare)],
      [`${kind}: absent`, filter('absent')],
      [`${kind}: frequent long ago`, filter(retired)],
    ]),
    ['trace', { traceId: uuidOfNumber(Math.floor(rows / 800) * 16) }],
    ['trace: absent', { traceId: uuidOfNumber(2 ** 40) }],
    ['type', { type: 'tool' }],
    ['state: error', { state: 'error' }],
    ['error code', { errorCode: 'code-1' }],
    ['error code: frequent long ago', { errorCode: retired }],
    ['name and state', { name: 'name-1', state: 'error' }],
    ['name long ago and state', { name: retired, state: 'error' }],
    ['user and name and type', { userId: 'user-31', name: 'name-1', type: 'llm' }],
    ['frequent values that never meet', { name: 'name-1', source: 'source-2' }],
    ['duration, last day', { minDurationMs: 50_000, ...day }],
    ['text, last day', { text: 'absent', ...day }],
  ];
}

/** Reads the first page of each list repeatedly. */
export async function measureLists(
  database: Database,
  spaceId: string,
  { rows, nowMs }: { rows: number; nowMs: number },
): Promise<ListFigure[]> {
  const figures: ListFigure[] = [];
  for (const [name, filter] of filters(rows, nowMs)) {
    const latencies = createLatencies();
    let found = 0;
    let incomplete = 0;
    for (let i = 0; i < times; i++) {
      const startedMs = performance.now();
      const query = { filter, after: undefined, limit: pageEvents };
      const page = await readEventPage(database, spaceId, { columns, ...query });
      latencies.record(performance.now() - startedMs);
      found = page.rows.length;
      if (!page.isComplete) incomplete += 1;
    }
    figures.push({ name, ...percentiles(latencies), rows: found, incomplete });
  }
  return [...figures, await measureGet(database, spaceId)];
}

async function measureGet(database: Database, spaceId: string): Promise<ListFigure> {
  const page = await readEventPage(database, spaceId, {
    columns,
    filter: {},
    after: undefined,
    limit: times,
  });
  const latencies = createLatencies();
  for (const { id } of page.rows) {
    const startedMs = performance.now();
    await database
      .select(columns)
      .from(events)
      .where(and(eq(events.spaceId, spaceId), eq(events.id, id)))
      .prepare('bench_get')
      .execute();
    latencies.record(performance.now() - startedMs);
  }
  return { name: 'get', ...percentiles(latencies), rows: 1, incomplete: 0 };
}

function percentiles(latencies: ReturnType<typeof createLatencies>) {
  const [p50Ms = 0, p95Ms = 0, p99Ms = 0] = [50, 95, 99].map((part) => latencies.percentileMs(part));
  return { p50Ms, p95Ms, p99Ms };
}
