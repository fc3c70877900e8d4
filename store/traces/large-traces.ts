import { and, desc, eq, gt } from 'drizzle-orm';
import type { Database } from '../db/database.ts';
import { traces } from '../db/schema.ts';
import { largeTracesMax, resolvedNodesMax } from './limits.ts';

export type LargeTrace = Pick<typeof traces.$inferSelect, 'traceId' | 'spans' | 'receivedAt'>;

/** The traces of a space that have too many spans to be resolved, the last received first, at most {@link largeTracesMax}. */
export async function listLargeTraces(database: Database, spaceId: string): Promise<LargeTrace[]> {
  const { traceId, spans, receivedAt } = traces;
  return database
    .select({ traceId, spans, receivedAt })
    .from(traces)
    .where(and(eq(traces.spaceId, spaceId), gt(spans, resolvedNodesMax)))
    .orderBy(desc(receivedAt))
    .limit(largeTracesMax);
}
