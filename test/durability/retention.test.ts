import { count, eq } from 'drizzle-orm';
import { expect, test } from 'vitest';
import { agedPart } from '../../harness/fixtures/aged-part.ts';
import { llmEvent, someEvents } from '../../harness/fixtures/events.ts';
import { insertParts } from '../../harness/fixtures/insert-parts.ts';
import { changeSpace } from '../../store/accounts/spaces.ts';
import { ensurePartitions } from '../../store/db/partitions.ts';
import { eventIds, events, segments } from '../../store/db/schema.ts';
import { postEvents } from '../support/http.ts';
import { startPipeline, startProcessPipeline } from '../support/pipeline.ts';
import { countRows, countUsage, until, untilDrained } from '../support/wait.ts';

test('a writer killed during a deletion leaves no event without its segment, and the next writer continues', async () => {
  await using pipeline = await startProcessPipeline();
  const { database, sql } = pipeline;
  const sessions = () => sql`SELECT pid FROM pg_stat_activity
    WHERE datname = current_database() AND application_name LIKE 'weir-writer%'`;
  const [short, forEver] = [await pipeline.createTenant(), await pipeline.createTenant()];
  const parts = Array.from({ length: 1_500 }, () => agedPart(short.spaceId, someEvents(2), 20));
  const kept = Array.from({ length: 75 }, () => agedPart(forEver.spaceId, someEvents(3), 20));
  for (let from = 0; from < parts.length; from += 300)
    await insertParts(database, [...parts.slice(from, from + 300), ...kept.slice(from / 20, from / 20 + 15)]);
  await ensurePartitions(database, Date.now());
  // Makes each deleting statement take a second or more.
  await sql`CREATE FUNCTION delay_deletion() RETURNS trigger LANGUAGE plpgsql
    AS 'BEGIN PERFORM pg_sleep(0.001); RETURN OLD; END'`;
  await sql`CREATE TRIGGER slow BEFORE DELETE ON events FOR EACH ROW EXECUTE FUNCTION delay_deletion()`;
  await changeSpace(database, short.spaceId, { retentionDays: 7 });

  await pipeline.writer.stop('SIGKILL');
  for (const isServerKilled of [false, true]) {
    const left = await countRows(pipeline, short.spaceId);
    pipeline.writer = await pipeline.start('writer');
    await until(async () => (await countRows(pipeline, short.spaceId)) < left);
    await pipeline.writer.stop('SIGKILL');
    if (isServerKilled) await sql`SELECT pg_terminate_backend(pid) FROM (${sessions()}) AS session`;
    // A statement continues to its end after its client disconnected.
    await until(async () => (await sessions()).length === 0);
    expect(await countRows(pipeline, short.spaceId)).toBeGreaterThan(0);
    const halves = await sql`
      SELECT FROM segments FULL JOIN (
        SELECT segment_id, count(*) AS rows FROM events GROUP BY segment_id
      ) AS stored ON segment_id = id WHERE rows IS DISTINCT FROM event_count`;
    expect(halves).toHaveLength(0);
  }
  pipeline.writer = await pipeline.start('writer');
  await until(async () => (await countRows(pipeline, short.spaceId)) === 0, 30_000);
  expect(await countRows(pipeline, forEver.spaceId)).toBe(225);
  const stored = async (table: typeof eventIds | typeof segments, spaceId: string) =>
    (await database.select({ rows: count() }).from(table).where(eq(table.spaceId, spaceId)))[0]?.rows;
  expect(await stored(eventIds, short.spaceId)).toBe(3_000);
  expect(await stored(segments, forEver.spaceId)).toBe(75);
});

test('an expired event that is sent again is accepted, but neither stored nor billed', async () => {
  await using pipeline = await startPipeline({ RETENTION_DAYS_MAX: '7' });
  const { database, writer } = pipeline;
  const tenant = await pipeline.createTenant();
  const [old, fresh] = [llmEvent(), llmEvent()];
  await insertParts(database, [agedPart(tenant.spaceId, [old], 30)]);
  await ensurePartitions(database, Date.now());
  await writer.stop('SIGTERM');
  pipeline.writer = await pipeline.start('writer');
  await until(async () => (await countRows(pipeline, tenant.spaceId)) === 0);
  expect((await postEvents(pipeline, tenant, [old, fresh])).status).toBe(202);
  expect((await postEvents(pipeline, tenant, [old])).status).toBe(202);
  await untilDrained(pipeline);
  const rows = await database
    .select({ id: events.id })
    .from(events)
    .where(eq(events.spaceId, tenant.spaceId));
  expect(rows).toEqual([{ id: fresh.id }]);
  expect(await countUsage(pipeline, tenant.spaceId)).toBe(1);
});
