import type { Search } from '../../url/search.ts';
import type { TraceRow } from './trace-rows.ts';

export interface Span {
  startMs: number;
  endMs: number;
}

/** The resolution of times. */
const leastMs = 1;

/** The part of a trace named by an address; undefined for all of it. */
export function readZoom({ from, to }: Search, whole: Span): Span | undefined {
  if (from === undefined || to === undefined) return undefined;
  const startMs = Math.max(whole.startMs, Number(from));
  const endMs = Math.min(whole.endMs, Number(to));
  return endMs - startMs >= leastMs ? { startMs, endMs } : undefined;
}

export function zoomIn({ startMs, endMs }: Span, aroundMs: number): Span {
  const quarter = (endMs - startMs) / 4;
  const middle = Math.min(endMs - quarter, Math.max(startMs + quarter, aroundMs));
  return { startMs: middle - quarter, endMs: middle + quarter };
}

export function writeZoom({ startMs, endMs }: Span): { from: string; to: string } {
  return { from: String(Math.floor(startMs)), to: String(Math.ceil(endMs)) };
}

/** The events that run in a span, below the heads of their lanes. Lanes without any are left out. */
export function rowsWithin(rows: readonly TraceRow[], { startMs, endMs }: Span): TraceRow[] {
  const kept: TraceRow[] = [];
  let head: TraceRow | undefined;
  for (const row of rows) {
    if (row.kind === 'lane') {
      head = row;
      continue;
    }
    const { startTimeMs, endTimeMs } = row.kind === 'span' ? row.span : row.event;
    if (startTimeMs > endMs || Math.max(startTimeMs, endTimeMs) < startMs) continue;
    if (head !== undefined) kept.push(head);
    head = undefined;
    kept.push(row);
  }
  return kept;
}
