import type { NatsConnection } from '@nats-io/transport-node';
import { and, eq, getTableColumns, inArray, type SQL, sql } from 'drizzle-orm';
import { type ControlStart, readControlStream } from '../../store/control/stream.ts';
import type { Database, Transaction } from '../../store/db/database.ts';
import {
  eventIds,
  events,
  mediaUses,
  segments,
  traceNodes,
  traces,
  usageDays,
  usageMonths,
} from '../../store/db/schema.ts';
import { listOf, nameOf, namesOf, numberOf } from '../../store/db/statement.ts';
import { deleteOnlyUses, deleteUnused, deleteUses } from '../../store/media/delete-uses.ts';
import { insertDeltas } from '../../store/write/statistics/deltas.ts';
import { addTo } from '../../store/write/statistics/measures.ts';
import { statisticsTable } from '../erasure/cluster/cluster-files.ts';
import { mediaTables } from '../erasure/erased-attachments.ts';
import { quarantineTables, wipeQuarantine } from '../erasure/erased-quarantine.ts';
import { countedColumns, countedRow, type ErasedRecord, erasedRecord } from '../erasure/erased-record.ts';
import { eraseRows } from '../erasure/erased-segments.ts';
import { countErased } from '../erasure/erasure-row.ts';
import { batchSegmentsMax } from '../erasure/limits.ts';
import { nodesTable, rewriteFiles } from '../erasure/rewritten-files.ts';
import { wipeIds } from '../erasure/wiped-part.ts';

export interface ErasedAgain {
  /** Ids that the restored database did not know: their queued events are not stored now. */
  readonly idsAdded: number;
  /** Rows of the restored database that were deleted, with their texts. */
  readonly eventsErased: number;
  /** Damaged segments, unreadable quarantine entries, and tables whose files may have erased bytes. */
  readonly notReached: readonly string[];
}

export async function eraseAgain(
  database: Database,
  connection: NatsConnection,
  { start, report }: { start: ControlStart; report: (text: string) => void },
): Promise<ErasedAgain> {
  let [idsAdded, eventsErased] = [0, 0];
  const notReached = new Set<string>();
  const spaceIds = new Set<string>();
  for await (const changes of readControlStream(connection, start)) {
    for (const { image } of changes.filter(({ operation }) => operation === 'erase')) {
      const record = erasedRecord.parse(JSON.parse(image));
      spaceIds.add(record.spaceId);
      // First: wiping the quarantine adds ids to the ledger that then count as known.
      idsAdded += await addToLedger(database, record);
      const erased = await eraseStored(database, record);
      eventsErased += erased.events;
      for (const text of erased.notReached) notReached.add(text);
      await clearNodes(database, record);
      report(`${(idsAdded + eventsErased).toLocaleString('en')} events erased again`);
    }
  }
  for (const spaceId of spaceIds) {
    const files = await rewriteFiles(database, { spaceId }, (table) => report(`rewriting ${table}`));
    for (const table of files.left) notReached.add(table);
  }
  return { idsAdded, eventsErased, notReached: [...notReached] };
}

async function eraseStored(database: Database, record: ErasedRecord) {
  const { spaceId, erasureId, merged, ids: own } = record;
  const ids = [...own, ...merged];
  const mergedIds = new Set(merged);
  const erasure = { spaceId, id: erasureId };
  const notReached: string[] = [];
  const { unreadable } = await wipeQuarantine(database, {
    spaceId,
    wipe: (part) => wipeIds(part, new Set(ids)),
    note: (transaction) => countErased(transaction, erasure, { unwritten: quarantineTables }),
  });
  if (unreadable > 0)
    notReached.push(`${unreadable} entries in quarantine of the space ${spaceId} cannot be read`);
  const matches = inArray(events.id, ids);
  const found =
    ids.length === 0
      ? []
      : await database
          .selectDistinct({ id: events.segmentId })
          .from(events)
          .where(and(eq(events.spaceId, spaceId), matches));
  const segmentIds = found.map(({ id }) => id).toSorted();
  await database.transaction(async (transaction) => {
    const changed = await eraseMedia(transaction, record);
    if (changed > 0) await countErased(transaction, erasure, { unwritten: mediaTables });
  });
  let erased = 0;
  for (let from = 0; from < segmentIds.length; from += batchSegmentsMax) {
    const batch = await eraseRows(
      database,
      {
        spaceId,
        matches,
        async note(transaction, { rows, unwritten }) {
          // Not merged yet here: these rows are counted twice, alone and in the others.
          const apart = rows.filter(({ id }) => mergedIds.has(id));
          const counted = apart.map((row) => countedRow(row, row.apiKeyId));
          if (counted.length > 0) await transaction.execute(countEvents(spaceId, counted, { sign: -1 }));
          await countErased(transaction, erasure, { unwritten });
        },
      },
      segmentIds.slice(from, from + batchSegmentsMax),
    );
    erased += batch.events;
    notReached.push(...batch.damaged.map((id) => `segment ${id} is damaged: its body was not changed`));
  }
  return { events: erased, notReached };
}

/** @returns how many uses and media were deleted. */
async function eraseMedia(transaction: Transaction, { spaceId, ids, mediaIds }: ErasedRecord) {
  const areGone = inArray(mediaUses.id, ids);
  if (mediaIds === undefined) return (await deleteUses(transaction, spaceId, areGone)).useIds.length;
  const { useIds } = await deleteOnlyUses(transaction, spaceId, areGone);
  return useIds.length + (await deleteUnused(transaction, spaceId, mediaIds)).length;
}

/**
 * Adds ids to the ledger, and counts new ones, which the queue's delivery will not: except their reasoning
 * tokens, which no column has.
 * @returns how many were new.
 */
async function addToLedger(
  database: Database,
  { spaceId, ids: own, merged, counted }: ErasedRecord,
): Promise<number> {
  const ids = `{${[...own, ...merged].join()}}`;
  const newIds = sql`new_ids AS (
      INSERT INTO ${eventIds} (${namesOf([eventIds.spaceId, eventIds.id])})
      SELECT ${spaceId}::uuid, id FROM unnest(${ids}::uuid[]) AS id ORDER BY id
      ON CONFLICT DO NOTHING
      RETURNING ${nameOf(eventIds.id)}
    )`;
  const [row] = await database.execute<{ added: number }>(countEvents(spaceId, counted, { sign: 1, newIds }));
  return row?.added ?? 0;
}

/**
 * Adds events to usage and statistics, or subtracts them.
 * @param counted their counted columns. @param newIds a common table expression: counts only events with its
 * ids.
 */
function countEvents(
  spaceId: string,
  counted: ErasedRecord['counted'],
  { sign, newIds }: { sign: 1 | -1; newIds?: SQL },
): SQL {
  const columns = [...Object.values(countedColumns), segments.apiKeyId];
  const types = listOf(columns.map((column) => sql`${nameOf(column)} ${sql.raw(column.getSQLType())}`));
  return sql`
    WITH ${newIds === undefined ? sql`` : sql`${newIds}, `}counted_events AS MATERIALIZED (
      SELECT ${spaceId}::uuid AS ${nameOf(events.spaceId)}, counted.*, ${numberOf(sign)} AS sign
      FROM json_to_recordset(${JSON.stringify(counted)}::json) AS counted(${types})
        ${newIds === undefined ? sql`` : sql`JOIN new_ids USING (${nameOf(events.id)})`}
    ), usage AS (${countUsage()}
    ), by_day AS (${countByDay()}
    ), deltas AS (${insertDeltas({ from: sql`counted_events`, isStored: true, countedBy: 'all but dimensions' })}
    )
    SELECT ${newIds === undefined ? sql`0` : sql`(SELECT count(*)::integer FROM new_ids)`} AS added`;
}

function countUsage(): SQL {
  const { spaceId, month, events: count } = usageMonths;
  const key = namesOf([spaceId, month]);
  return sql`
  INSERT INTO ${usageMonths} AS kept (${namesOf([spaceId, month, count])})
  SELECT ${nameOf(spaceId)}, to_char(${nameOf(events.receivedAt)} AT TIME ZONE 'UTC', 'YYYY-MM') AS ${nameOf(month)}, sum(sign)
  FROM counted_events GROUP BY ${key}
  ON CONFLICT (${key}) DO UPDATE SET ${addTo(count)}`;
}

function countByDay(): SQL {
  const { spaceId, day, apiKeyId, events: count, repeats } = usageDays;
  const key = namesOf([spaceId, day, apiKeyId]);
  return sql`
  INSERT INTO ${usageDays} AS kept (${namesOf([spaceId, day, apiKeyId, count, repeats])})
  SELECT ${nameOf(spaceId)}, (${nameOf(events.receivedAt)} AT TIME ZONE 'UTC')::date AS ${nameOf(day)}, ${nameOf(apiKeyId)}, sum(sign), 0
  FROM counted_events GROUP BY ${key}
  ON CONFLICT (${key}) DO UPDATE SET ${addTo(count)}`;
}

async function clearNodes(database: Database, { spaceId, erasureId, nodes }: ErasedRecord): Promise<void> {
  if (nodes.length === 0) return;
  const { traceId, kind, name, agentId, threadId, userId, receivedAt } = traceNodes;
  const cleared = sql`jsonb_populate_recordset(NULL::${traceNodes}, ${JSON.stringify(nodes)}::jsonb)`;
  const columns = namesOf(Object.values(getTableColumns(traceNodes)));
  const key = namesOf([traceNodes.spaceId, traceId, traceNodes.spanId]);
  const texts = listOf([name, agentId, threadId, userId].map((column) => sql`${nameOf(column)} = NULL`));
  await database.transaction(async (transaction) => {
    await transaction.execute(sql`
      INSERT INTO ${traceNodes} (${columns}) SELECT ${columns} FROM ${cleared} ON CONFLICT (${key}) DO UPDATE SET ${texts}`);
    await transaction.execute(sql`
      INSERT INTO ${traces} (${namesOf([traces.spaceId, traces.traceId, traces.version, traces.spans, traces.hasCalls, traces.receivedAt])})
      SELECT ${nameOf(traceNodes.spaceId)}, ${nameOf(traceId)}, 1, count(*), bool_or(${nameOf(kind)} <> 'link'), max(${nameOf(receivedAt)})
      FROM ${cleared} GROUP BY 1, 2 ON CONFLICT DO NOTHING`);
    await countErased(transaction, { spaceId, id: erasureId }, { unwritten: [nodesTable, statisticsTable] });
  });
}
