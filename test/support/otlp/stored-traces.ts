import { eq } from 'drizzle-orm';
import { eventIdOf, traceUuidOf } from '../../../services/ingest/otlp/mapping/ids.ts';
import type { Database } from '../../../store/db/database.ts';
import { events } from '../../../store/db/schema.ts';
import { withParents } from '../../../store/traces/parent-events.ts';
import type { ExpectedEvent, ObservedSpan } from './observed-trace.ts';

const columns = {
  id: events.id,
  traceId: events.traceId,
  type: events.type,
  state: events.state,
  agentId: events.agentId,
  threadId: events.threadId,
  userId: events.userId,
  prompt: events.inputPreview,
  response: events.outputPreview,
  inputTokens: events.inputTokens,
  attributes: events.attributes,
};

const idOf = ({ span }: ObservedSpan) => eventIdOf(span.traceId, span.spanId);

/**
 * Compares the events of a space with those that its spans must become.
 * @returns each difference as a sentence.
 */
export async function findMismatches(
  database: Database,
  spaceId: string,
  expected: readonly ExpectedEvent[],
): Promise<string[]> {
  const rows = await database.select(columns).from(events).where(eq(events.spaceId, spaceId));
  const stored: typeof rows = [];
  for (let from = 0; from < rows.length; from += 500)
    stored.push(...(await withParents(database, spaceId, rows.slice(from, from + 500))));
  const byId = new Map(stored.map((row) => [row.id, row]));
  const found: string[] = [];
  for (const event of expected) {
    const ids = event.spans.map(idOf);
    const own = ids.flatMap((id) => byId.get(id) ?? []);
    for (const { id } of own) byId.delete(id);
    const [row] = own;
    if (row === undefined || own.length > 1)
      found.push(`${ids}: ${own.length} events of a ${event.type} call`);
    else found.push(...compare(row, event));
  }
  for (const { id } of byId.values()) found.push(`${id}: is stored, and is no call`);
  return found;
}

type Row = { [Name in keyof typeof columns]: (typeof columns)[Name]['_']['data'] | null };

function compare(row: Row, event: ExpectedEvent): string[] {
  const { attributes } = row;
  const main = event.spans.find((span) => idOf(span) === row.id);
  const { type, state, agentId, threadId, userId, prompt, response, inputTokens } = event;
  const wanted: Record<string, unknown> = {
    ...{ type, state, agentId, threadId, userId },
    ...(type === 'llm' && { prompt, response, inputTokens }),
    traceId: main && traceUuidOf(main.span.traceId),
    parent: event.parent === undefined ? null : idOf(event.parent),
    ...(event.merged !== undefined && {
      merged: event.merged
        .filter((span) => span !== main)
        .map(({ span }) => span.spanId)
        .sort()
        .join(),
    }),
  };
  const merged = String(attributes?.['otel.merged_span_ids'] ?? '');
  const actual: Record<string, unknown> = {
    ...row,
    parent: attributes?.['otel.parent_event_id'] ?? null,
    merged: merged.split(',').sort().join(),
  };
  return Object.entries(wanted)
    .filter(([name, value]) => actual[name] !== value)
    .map(([name, value]) => `${row.id}: ${name} is ${actual[name]}, not ${value}`);
}
