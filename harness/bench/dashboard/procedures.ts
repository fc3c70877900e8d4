import { createLatencies } from '../../../lib/client/latencies.ts';
import { grownDays, rare, retired, uuidOfNumber } from '../filters/growth.ts';
import type { DashboardClient } from './dashboard-client.ts';

/** One procedure with one input, as a front end calls it. */
interface Call {
  name: string;
  /** The goal for the p99, in milliseconds. */
  goalMs: number;
  run: () => Promise<unknown>;
}

export interface CallFigure {
  readonly name: string;
  readonly goalMs: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

const times = 60;
const dayMs = 24 * 60 * 60 * 1_000;

export interface MeasuredSpace {
  spaceId: string;
  /** Events that the generator has stored. */
  rows: number;
  nowMs: number;
  /** A trace of one thread, whose events have segments that can be read. */
  traceId: string;
  threadId: string;
  eventIds: readonly string[];
  say: (text: string) => void;
}

/** Calls each procedure repeatedly, over HTTP. */
export async function measureProcedures(
  client: DashboardClient,
  space: MeasuredSpace,
): Promise<CallFigure[]> {
  const figures: CallFigure[] = [];
  for (const { name, goalMs, run } of callsOf(client, space)) {
    // Warm-up: prepares statements and compiles our code.
    for (let i = 0; i < 5; i++) await run();
    const latencies = createLatencies();
    for (let i = 0; i < times; i++) {
      const startedMs = performance.now();
      await run();
      latencies.record(performance.now() - startedMs);
    }
    figures.push({ name, goalMs, p50Ms: latencies.percentileMs(50), p99Ms: latencies.percentileMs(99) });
    space.say(`${name}: p99 ${latencies.percentileMs(99).toFixed(1)} ms`);
  }
  return figures;
}

function callsOf({ trpc }: DashboardClient, space: MeasuredSpace): Call[] {
  const { spaceId, rows, nowMs, eventIds, traceId, threadId } = space;
  let next = 0;
  const nextId = () => eventIds[next++ % eventIds.length] ?? '';
  const list = (name: string, filter: object): Call => ({
    name: `list: ${name}`,
    goalMs: name === 'no filter' ? 10 : 50,
    run: () => trpc.events.list.query({ spaceId, ...filter }),
  });
  const month = { from: nowMs - grownDays * dayMs, to: nowMs };
  const values = (value: string, frequent: object): [string, object][] => [
    [`name ${value}`, { name: value, ...frequent }],
    [`source ${value}`, { source: value }],
    [`thread ${value}`, { threadId: value }],
    [`agent ${value}`, { agentId: value }],
    [`agent group ${value}`, { agentGroupId: value }],
    [`user ${value}`, { userId: value }],
    [`attribute ${value}`, { attributes: [{ key: 'plan', value }] }],
  ];
  const filters: [string, object][] = [
    ['no filter', {}],
    ['name frequent', { name: 'name-1' }],
    ['user, one in 5,000', { userId: 'user-31' }],
    ...values(rare, {}),
    ...values('absent', {}),
    [`name ${retired}`, { name: retired }],
    ['trace', { traceId: uuidOfNumber(Math.floor(rows / 800) * 16) }],
    ['thread', { threadId: `thread-${Math.floor(rows / 100 / 2)}`, limit: 100 }],
    ['type', { type: 'tool' }],
    ['errors', { state: 'error' }],
    ['error code', { errorCode: 'code-1' }],
    ['last day', { from: nowMs - dayMs }],
    ['duration', { minDurationMs: 50_000 }],
    ['text', { text: 'nowhere' }],
    ['without a name', { not: [{ column: 'name', value: 'name-1' }] }],
  ];
  return [
    ...filters.map(([name, filter]) => list(name, filter)),
    { name: 'get', goalMs: 25, run: () => trpc.events.get.query({ spaceId, id: nextId() }) },
    {
      name: 'neighbours',
      goalMs: 50,
      run: () => trpc.events.neighbours.query({ spaceId, id: nextId() }),
    },
    {
      name: 'histogram, 30 days',
      goalMs: 50,
      run: () => trpc.events.histogram.query({ spaceId, ...month }),
    },
    {
      name: 'histogram of a name, 30 days',
      goalMs: 50,
      run: () => trpc.events.histogram.query({ spaceId, ...month, name: 'name-1' }),
    },
    ...(['none', 'model', 'agent'] as const).map((groupBy) => ({
      name: `chart, 30 days by hour and ${groupBy}`,
      goalMs: 50,
      run: () => trpc.charts.events.query({ spaceId, ...month, step: 'hour', groupBy }),
    })),
    {
      name: 'costs, 30 days',
      goalMs: 50,
      run: () => trpc.charts.costs.query({ spaceId, ...month, step: 'day' }),
    },
    { name: 'trace of 200 events', goalMs: 100, run: () => trpc.traces.get.query({ spaceId, traceId }) },
    {
      name: "a thread's page",
      goalMs: 50,
      run: () => trpc.threads.turns.query({ spaceId, threadId }),
    },
    { name: 'threads', goalMs: 50, run: () => trpc.threads.list.query({ spaceId }) },
    { name: 'usage', goalMs: 50, run: () => trpc.usage.daily.query({ spaceId }) },
  ];
}
