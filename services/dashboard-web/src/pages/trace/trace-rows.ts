import type { Output } from '../../api/paths.ts';
import { formatCounted } from '../../format/number.ts';

export type Trace = Output<'traces.get'>;
export type TraceEvent = Trace['events'][number];
export type Lane = Trace['lanes'][number];

/** A row of the waterfall: a lane header, or an event with its depth below its parents. */
export type TraceRow = { kind: 'lane'; lane: Lane } | { kind: 'event'; event: TraceEvent; depth: number };

/** Deeper events are not indented further. */
const depthMax = 8;

/** Lane by lane, each in order of time, with events below their parents of the same lane. */
export function toTraceRows({ events, lanes }: Trace): TraceRow[] {
  const byId = new Map(events.map((event) => [event.id, event]));
  return lanes.flatMap((lane) => {
    const own = new Set(lane.eventIds);
    const depths = new Map<string, number>();
    const depthOf = (event: TraceEvent): number => {
      const known = depths.get(event.id);
      if (known !== undefined) return known;
      // The API guarantees that parents are earlier and without cycles. A broken chain ends here.
      depths.set(event.id, 0);
      const parent =
        event.parent === null || !own.has(event.parent.id) ? undefined : byId.get(event.parent.id);
      const depth = parent === undefined ? 0 : Math.min(depthMax, depthOf(parent) + 1);
      depths.set(event.id, depth);
      return depth;
    };
    const rows = lane.eventIds.flatMap((id): TraceRow[] => {
      const event = byId.get(id);
      return event === undefined ? [] : [{ kind: 'event', event, depth: depthOf(event) }];
    });
    return [{ kind: 'lane', lane }, ...rows];
  });
}

/** The name of a lane: its agent, its thread, or both. */
export function nameLane({ agentGroupId, agentId, threadId }: Lane): string {
  return (
    [agentGroupId, agentId, threadId].filter((part) => part !== null && part !== '').join(' › ') ||
    'No agent or thread'
  );
}

/** The time span of a trace. Events that end before they start do not invert it. */
export function spanOf({ events }: Trace): { startMs: number; endMs: number } {
  const startMs = events.reduce(
    (first, event) => Math.min(first, event.startTimeMs),
    Number.POSITIVE_INFINITY,
  );
  const endMs = events.reduce((last, event) => Math.max(last, event.endTimeMs, event.startTimeMs), startMs);
  return { startMs, endMs: Math.max(endMs, startMs + 1) };
}

/** The trace as an outline in plain text. */
export function toTraceText(rows: readonly TraceRow[], startMs: number): string[] {
  return rows.map((row) => {
    if (row.kind === 'lane')
      return `── ${nameLane(row.lane)} (${formatCounted(row.lane.events, 'event')}, ${formatCounted(row.lane.errors, 'error')})`;
    const { event, depth } = row;
    const at = `+${((event.startTimeMs - startMs) / 1_000).toFixed(3)} s`.padStart(12);
    const error =
      event.state === 'error' ? `  ERROR ${event.errorCode ?? ''} ${event.errorMessage ?? ''}` : '';
    const text = `${at}  ${'  '.repeat(depth)}${event.type} ${event.name ?? 'unnamed'}  ${Math.round(event.durationMs)} ms${error}`;
    return text.replaceAll(/[\r\n]+/g, ' ');
  });
}
