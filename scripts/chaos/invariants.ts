import { readEventTexts } from '../../lib/segment/read.ts';
import { type Journal, outcomes } from './journal.ts';
import { patiently } from './patiently.ts';
import type { System } from './system.ts';

/** What the database says against the journal. All zero, but for what a control loses. */
export interface Discrepancies {
  /** Ids that were answered with 202 and are not stored. */
  lost: number;
  /** Rows more than there are ids, and ids stored that only ever got 4xx. */
  duplicated: number;
  refusedButStored: number;
  /** Events by which the usage or the statistics differ from the rows. */
  miscounted: number;
}

/** How many rows are opened in their segments, of each space. */
const openedMax = 20;

/** Compares the spaces of a journal with what is stored, when nothing is on its way any more. */
export async function findDiscrepancies(
  system: Pick<System, 'sql'>,
  journal: Journal,
): Promise<Discrepancies> {
  const found: Discrepancies = { lost: 0, duplicated: 0, refusedButStored: 0, miscounted: 0 };
  for (const [spaceId, ids] of journal.spaces) {
    const { rows, usageError, stats } = await patiently(() => readSpace(system, spaceId));
    const stored = new Set(rows);
    found.duplicated += rows.length - stored.size;
    for (const [id, known] of ids) {
      if (known & outcomes.accepted && !stored.has(id)) found.lost += 1;
      if (known === outcomes.refused && stored.has(id)) found.refusedButStored += 1;
    }
    for (const id of stored) if (!ids.has(id)) found.duplicated += 1;
    found.miscounted += usageError + Math.abs(stats - rows.length);
  }
  return found;
}

/** One statement, so one snapshot: a late message between two would look like a miscount. */
async function readSpace({ sql }: Pick<System, 'sql'>, spaceId: string) {
  const [row] = await sql<{ rows: string[]; usageError: number; stats: number }[]>`
    SELECT coalesce((SELECT json_agg(id) FROM events WHERE space_id = ${spaceId}), '[]') AS rows,
      -- Month by month: what one has too much must not make up for what another one lacks.
      coalesce((
        SELECT sum(abs(coalesce(counted.events, 0) - coalesce(stored.events, 0)))
        FROM (SELECT month, events FROM usage_months WHERE space_id = ${spaceId}) AS counted
        FULL JOIN (
          SELECT to_char(received_at AT TIME ZONE 'UTC', 'YYYY-MM') AS month, count(*) AS events
          FROM events WHERE space_id = ${spaceId} GROUP BY 1
        ) AS stored USING (month)
      ), 0)::float8 AS "usageError",
      coalesce((SELECT sum(events) FROM event_stats WHERE space_id = ${spaceId}), 0)::float8 AS stats`;
  if (row === undefined) throw new Error('SELECT returned no row');
  return row;
}

/** Everything else that has to hold after a fault; each violation is a sentence. */
export async function findViolations(system: System, journal: Journal): Promise<string[]> {
  const spaceIds = [...journal.spaces.keys()];
  return [
    ...[...Map.groupBy(journal.unexpected, (answer) => answer)].map(
      ([answer, all]) => `${all.length} requests were answered ${answer}`,
    ),
    ...(await patiently(() => findStrays(system, spaceIds))),
    ...(await patiently(() => findUnreadable(system, spaceIds))),
    ...system.parts.flatMap((part) => part.crashes()),
  ];
}

/** The alarm of ingest about a sequence that went back. */
export function findAlarms({ parts }: Pick<System, 'parts'>): string[] {
  return parts
    .filter((part) => part.roundLog().includes('QueueLossError'))
    .map((part) => `${part.name} says that the queue has lost messages`);
}

async function findStrays({ sql }: System, spaceIds: string[]): Promise<string[]> {
  const ids = `{${spaceIds.join(',')}}`;
  const [row] = await sql<{ strays: number; quarantined: number }[]>`
    SELECT (
      SELECT count(*)::int FROM events
        LEFT JOIN segments ON segments.space_id = events.space_id AND segments.id = segment_id
        LEFT JOIN api_keys ON api_keys.id = api_key_id
      WHERE events.space_id = ANY(${ids}::uuid[]) AND api_keys.space_id IS DISTINCT FROM events.space_id
    ) AS strays, (SELECT count(*)::int FROM quarantine) AS quarantined`;
  return [
    ...(row?.strays ? [`${row.strays} rows have no segment of their own space's key`] : []),
    ...(row?.quarantined ? [`${row.quarantined} events are in quarantine`] : []),
  ];
}

/** Opens some events: what a row points to is the event with its id. */
async function findUnreadable({ sql }: System, spaceIds: string[]): Promise<string[]> {
  const violations: string[] = [];
  for (const spaceId of spaceIds) {
    const rows = await sql<{ id: string; segmentId: string; segmentIndex: number }[]>`
      SELECT id, segment_id AS "segmentId", segment_index AS "segmentIndex" FROM events
      WHERE space_id = ${spaceId} ORDER BY received_at DESC, id LIMIT ${openedMax}`;
    const texts = await readEventTexts(sql, spaceId, rows);
    for (const [i, { id }] of rows.entries()) {
      const event: { id?: string } = JSON.parse(texts[i] ?? '{}');
      if (event.id?.toLowerCase() !== id) violations.push(`the row ${id} opens another event`);
    }
  }
  return violations;
}
