import { z } from 'zod';
import { findContaining } from './containment.ts';
import { matchToolCalls } from './tool-answers.ts';
import type { TraceRow } from './trace-events.ts';

/** `otlp`: named by the client. Inferred from an LLM event's `tool_call`, or `containment` in time. */
const parentSource = z.enum(['otlp', 'tool_call', 'containment']);
type ParentSource = z.infer<typeof parentSource>;

export const parent = z
  .object({ id: z.guid(), by: parentSource, isInferred: z.boolean() })
  .meta({ id: 'Parent' });
export type Parent = z.infer<typeof parent>;

/** The parent of an event from OTLP (docs/opentelemetry.md). */
const parentAttribute = 'otel.parent_event_id';

/** Whether or not the trace has it. */
export function namedParentOf({ attributes }: TraceRow): string | undefined {
  const named = attributes?.[parentAttribute];
  return typeof named === 'string' ? named : undefined;
}

/**
 * Parents by id: the one that the client named, otherwise by tool calls, otherwise by time; never in cycles.
 * @param rows in time order. @param toolCalls the names of the tools that each LLM event called, by event id.
 * @param findNamed the parent that the client named; null when it is known that no event is above.
 */
export function findParents(
  rows: readonly TraceRow[],
  toolCalls: ReadonlyMap<string, readonly string[]>,
  findNamed: (row: TraceRow) => string | null | undefined = namedParentOf,
): Map<string, Parent> {
  const parents = new Map<string, Parent>();
  const ids = new Set(rows.map(({ id }) => id));
  const roots = new Set<string>();
  const ancestors = new Map<string, string>();
  /** The root ancestor. Paths are compressed, so that chains of thousands of events cost little. */
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
    if (parents.has(id) || (by !== 'otlp' && roots.has(id)) || findTop(parentId) === id) return;
    ancestors.set(id, parentId);
    parents.set(id, { id: parentId, by, isInferred: by !== 'otlp' });
  };
  for (const row of rows) {
    const named = findNamed(row);
    if (named === null) roots.add(row.id);
    else if (named !== undefined && ids.has(named)) link(row.id, named, 'otlp');
  }
  for (const [id, parentId] of matchToolCalls(rows, toolCalls)) link(id, parentId, 'tool_call');
  for (const [id, parentId] of findContaining(rows)) link(id, parentId, 'containment');
  return parents;
}
