import type { Output } from '../../api/query.ts';
import { formatCounted } from '../../format/number.ts';

export type Trace = Output<'traces.get'>;
export type TraceEvent = Trace['events'][number];
export type TraceSpan = Trace['spans'][number];
export type Lane = Trace['lanes'][number];

/** A lane header, or an event or a span, with its depth below its parents. */
export type TraceRow =
  | { kind: 'lane'; lane: Lane }
  | { kind: 'event'; event: TraceEvent; depth: number }
  | { kind: 'span'; span: TraceSpan; depth: number };

/** Deeper events are not indented further. */
const depthMax = 8;

/** Lane by lane, each in order of time, with events and spans below their parents of the same lane. */
export function toTraceRows({ events, spans, lanes }: Trace): TraceRow[] {
  const byId = new Map<string, TraceEvent | TraceSpan>([...events, ...spans].map((item) => [item.id, item]));
  return lanes.flatMap((lane) => {
    const own = new Set([...lane.eventIds, ...lane.spanIds]);
    const depths = new Map<string, number>();
    const depthOf = (item: TraceEvent | TraceSpan): number => {
      const known = depths.get(item.id);
      if (known !== undefined) return known;
      // The API guarantees that parents are earlier and without cycles. A broken chain ends here.
      depths.set(item.id, 0);
      const above = [item.above, 'parent' in item ? item.parent?.id : undefined];
      const parentId = above.find((id) => typeof id === 'string' && own.has(id));
      const parent = parentId === undefined || parentId === null ? undefined : byId.get(parentId);
      const depth = parent === undefined ? 0 : Math.min(depthMax, depthOf(parent) + 1);
      depths.set(item.id, depth);
      return depth;
    };
    const items = [...own].flatMap((id) => byId.get(id) ?? []);
    // The longer first, and of equal times the upper one: a span may last as long as its only event.
    const lengthOf = (item: TraceEvent | TraceSpan) => item.endTimeMs - item.startTimeMs;
    items.sort(
      (a, b) => a.startTimeMs - b.startTimeMs || lengthOf(b) - lengthOf(a) || depthOf(a) - depthOf(b),
    );
    const rows = items.map(
      (item): TraceRow =>
        'kind' in item
          ? { kind: 'span', span: item, depth: depthOf(item) }
          : { kind: 'event', event: item, depth: depthOf(item) },
    );
    return [{ kind: 'lane', lane }, ...rows];
  });
}

/** The agent, the thread, or both. */
export function nameLane({ agentGroupId, agentId, threadId }: Lane): string {
  return (
    [agentGroupId, agentId, threadId].filter((part) => part !== null && part !== '').join(' › ') ||
    'No agent or thread'
  );
}

/** The time span of a trace. Events that end before they start do not invert it. */
export function spanOf({ events, spans }: Trace): { startMs: number; endMs: number } {
  const items = [...events, ...spans];
  const startMs = items.reduce((first, item) => Math.min(first, item.startTimeMs), Number.POSITIVE_INFINITY);
  const endMs = items.reduce((last, item) => Math.max(last, item.endTimeMs, item.startTimeMs), startMs);
  return { startMs, endMs: Math.max(endMs, startMs + 1) };
}

export function toTraceText(rows: readonly TraceRow[], startMs: number): string[] {
  return rows.map((row) => {
    if (row.kind === 'lane')
      return `── ${nameLane(row.lane)} (${formatCounted(row.lane.events, 'event')}, ${formatCounted(row.lane.errors, 'error')})`;
    const at = (ms: number) => `+${((ms - startMs) / 1_000).toFixed(3)} s`.padStart(12);
    const { depth } = row;
    if (row.kind === 'span') {
      const { kind, name, startTimeMs, endTimeMs } = row.span;
      const text = `${at(startTimeMs)}  ${'  '.repeat(depth)}${kind} ${name}  ${Math.round(endTimeMs - startTimeMs)} ms`;
      return text.replaceAll(/[\r\n]+/g, ' ');
    }
    const { event } = row;
    const error =
      event.state === 'error' ? `  ERROR ${event.errorCode ?? ''} ${event.errorMessage ?? ''}` : '';
    const text = `${at(event.startTimeMs)}  ${'  '.repeat(depth)}${event.type} ${event.name ?? 'unnamed'}  ${Math.round(event.durationMs)} ms${error}`;
    return text.replaceAll(/[\r\n]+/g, ' ');
  });
}
