import { getTableName, is, sql } from 'drizzle-orm';
import { PgTable } from 'drizzle-orm/pg-core';
import { z } from 'zod';
import type { Database } from '../../store/db/database.ts';
import { layoutOf } from '../../store/db/layout/layout.ts';
import { defaultEvents, defaultSegments } from '../../store/db/partitions.ts';
import * as schema from '../../store/db/schema.ts';
import { listWeekPartitions } from '../../store/retention/week-partitions.ts';

export const storageSizes = z
  .object({
    weeks: z.array(
      z.object({
        fromMs: z.number(),
        toMs: z.number(),
        /** An estimate; null before the first ANALYZE. */
        events: z.number().nullable(),
        eventBytes: z.number(),
        segmentBytes: z.number(),
      }),
    ),
    /** Rows outside of all weeks. */
    defaultBytes: z.number(),
    /** All other tables, the largest first. */
    tables: z.array(z.object({ name: z.string(), bytes: z.number() })),
    totalBytes: z.number(),
  })
  .meta({ id: 'StorageSizes' });
export type StorageSizes = z.infer<typeof storageSizes>;

/**
 * The sizes of all tables, in bytes with indexes and TOAST: by week of receipt, oldest first, without empty
 * weeks ahead; of rows outside of all weeks, from ingest processes with a wrong clock; of all other tables,
 * the largest first. Reads only the catalogue of Postgres, in milliseconds, without rights on the tables.
 */
export async function readStorageSizes(database: Database, nowMs: number): Promise<StorageSizes> {
  const measure = await openMeasure(database);
  const bytesOf = async (name: string | undefined) => (name === undefined ? 0 : measure(name));
  const weeks: StorageSizes['weeks'] = [];
  for (const { range, events, segments } of await listWeekPartitions(database)) {
    if (range.fromMs > nowMs) continue;
    weeks.push({
      ...range,
      events: events === undefined ? 0 : ((await readEstimate(database, events)) ?? null),
      eventBytes: await bytesOf(events),
      segmentBytes: await bytesOf(segments),
    });
  }
  const tables: StorageSizes['tables'] = [];
  for (const table of Object.values(schema)) {
    if (!is(table, PgTable) || table === schema.events || table === schema.segments) continue;
    tables.push({ name: getTableName(table), bytes: await measure(getTableName(table)) });
  }
  const defaultBytes = (await measure(defaultEvents)) + (await measure(defaultSegments));
  const inWeeks = weeks.reduce((sum, one) => sum + one.eventBytes + one.segmentBytes, 0);
  const inTables = tables.reduce((sum, { bytes }) => sum + bytes, 0);
  return {
    weeks,
    defaultBytes,
    tables: tables.toSorted((a, b) => b.bytes - a.bytes),
    totalBytes: inWeeks + defaultBytes + inTables,
  };
}

/** The rows of a table by the statistics of the planner; undefined before the first ANALYZE. */
export async function readEstimate(database: Database, name: string): Promise<number | undefined> {
  const [row] = await database.execute<{ rows: number }>(
    sql`SELECT reltuples::float8 AS rows FROM pg_class WHERE oid = to_regclass(${name})`,
  );
  return row === undefined || row.rows < 0 ? undefined : row.rows;
}

export type Measure = (name: string) => Promise<number>;

export async function openMeasure(database: Database): Promise<Measure> {
  const layout = await layoutOf(database);
  return async (name) => {
    const [row] = await database.execute<{ bytes: number }>(
      sql`SELECT (${layout.sizeOf(name)})::float8 AS bytes`,
    );
    return row?.bytes ?? 0;
  };
}
