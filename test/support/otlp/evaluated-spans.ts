import { eq } from 'drizzle-orm';
import { toProtobufLogs } from '../../../harness/fixtures/logs.ts';
import { evaluationName } from '../../../services/ingest/otlp/logs/evaluation.ts';
import { eventIdOf, traceUuidOf } from '../../../services/ingest/otlp/mapping/ids.ts';
import type { Database } from '../../../store/db/database.ts';
import { events, notes } from '../../../store/db/schema.ts';
import type { ObservedSpan, ObservedTrace } from './observed-trace.ts';

/** Log records with an evaluation of each span, whose label is the span's id. */
export function evaluationsOf(spans: readonly Pick<ObservedSpan, 'span'>[]): Buffer {
  return toProtobufLogs(
    spans.map(({ span: { traceId, spanId } }) => ({
      ...{ traceId, spanId, eventName: evaluationName },
      attributes: { 'gen_ai.evaluation.name': spanId },
    })),
  );
}

/**
 * Compares what the notes of {@link evaluationsOf} are on with what the spans must become.
 * @returns each difference as a sentence.
 */
export async function findMisplaced(
  database: Database,
  spaceId: string,
  observed: readonly ObservedTrace[],
): Promise<string[]> {
  const stored = await database.select({ id: events.id }).from(events).where(eq(events.spaceId, spaceId));
  const ids = new Set(stored.map(({ id }) => id));
  const rows = await database.select().from(notes).where(eq(notes.spaceId, spaceId));
  const targets = new Map(rows.map(({ label, target, targetId }) => [label, `${target} ${targetId}`]));
  // Of equal calls of two libraries it is not known which spans belong together.
  const definite = observed.filter((trace) => trace.events.every(({ merged }) => merged !== undefined));
  return definite.flatMap((trace) => {
    const calls = new Map(
      trace.events.flatMap(({ spans, merged = [] }) =>
        [...spans, ...merged].map((span) => [span, spans] as const),
      ),
    );
    return trace.spans.flatMap((observed) => {
      const { traceId, spanId } = observed.span;
      const eventId = calls
        .get(observed)
        ?.map(({ span }) => eventIdOf(span.traceId, span.spanId))
        .find((id) => ids.has(id));
      const wanted = calls.has(observed) ? `event ${eventId}` : `trace ${traceUuidOf(traceId)}`;
      const actual = targets.get(spanId);
      return actual === wanted ? [] : `span ${spanId}: its note is on ${actual}, not on ${wanted}`;
    });
  });
}
