import type { NatsConnection } from '@nats-io/transport-node';
import { and, arrayOverlaps, eq, inArray, isNotNull } from 'drizzle-orm';
import { anyTerm, inSpace } from '../../event/terms.ts';
import { splitElements, unquoteElement } from '../../event/text.ts';
import type { Database } from '../../store/db/database.ts';
import { type erasureRequests, events, segments, traceNodes } from '../../store/db/schema.ts';
import { untilStored } from '../erasure/queue-drain.ts';
import { readStart } from '../erasure/start.ts';
import { type EventsSubject, subjectColumn, termOf } from '../erasure/subject.ts';
import { readQuarantined } from '../erasure/wiped-part.ts';

/**
 * The subject of a request that a restore has taken up again. The control stream has only the term, which
 * names nobody: the value is looked for in what is stored, when all that was accepted before is.
 * @returns undefined when nothing of the subject is stored. @throws QueueStuckError.
 */
export async function findSubject(
  database: Database,
  connection: NatsConnection,
  { request, report }: { request: typeof erasureRequests.$inferSelect; report: (text: string) => void },
): Promise<EventsSubject | undefined> {
  const { spaceId, subject: kind, term } = request;
  if ((kind !== 'user' && kind !== 'thread') || term === null) return undefined;
  const { watermarks } = await readStart(database, connection, spaceId);
  await untilStored(connection, watermarks, report);
  for (const read of [valuesOfEvents, valuesOfQuarantine, valuesOfNodes])
    for await (const value of read(database, spaceId, { kind, term })) {
      const subject = { kind, value };
      if (termOf(spaceId, subject) === term) return subject;
    }
  return undefined;
}

interface Wanted {
  readonly kind: 'user' | 'thread';
  readonly term: bigint;
}

async function* valuesOfEvents(database: Database, spaceId: string, { kind, term }: Wanted) {
  const value = kind === 'user' ? events.userId : events.threadId;
  const candidates = database
    .select({ id: segments.id })
    .from(segments)
    .where(
      and(
        eq(segments.spaceId, spaceId),
        arrayOverlaps(segments.terms, [term, ...inSpace(spaceId, [anyTerm])]),
      ),
    );
  const rows = await database
    .selectDistinct({ value })
    .from(events)
    .where(and(eq(events.spaceId, spaceId), inArray(events.segmentId, candidates), isNotNull(value)));
  for (const row of rows) if (row.value !== null) yield row.value;
}

async function* valuesOfQuarantine(database: Database, spaceId: string, { kind }: Wanted) {
  const column = subjectColumn({ kind, value: '' });
  for await (const part of readQuarantined(database, spaceId))
    for (const element of splitElements(part.columns?.[column] ?? '')) {
      const value = unquoteElement(element);
      if (value !== undefined) yield value;
    }
}

async function* valuesOfNodes(database: Database, spaceId: string, { kind }: Wanted) {
  const value = kind === 'user' ? traceNodes.userId : traceNodes.threadId;
  const rows = await database
    .selectDistinct({ value })
    .from(traceNodes)
    .where(and(eq(traceNodes.spaceId, spaceId), isNotNull(value)));
  for (const row of rows) if (row.value !== null) yield row.value;
}
