import { randomUUIDv7 } from 'node:crypto';
import { sql } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { someEvents } from '../../harness/fixtures/events.ts';
import { partOf } from '../../harness/fixtures/part.ts';
import { citusUrl, createCitusDatabase, turnTimeoutMs } from '../../harness/system/citus-database.ts';
import { openPostgres } from '../../store/db/connect.ts';
import { type Database, openDatabase } from '../../store/db/database.ts';
import { setPlannerStatistics } from '../../store/db/planner-statistics.ts';
import { events } from '../../store/db/schema.ts';
import { storeParts } from '../../store/write/store.ts';

describe.skipIf(citusUrl === undefined)(
  'planner statistics on the Citus cluster of WEIR_TEST_CITUS_URL',
  { timeout: 300_000 },
  () => {
    const resources = new AsyncDisposableStack();
    let database: Database;
    beforeAll(async () => {
      const { url } = resources.use(await createCitusDatabase(citusUrl ?? ''));
      const pool = { applicationName: 'test', connectionsMax: 2, statementTimeoutMs: 60_000 };
      database = openDatabase(resources.use(openPostgres(url, pool)));
    }, turnTimeoutMs);
    afterAll(() => resources.disposeAsync());

    const shardOf = async (spaceId: string) => {
      const [row] = await database.execute<{ shard: string }>(
        sql`SELECT get_shard_id_for_distribution_column('events', ${spaceId}::uuid)::text AS shard`,
      );
      return row?.shard;
    };
    const store = async (spaceId: string, parts: number) => {
      const sent = Array.from({ length: parts }, () => partOf(spaceId, someEvents(200)));
      for (const part of sent) await storeParts(database, [part]);
      return sent[0]?.segmentId;
    };
    /** The plan of the statement that reads the events of a segment, as its shard executes it. */
    const planOf = async (spaceId: string, segmentId: string | undefined) => {
      const rows = await database.execute<Record<string, string>>(sql`
        EXPLAIN SELECT found.id FROM unnest(ARRAY[${segmentId}]::uuid[]) AS candidate(id)
        CROSS JOIN LATERAL (SELECT ${events.id} FROM ${events}
          WHERE ${events.spaceId} = ${spaceId}::uuid AND ${events.segmentId} = candidate.id OFFSET 0) AS found`);
      return rows.map((row) => Object.values(row).join()).join('\n');
    };

    test('a space that no ANALYZE has seen is read by segment, also on a shard that was moved', async () => {
      const seen = randomUUIDv7();
      await store(seen, 20);
      await database.execute(sql`ANALYZE ${events}`);
      let unseen = randomUUIDv7();
      while ((await shardOf(unseen)) !== (await shardOf(seen))) unseen = randomUUIDv7();
      const segmentId = await store(unseen, 20);
      expect(await planOf(unseen, segmentId)).toContain('segment_id_idx');

      const [move] = await database.execute<{
        shard: string;
        fromPort: number;
        toPort: number;
        host: string;
      }>(sql`
        SELECT shardid::text AS shard, nodename AS host, nodeport AS "fromPort",
          (SELECT nodeport FROM pg_dist_node WHERE shouldhaveshards AND nodeport <> shards.nodeport LIMIT 1) AS "toPort"
        FROM pg_dist_shard_placement AS shards WHERE shardid::text = ${await shardOf(unseen)}`);
      if (move === undefined) throw new Error('the shard has no placement');
      const { shard, host, fromPort, toPort } = move;
      await database.execute(sql`
        SELECT citus_move_shard_placement(${shard}::bigint, ${host}, ${fromPort}, ${host}, ${toPort})`);
      await database.execute(sql`ANALYZE ${events}`);
      await setPlannerStatistics(database);
      const late = await store(unseen, 1);
      await database.execute(sql`ANALYZE ${events}`);
      expect(await planOf(unseen, late)).toContain('segment_id_idx');
    });
  },
);
