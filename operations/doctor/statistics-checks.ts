import { sql } from 'drizzle-orm';
import type { Database } from '../../store/db/database.ts';
import { statisticDeltas } from '../../store/db/schema.ts';
import { ok, type Verdict, warning } from './finding.ts';
import { waitingDeltasMax } from './limits.ts';

/** Checks that writers fold statistics (ADR 40): charts also read what waits, right but slower. */
export async function checkStatistics(database: Database, waitingMax = waitingDeltasMax): Promise<Verdict> {
  const some = database
    .select({ one: sql`1` })
    .from(statisticDeltas)
    .limit(waitingMax + 1);
  const waiting = await database.$count(some.as('some'));
  if (waiting <= waitingMax) return ok(`${waiting} rows wait to be folded`);
  return warning(
    `more than ${waitingMax} rows wait to be folded: charts read them all`,
    'Start a writer, and read its log: it says why statistics were not folded.',
  );
}
