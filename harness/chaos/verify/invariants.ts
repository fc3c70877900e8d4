import { readEventTexts } from '../../../store/segments/read.ts';
import type { System } from '../../system/system.ts';
import { retry } from '../../wait.ts';
import { type Journal, outcomes } from '../load/journal.ts';

/**
 * The differences between the database and the journal. All are zero, except for the events that a control
 * loses.
 */
export interface Discrepancies {
  /** Ids that were answered with 202 and are not stored. */
  lost: number;
  /** Rows beyond one per id, and rows whose id was never sent. */
  duplicated: number;
  /** Stored ids that only ever got 4xx. */
  rejectedButStored: number;
  /** The events by which usage, statistics or the ledger of ids differ from the rows. */
  miscounted: number;
}

/** The number of rows per space whose event is read from its segment. */
const openedMax = 20;

/** Compares the spaces of a journal with the database. Call it when the queue is empty. */
export async function findDiscrepancies(
  system: Pick<System, 'sql'>,
  journal: Journal,
): Promise<Discrepancies> {
  const found: Discrepancies = { lost: 0, duplicated: 0, rejectedButStored: 0, miscounted: 0 };
  for (const [spaceId, ids] of journal.spaces) {
    const { rows, usageError, stats, ledgerError } = await retry(() => readSpace(system, spaceId));
    const stored = new Set(rows);
    found.duplicated += rows.length - stored.size;
    for (const [id, known] of ids) {
      if (known & outcomes.accepted && !stored.has(id)) found.lost += 1;
      if (known === outcomes.rejected && stored.has(id)) found.rejectedButStored += 1;
    }
    for (const id of stored) if (!ids.has(id)) found.duplicated += 1;
    found.miscounted += usageError + Math.abs(stats - rows.length) + ledgerError;
  }
  return found;
}

/** One statement, so one snapshot: a late message between two would look like a miscount. */
async function readSpace({ sql }: Pick<System, 'sql'>, spaceId: string) {
  const [row] = await sql<{ rows: string[]; usageError: number; stats: number; ledgerError: number }[]>`
    SELECT coalesce((SELECT json_agg(id) FROM events WHERE space_id = ${spaceId}), '[]') AS rows,
      -- Per month, so that an excess in one month does not hide a lack in another.
      coalesce((
        SELECT sum(abs(coalesce(counted.events, 0) - coalesce(stored.events, 0)))
        FROM (SELECT month, events FROM usage_months WHERE space_id = ${spaceId}) AS counted
        FULL JOIN (
          SELECT to_char(received_at AT TIME ZONE 'UTC', 'YYYY-MM') AS month, count(*) AS events
          FROM events WHERE space_id = ${spaceId} GROUP BY 1
        ) AS stored USING (month)
      ), 0)::float8 AS "usageError",
      coalesce((
        SELECT sum(events) FROM (
          SELECT events FROM event_stats WHERE space_id = ${spaceId}
          UNION ALL SELECT events FROM statistic_deltas WHERE space_id = ${spaceId}
        ) AS counted
      ), 0)::float8 AS stats,
      -- Nothing expires and nothing is erased here: the ledger has the ids of the rows, and no others.
      (
        SELECT count(*) FROM (SELECT id FROM event_ids WHERE space_id = ${spaceId}) AS known
        FULL JOIN (SELECT id FROM events WHERE space_id = ${spaceId}) AS stored USING (id)
        WHERE known.id IS NULL OR stored.id IS NULL
      )::float8 AS "ledgerError"`;
  if (row === undefined) throw new Error('SELECT returned no row');
  return row;
}

/** Checks everything else that must hold after a fault. Returns violations as sentences. */
export async function findViolations(system: System, journal: Journal): Promise<string[]> {
  const spaceIds = [...journal.spaces.keys()];
  return [
    ...[...Map.groupBy(journal.unexpected, (response) => response)].map(
      ([response, all]) => `${all.length} requests were answered ${response}`,
    ),
    ...(await retry(() => findOrphanedRows(system, spaceIds))),
    ...(await retry(() => findUnreadable(system, spaceIds))),
    ...system.processes.flatMap((one) => one.crashes()),
  ];
}

/** Ingest's alarms that a PubAck sequence went back. */
export function findAlarms({ processes }: Pick<System, 'processes'>): string[] {
  return processes
    .filter((one) => one.roundLog().includes('QueueLossError'))
    .map(({ name }) => `${name} reported that the queue lost messages`);
}

async function findOrphanedRows({ sql }: System, spaceIds: string[]): Promise<string[]> {
  const ids = `{${spaceIds.join(',')}}`;
  const [row] = await sql<{ orphaned: number; quarantined: number }[]>`
    SELECT (
      SELECT count(*)::int FROM events
        LEFT JOIN segments ON segments.space_id = events.space_id AND segments.id = segment_id
        LEFT JOIN api_keys ON api_keys.id = api_key_id
      WHERE events.space_id = ANY(${ids}::uuid[]) AND api_keys.space_id IS DISTINCT FROM events.space_id
    ) AS orphaned, (SELECT count(*)::int FROM quarantine) AS quarantined`;
  return [
    ...(row?.orphaned ? [`${row.orphaned} rows have no segment of a key of their space`] : []),
    ...(row?.quarantined ? [`${row.quarantined} events are in quarantine`] : []),
  ];
}

/** Reads some events from their segments: a row must point to the event with its id. */
async function findUnreadable({ sql, database }: System, spaceIds: string[]): Promise<string[]> {
  const violations: string[] = [];
  for (const spaceId of spaceIds) {
    const rows = await sql<{ id: string; segmentId: string; segmentIndex: number }[]>`
      SELECT id, segment_id AS "segmentId", segment_index AS "segmentIndex" FROM events
      WHERE space_id = ${spaceId} ORDER BY received_at DESC, id LIMIT ${openedMax}`;
    const texts = await readEventTexts(database, spaceId, rows);
    for (const [i, { id }] of rows.entries()) {
      const event: { id?: string } = JSON.parse(texts[i] ?? '{}');
      if (event.id?.toLowerCase() !== id) violations.push(`the row ${id} points to another event`);
    }
  }
  return violations;
}
