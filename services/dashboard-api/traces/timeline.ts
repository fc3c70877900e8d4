import { z } from 'zod';
import { traceIntervalsMax } from './limits.ts';
import type { TraceSpan } from './spans.ts';
import { endOf, type TraceRow } from './trace-events.ts';

/** The events of one agent and thread. */
export const lane = z
  .object({
    agentGroupId: z.string().nullable(),
    agentId: z.string().nullable(),
    threadId: z.string().nullable(),
    /** In time order. */
    eventIds: z.array(z.guid()),
    /** Spans that are no events, in time order. */
    spanIds: z.array(z.string()),
    events: z.number(),
    errors: z.number(),
    startMs: z.number(),
    endMs: z.number(),
  })
  .meta({ id: 'Lane' });
export type Lane = z.infer<typeof lane>;

/** A time span in which no event ran, or in which several did. */
export const interval = z.object({ startMs: z.number(), endMs: z.number() }).meta({ id: 'Interval' });
export type Interval = z.infer<typeof interval>;

export const overlap = interval
  .extend({
    eventsAtOnce: z.number(),
  })
  .meta({ id: 'Overlap' });
export type Overlap = z.infer<typeof overlap>;

/** Agent groups, their agents, and their threads, each ordered by first start. */
export function findLanes(rows: readonly TraceRow[], spans: readonly TraceSpan[] = []): Lane[] {
  const firsts = new Map<string, number>();
  const place = (...key: unknown[]) => {
    const text = JSON.stringify(key);
    firsts.set(text, firsts.get(text) ?? firsts.size);
    return firsts.get(text) ?? 0;
  };
  const items: Item[] = [...rows, ...spans.map((span) => ({ ...span, isSpan: true as const }))];
  const placed = items
    .toSorted((a, b) => a.startTimeMs - b.startTimeMs)
    .map((item) => {
      const { agentGroupId, agentId, threadId } = item;
      const group = place(agentGroupId);
      const agent = place(agentGroupId, agentId);
      return { item, places: [group, agent, place(agentGroupId, agentId, threadId)] as const };
    });
  return [...Map.groupBy(placed, ({ places }) => places[2])]
    .map(([, own]) => ({ places: own[0]?.places ?? [0, 0, 0], lane: toLane(own.map(({ item }) => item)) }))
    .toSorted(({ places: a }, { places: b }) => a[0] - b[0] || a[1] - b[1] || a[2] - b[2])
    .map(({ lane }) => lane);
}

type Item = (TraceRow & { isSpan?: never }) | (TraceSpan & { isSpan: true });

function toLane(items: readonly Item[]): Lane {
  const [first] = items;
  const rows = items.flatMap((item) => (item.isSpan ? [] : [item]));
  return {
    agentGroupId: first?.agentGroupId ?? null,
    agentId: first?.agentId ?? null,
    threadId: first?.threadId ?? null,
    eventIds: rows.map(({ id }) => id),
    spanIds: items.flatMap((item) => (item.isSpan ? [item.id] : [])),
    events: rows.length,
    errors: rows.filter(({ state }) => state === 'error').length,
    startMs: first?.startTimeMs ?? 0,
    endMs: items.reduce(
      (end, item) => Math.max(end, item.isSpan ? item.endTimeMs : endOf(item)),
      Number.NEGATIVE_INFINITY,
    ),
  };
}

/** Gaps between first start and last end, without a running event; at most {@link traceIntervalsMax}. */
export function findGaps(rows: readonly TraceRow[]): Interval[] {
  const gaps: Interval[] = [];
  let endMs: number | undefined;
  for (const row of rows) {
    if (endMs !== undefined && row.startTimeMs > endMs) gaps.push({ startMs: endMs, endMs: row.startTimeMs });
    endMs = Math.max(endMs ?? endOf(row), endOf(row));
  }
  return gaps.slice(0, traceIntervalsMax);
}

/** The spans in which at least two of the events ran, at most {@link traceIntervalsMax}. */
export function findOverlaps(rows: readonly TraceRow[]): Overlap[] {
  const turns = rows
    .filter((row) => endOf(row) > row.startTimeMs)
    .flatMap((row) => [
      { atMs: row.startTimeMs, change: 1 },
      { atMs: endOf(row), change: -1 },
    ])
    // Ends before starts at the same time: consecutive events do not overlap.
    .toSorted((a, b) => a.atMs - b.atMs || a.change - b.change);
  const overlaps: Overlap[] = [];
  let running = 0;
  let open: Overlap | undefined;
  for (const { atMs, change } of turns) {
    running += change;
    if (running >= 2) {
      open ??= { startMs: atMs, endMs: atMs, eventsAtOnce: running };
      open.eventsAtOnce = Math.max(open.eventsAtOnce, running);
    } else if (open !== undefined) {
      if (atMs > open.startMs) overlaps.push({ ...open, endMs: atMs });
      open = undefined;
    }
  }
  return overlaps.slice(0, traceIntervalsMax);
}
