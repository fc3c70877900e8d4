import { traceSpansMax } from './limits.ts';
import { namedParentOf } from './parents.ts';
import type { TraceSpan } from './spans.ts';
import { endOf, type TraceRow } from './trace-events.ts';

/** Names the spans around an event (docs/sdk.md). */
const pathAttribute = 'span.path';
const idsAttribute = 'span.ids';

interface Level {
  readonly id: string;
  readonly name: string;
}

/**
 * Spans that events name by the path around them, since the contract has no events for spans: from the first
 * to the last of their events. Of an event inside a tool, the spans that the tool is in, too, are above the
 * tool, and the others below it. @param rows in time order.
 */
export function findNamedSpans(rows: readonly TraceRow[]) {
  const byId = new Map(rows.map((row) => [row.id, row]));
  const spans = new Map<string, TraceSpan>();
  const above = new Map<string, string>();
  for (const row of rows) {
    const path = pathOf(row);
    if (path.length === 0) continue;
    const parent = byId.get(namedParentOf(row) ?? '');
    const shared = parent === undefined ? 0 : countShared(path, pathOf(parent));
    let upper: string | null = null;
    for (const [depth, level] of path.entries()) {
      if (parent !== undefined && depth === shared) upper = parent.id;
      extend(spans, level, { row, upper });
      upper = level.id;
    }
    above.set(row.id, parent !== undefined && shared === path.length ? parent.id : (upper ?? ''));
  }
  return { spans: [...spans.values()], above };
}

function pathOf({ attributes }: TraceRow): Level[] {
  const [path, ids] = [attributes?.[pathAttribute], attributes?.[idsAttribute]];
  if (typeof path !== 'string' || typeof ids !== 'string') return [];
  const names = path.split(' > ');
  const levels = ids.split('/').map((id, depth) => ({ id, name: names[depth] ?? '' }));
  // Any client may send any text here.
  return levels.length === names.length && levels.every(({ id }) => id !== '') ? levels : [];
}

function countShared(path: readonly Level[], other: readonly Level[]): number {
  const different = path.findIndex(({ id }, depth) => id !== other[depth]?.id);
  return different === -1 ? path.length : different;
}

/** Adds a span, or extends its time by an event. What is above it is what its first event says. */
function extend(
  spans: Map<string, TraceSpan>,
  { id, name }: Level,
  { row, upper }: { row: TraceRow; upper: string | null },
): void {
  const known = spans.get(id);
  if (known !== undefined) {
    known.endTimeMs = Math.max(known.endTimeMs, endOf(row));
    return;
  }
  if (spans.size >= traceSpansMax) return;
  const { startTimeMs, agentGroupId, agentId, threadId } = row;
  const times = { startTimeMs, endTimeMs: endOf(row) };
  spans.set(id, {
    id,
    kind: 'span',
    name,
    state: 'ok',
    ...times,
    agentGroupId,
    agentId,
    threadId,
    above: upper,
  });
}
