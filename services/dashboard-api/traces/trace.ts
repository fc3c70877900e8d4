import type { Database } from '../../../lib/db/database.ts';
import { type ListedEvent, showEvent } from '../events/listed-event.ts';
import { traceEventsMax } from '../limits.ts';
import { findParents, namedParentOf, type Parent } from './parents.ts';
import { findGaps, findLanes, findOverlaps, type Interval, type Lane, type Overlap } from './timeline.ts';
import { readToolCalls } from './tool-calls.ts';
import { readTraceRows, type TraceRow } from './trace-events.ts';

export interface TraceEvent extends ListedEvent {
  parent: Parent | null;
  /** The parent that the client named, where the trace does not have it (yet). */
  missingParentId: string | null;
}

export interface Trace {
  /** In order of time: by start, the longer event first. */
  events: TraceEvent[];
  /** Most events that are shown. */
  eventsMax: number;
  /** False when the trace has more: then the newest are shown. */
  isComplete: boolean;
  /** False when tool calls of some LLM events were not read: then some inferred parents are missing. */
  areToolCallsComplete: boolean;
  /** By agent group, agent and thread, each in the order in which they begin. */
  lanes: Lane[];
  /** When nothing ran. */
  gaps: Interval[];
  /** When several events without children ran at once. */
  overlaps: Overlap[];
}

/** @returns undefined when no event of the space has this trace. */
export async function readTrace(
  database: Database,
  spaceId: string,
  traceId: string,
): Promise<Trace | undefined> {
  const { rows, isComplete } = await readTraceRows(database, spaceId, traceId);
  if (rows.length === 0) return undefined;
  const toolCalls = await readToolCalls(database, spaceId, rows);
  const parents = findParents(rows, toolCalls.names);
  const ids = new Set(rows.map(({ id }) => id));
  const inner = new Set([...parents.values()].map(({ id }) => id));
  return {
    events: rows.map((row): TraceEvent => {
      const named = namedParentOf(row);
      return {
        ...showTraceRow(row),
        parent: parents.get(row.id) ?? null,
        missingParentId: named === undefined || ids.has(named) ? null : named,
      };
    }),
    eventsMax: traceEventsMax,
    isComplete,
    areToolCallsComplete: toolCalls.isComplete,
    lanes: findLanes(rows),
    gaps: findGaps(rows),
    overlaps: findOverlaps(rows.filter(({ id }) => !inner.has(id))),
  };
}

function showTraceRow({
  segmentId: _segment,
  segmentIndex: _index,
  attributes: _attributes,
  ...row
}: TraceRow) {
  return showEvent(row);
}
