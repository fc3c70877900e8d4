import { z } from 'zod';
import { endOf, type TraceRow } from './trace-events.ts';

/**
 * How the parent of an event is known. `otlp`: the client said so. The others are inferred, since the contract has no
 * parents: `tool_call`, an LLM call asked for the tool and the event is the next of that tool; `containment`, the event lies
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
  const isAbove = (id: string, below: string): boolean => {
    for (let at: string | undefined = below; at !== undefined; at = parents.get(at)?.id) {
      if (at === id) return true;
    }
    return false;
  };
  const link = (id: string, parentId: string, by: ParentSource) => {
    if (parents.has(id) || isAbove(id, parentId)) return;
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

/** Each call of a tool is answered by the next event of that tool in the thread that starts after the LLM event ended. */
function* matchToolCalls(
  rows: readonly TraceRow[],
  toolCalls: ReadonlyMap<string, readonly string[]>,
): Generator<[id: string, parentId: string]> {
  const laneOf = (row: TraceRow, name: string) => JSON.stringify([row.agentGroupId, row.threadId, name]);
  const tools = Map.groupBy(
    rows.filter(({ type }) => type === 'tool'),
    (row) => laneOf(row, row.name ?? ''),
  );
  const taken = new Set<string>();
  for (const row of rows) {
    for (const name of toolCalls.get(row.id) ?? []) {
      const answer = tools
        .get(laneOf(row, name.slice(0, 256)))
        ?.find(({ id, startTimeMs }) => !taken.has(id) && startTimeMs >= endOf(row));
      if (answer === undefined) continue;
      taken.add(answer.id);
      yield [answer.id, row.id];
    }
  }
}

/** The shortest event of the same agent group that contains another one and is longer; of the same thread if there is one. */
function* findContaining(rows: readonly TraceRow[]): Generator<[id: string, parentId: string]> {
  let open: TraceRow[] = [];
  for (const row of rows) {
    open = open.filter((one) => endOf(one) > row.startTimeMs);
    let found: TraceRow | undefined;
    for (const one of open) {
      const contains =
        one.agentGroupId === row.agentGroupId && endOf(one) >= endOf(row) && lengthOf(one) > lengthOf(row);
      if (contains && (found === undefined || isNearer(one, found, row))) found = one;
    }
    if (found !== undefined) yield [row.id, found.id];
    open.push(row);
  }
}

/** Whether one event that contains a row is nearer to it than another one. */
function isNearer(one: TraceRow, other: TraceRow, { threadId }: TraceRow): boolean {
  const [isOwn, isOthers] = [one.threadId === threadId, other.threadId === threadId];
  return isOwn === isOthers ? lengthOf(one) < lengthOf(other) : isOwn;
}

function lengthOf(row: TraceRow): number {
  return endOf(row) - row.startTimeMs;
}
