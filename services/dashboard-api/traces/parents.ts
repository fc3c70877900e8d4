import { z } from 'zod';
import { findContaining } from './containment.ts';
import { endOf, type TraceRow } from './trace-events.ts';

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

/**
 * Matches each tool call with the tool's next free event in the thread after the LLM event ended, in
 * logarithmic time, because clients choose the number of calls.
 * @param rows in time order. @returns pairs of ids: the tool event and the LLM event.
 */
function* matchToolCalls(
  rows: readonly TraceRow[],
  toolCalls: ReadonlyMap<string, readonly string[]>,
): Generator<[id: string, callerId: string]> {
  const threadOf = ({ agentGroupId, threadId }: TraceRow) => JSON.stringify([agentGroupId, threadId]);
  const tools = rows.filter(({ type }) => type === 'tool');
  const threads = new Map(
    Map.groupBy(tools, threadOf)
      .entries()
      .map(([thread, own]) => [thread, openAnswers(own)]),
  );
  for (const row of rows) {
    const names = toolCalls.get(row.id) ?? [];
    const answers = names.length > 0 ? threads.get(threadOf(row)) : undefined;
    if (answers === undefined) continue;
    for (const name of names) {
      const answer = answers.get(name)?.takeFrom(endOf(row));
      if (answer !== undefined) yield [answer.id, row.id];
    }
  }
}

function openAnswers(rows: readonly TraceRow[]): Map<string, FreeRows> {
  const byName = Map.groupBy(rows, ({ name }) => name ?? '');
  return new Map(byName.entries().map(([name, own]) => [name, new FreeRows(own)]));
}

/** Events in time order, each of which can be taken once. */
class FreeRows {
  readonly #rows: readonly TraceRow[];
  /** A free row's own index, otherwise one to continue the search from; paths are compressed. */
  readonly #next: number[];

  constructor(rows: readonly TraceRow[]) {
    this.#rows = rows;
    this.#next = Array.from({ length: rows.length + 1 }, (_, place) => place);
  }

  takeFrom(startMs: number): TraceRow | undefined {
    const place = this.#findFree(this.#findStart(startMs));
    const row = this.#rows[place];
    if (row !== undefined) this.#next[place] = place + 1;
    return row;
  }

  #findStart(startMs: number): number {
    let [low, high] = [0, this.#rows.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#rows[middle]?.startTimeMs ?? 0) < startMs) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #findFree(from: number): number {
    let place = from;
    for (let next = this.#next[place]; next !== undefined && next !== place; next = this.#next[place]) {
      this.#next[place] = this.#next[next] ?? next;
      place = next;
    }
    return place;
  }
}
