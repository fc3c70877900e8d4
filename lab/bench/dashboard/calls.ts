import type { DashboardClient } from '../../../harness/system/dashboard-client.ts';
import { dayMs } from '../../../platform/time.ts';
import { grownDays, rare, retired, uuidOfNumber } from '../filters/growth.ts';

/** One procedure with one input, as a front end calls it. */
export interface Call {
  name: string;
  /** The goal for the p99, in milliseconds. */
  goalMs: number;
  run: () => Promise<unknown>;
}

export interface MeasuredSpace {
  spaceId: string;
  /** Events that the generator has stored. */
  rows: number;
  nowMs: number;
  /** A trace of one thread, whose events have segments that can be read. */
  traceId: string;
  threadId: string;
  eventIds: readonly string[];
}

type Trpc = DashboardClient['trpc'];

/**
 * The goal of every filter, chart and list; that of the rows of the first page, and of what compares
 * thousands of events.
 */
const goalMs = 50;
const firstRowsMs = 150;

/** The dimensions that the space declares, and what the page of events counts. */
export const declared = ['user', 'agent', 'attr.plan'] as const;
const facetFields: Parameters<Trpc['events']['facets']['query']>[0]['fields'] = [
  ...(['state', 'model', 'tool', 'userId', 'agentId', 'attr.plan', 'attr.release'] as const),
];

/** What the pages of a space read. */
export function callsOf({ trpc }: DashboardClient, space: MeasuredSpace): Call[] {
  return [
    ...lists(trpc, space),
    ...orders(trpc, space),
    ...single(trpc, space),
    ...charts(trpc, space),
    ...activity(trpc, space),
    ...administration(trpc, space),
  ];
}

function lists(trpc: Trpc, { spaceId, rows, nowMs }: MeasuredSpace): Call[] {
  const month = { from: nowMs - grownDays * dayMs };
  const compare = (measure: 'duration' | 'tokens' | 'cost', value: number) => ({
    comparisons: [{ measure, operator: '>' as const, value }],
  });
  const values = (value: string): [string, object][] => [
    [`name ${value}`, { name: value }],
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
    ...values(rare),
    ...values('absent'),
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
    ['took above 1 s', compare('duration', 1_000)],
    ['took above 1 h, absent', compare('duration', 3_600_000)],
    ['tokens above 1,000', compare('tokens', 1_000)],
    ['tokens above 1 million, absent', compare('tokens', 1_000_000)],
    ['cost above $0.001 in 30 days', { ...month, ...compare('cost', 0.001) }],
    ['cost above $100 in 30 days, absent', { ...month, ...compare('cost', 100) }],
    ['errors of a user above 1 s', { state: 'error', userId: 'user-31', ...compare('duration', 1_000) }],
  ];
  return filters.map(([name, filter]) => ({
    name: `list: ${name}`,
    goalMs: name === 'no filter' ? 10 : goalMs,
    run: () => trpc.events.list.query({ spaceId, ...filter }),
  }));
}

/** Events by cost, tokens or duration, and errors by message. */
function orders(trpc: Trpc, { spaceId, nowMs }: MeasuredSpace): Call[] {
  const filters: [string, object][] = [
    ['no filter', {}],
    ['name', { name: 'name-1' }],
    ['errors', { state: 'error' }],
    ['user', { userId: 'user-31' }],
    ['rare user', { userId: rare }],
    ['last day', { from: nowMs - dayMs }],
  ];
  return [
    ...filters.flatMap(([name, filter]) =>
      (['duration', 'tokens', 'cost'] as const).map((by) => ({
        name: `by ${by}: ${name}`,
        goalMs: firstRowsMs,
        run: () => trpc.events.top.query({ spaceId, by, ...filter }),
      })),
    ),
    ...filters.map(([name, filter]) => ({
      name: `errors by message: ${name}`,
      goalMs: firstRowsMs,
      run: () => trpc.events.errors.query({ spaceId, ...filter }),
    })),
  ];
}

function single(trpc: Trpc, { spaceId, eventIds, traceId, threadId }: MeasuredSpace): Call[] {
  let next = 0;
  const nextId = () => eventIds[next++ % eventIds.length] ?? '';
  return [
    { name: 'get', goalMs: 25, run: () => trpc.events.get.query({ spaceId, id: nextId() }) },
    { name: 'neighbours', goalMs, run: () => trpc.events.neighbours.query({ spaceId, id: nextId() }) },
    { name: 'trace of 200 events', goalMs: 100, run: () => trpc.traces.get.query({ spaceId, traceId }) },
    { name: "a thread's page", goalMs, run: () => trpc.threads.turns.query({ spaceId, threadId }) },
    { name: "a thread's head", goalMs, run: () => trpc.threads.get.query({ spaceId, threadId }) },
    { name: "a user's head", goalMs, run: () => trpc.users.get.query({ spaceId, userId: 'user-31' }) },
    {
      name: 'completion of a user',
      goalMs,
      run: () => trpc.events.facets.query({ spaceId, fields: ['userId'], prefix: 'user-3' }),
    },
    {
      name: 'completion of an additional property',
      goalMs,
      run: () => trpc.events.facets.query({ spaceId, fields: ['attribute'], prefix: 'pl' }),
    },
    {
      name: 'new events since a position',
      goalMs,
      run: async () => {
        const { cursor } = await trpc.live.since.query({ spaceId });
        return await trpc.live.since.query({ spaceId, after: cursor });
      },
    },
  ];
}

function charts(trpc: Trpc, { spaceId, nowMs }: MeasuredSpace): Call[] {
  const month = { from: nowMs - grownDays * dayMs, to: nowMs };
  const histograms: [string, object][] = [
    ['', {}],
    [' of a name', { name: 'name-1' }],
    [' of a user', { userId: 'user-31' }],
    [' of a duration', { comparisons: [{ measure: 'duration', operator: '>', value: 1_000 }] }],
  ];
  return [
    ...histograms.map(([name, filter]) => ({
      name: `histogram${name}, 30 days`,
      goalMs: name === '' || name === ' of a name' ? goalMs : firstRowsMs,
      run: () => trpc.events.histogram.query({ spaceId, ...month, ...filter }),
    })),
    ...(['none', 'model', 'agent'] as const).map((groupBy) => ({
      name: `chart, 30 days by hour and ${groupBy}`,
      goalMs,
      run: () => trpc.charts.events.query({ spaceId, ...month, step: 'hour', groupBy }),
    })),
    ...(['model', 'tool'] as const).map((groupBy) => ({
      name: `overview's ${groupBy}s, 30 days`,
      goalMs,
      run: () => trpc.charts.events.query({ spaceId, ...month, step: 'day', groupBy }),
    })),
    ...declared.map((groupBy) => ({
      name: `chart, 30 days by day and ${groupBy}`,
      goalMs: firstRowsMs,
      run: () => trpc.charts.events.query({ spaceId, ...month, step: 'day', groupBy }),
    })),
    ...(
      [
        ['', {}],
        [' of a name', { name: 'name-1' }],
        [' of a user', { userId: 'user-31' }],
        [' of a session', { threadId: 'thread-31' }],
      ] as const
    ).map(([name, filter]) => ({
      name: `facets${name}, 30 days`,
      goalMs: firstRowsMs,
      run: () => trpc.events.facets.query({ spaceId, ...month, ...filter, fields: facetFields }),
    })),
    {
      name: 'costs, 30 days',
      goalMs,
      run: () => trpc.charts.costs.query({ spaceId, ...month, step: 'day' }),
    },
    { name: 'models and their prices', goalMs, run: () => trpc.prices.models.query({ spaceId }) },
  ];
}

/** Threads and users, with their costs. */
function activity(trpc: Trpc, { spaceId, rows, nowMs }: MeasuredSpace): Call[] {
  const searches: [string, object][] = [
    ['', {}],
    [', last day', { from: nowMs - dayMs }],
    [', search of an absent text', { search: 'nowhere' }],
  ];
  const threads: [string, object][] = [
    ...searches,
    [', search of a text', { search: 'Hello' }],
    [', search of a thread', { search: `thread-${Math.floor(rows / 100 / 2)}` }],
    [', search of a user', { search: 'user-31' }],
    [' of a user', { userId: 'user-31' }],
  ];
  const users: [string, object][] = [...searches, [', search of a beginning', { search: 'user-3' }]];
  return [
    ...threads.map(([name, input]) => ({
      name: `threads${name}`,
      goalMs: firstRowsMs,
      run: () => trpc.threads.list.query({ spaceId, ...input }),
    })),
    ...users.map(([name, input]) => ({
      name: `users${name}`,
      goalMs: firstRowsMs,
      run: () => trpc.users.list.query({ spaceId, ...input }),
    })),
  ];
}

function administration(trpc: Trpc, { spaceId }: MeasuredSpace): Call[] {
  const rule = { spaceId, bound: 1_000_000, comparison: 'above' as const, windowMinutes: 30 as const };
  return [
    ...(['events', 'error_rate', 'p95', 'cost'] as const).map((kind) => ({
      name: `preview of an alert: ${kind}`,
      goalMs: firstRowsMs,
      run: () => trpc.alerts.preview.query({ ...rule, kind }),
    })),
    {
      name: 'preview of an alert on a property',
      goalMs: 1_000,
      run: () =>
        trpc.alerts.preview.query({
          ...rule,
          kind: 'events',
          filter: { attributeKey: 'plan', attributeValue: 'plan-1' },
        }),
    },
    {
      name: 'preview of an erasure of a user',
      goalMs: 1_000,
      run: () => trpc.erasures.preview.query({ spaceId, kind: 'user', value: 'user-31' }),
    },
    {
      name: 'preview of a retention of 14 days',
      goalMs: 1_000,
      run: () => trpc.spaces.previewRetention.query({ spaceId, retentionDays: 14 }),
    },
    { name: 'usage', goalMs, run: () => trpc.usage.daily.query({ spaceId }) },
  ];
}
