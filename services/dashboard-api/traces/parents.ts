import { z } from 'zod';
import { findContaining } from './containment.ts';
import { matchToolCalls } from './tool-answers.ts';
import type { TraceRow } from './trace-events.ts';

/**
 * How the parent of an event is known. `otlp`: the client said so. The others are inferred, since events have no
 * parent (docs/api.md §2.2): `tool_call`, an LLM call asked for the tool and the event is the next of that tool; `containment`, the event lies
 * in the time of the other.
 */
const parentSource = z.enum(['otlp', 'tool_call', 'containment']);
type ParentSource = z.infer<typeof parentSource>;

export const parent = z
  .object({ id: z.guid(), by: parentSource, isInferred: z.boolean() })
  .meta({ id: 'Parent' });
export type Parent = z.infer<typeof parent>;

/** The additional property in which an event of OTLP names its parent (docs/opentelemetry.md). */
const parentAttribute = 'otel.parent_event_id';

/** The parent that the client named, whether the trace has it or not. */
export function namedParentOf({ attributes }: TraceRow): string | undefined {
  const named = attributes?.[parentAttribute];
  return typeof named === 'string' ? named : undefined;
}

/**
 * Finds the parent of each event, by id. What a client said comes first, then tool calls, then time. No event is above
 * itself, whatever clients say.
 *
 * @param rows in order of time.
 * @param toolCalls the names of the tools that each LLM event called, by its id.
 */
export function findParents(
  rows: readonly TraceRow[],
  toolCalls: ReadonlyMap<string, readonly string[]>,
): Map<string, Parent> {
  const parents = new Map<string, Parent>();
  const ids = new Set(rows.map(({ id }) => id));
  const ancestors = new Map<string, string>();
  /** The event above all others. Each way that is followed is shortened, so that chains of thousands of events cost little. */
  const findTop = (id: string): string => {
    let top = id;
    for (let next = ancestors.get(top); next !== undefined; next = ancestors.get(top)) {
      const beyond = ancestors.get(next);
      if (beyond !== undefined) ancestors.set(top, beyond);
      top = next;
    }
    return top;
  };
  const link = (id: string, parentId: string, by: ParentSource) => {
    if (parents.has(id) || findTop(parentId) === id) return;
    ancestors.set(id, parentId);
    parents.set(id, { id: parentId, by, isInferred: by !== 'otlp' });
  };
  for (const row of rows) {
    const named = namedParentOf(row);
    if (named !== undefined && ids.has(named)) link(row.id, named, 'otlp');
  }
  for (const [id, parentId] of matchToolCalls(rows, toolCalls)) link(id, parentId, 'tool_call');
  for (const [id, parentId] of findContaining(rows)) link(id, parentId, 'containment');
  return parents;
}
