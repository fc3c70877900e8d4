import { randomUUID } from 'node:crypto';
import process from 'node:process';
import { insertParts } from '../../harness/fixtures/insert-parts.ts';
import { bodyPart } from '../../harness/fixtures/part.ts';
import { cpuTimeMs } from '../../harness/system/process-stats.ts';
import type { RunningWeir } from '../../harness/system/weir.ts';
import { eraseEvents } from '../../operations/erasure/erase.ts';
import { connectQueue } from '../../platform/queue/connect.ts';
import { createSpace } from '../../store/accounts/spaces.ts';
import { openPostgres } from '../../store/db/connect.ts';
import { openDatabase } from '../../store/db/database.ts';
import type { Figures } from './measures.ts';
import type { Workload } from './workload.ts';

/** One event in this many is of the erased user. */
const ownEvery = 50;

/** Measures the erasure of a user who has ten events in each segment, among `events` events in total. */
export async function measureErasure(
  weir: RunningWeir,
  workload: Workload,
  { events, log }: { events: number; log: (text: string) => void },
): Promise<Figures> {
  const options = { applicationName: 'weir-harness', statementTimeoutMs: 0 };
  await using sql = openPostgres(weir.connection.databaseUrl, options);
  const database = openDatabase(sql);
  await using nats = await connectQueue(weir.connection.natsUrl, 'weir-harness');
  const { id: spaceId } = await createSpace(database, 'erasure');
  log(`storing ${events} events …`);
  for (let stored = 0; stored < events; ) {
    const body: { events: Record<string, unknown>[] } = JSON.parse(workload.nextBatch().toString());
    const sent = body.events.map((event, i) => ({
      ...event,
      id: randomUUID(),
      ...(i % ownEvery === 0 && { context: { userId: 'erased' } }),
    }));
    await insertParts(database, [bodyPart(spaceId, JSON.stringify({ events: sent }))]);
    stored += sent.length;
  }
  await weir.sql`VACUUM ANALYZE`;
  log('measuring …');
  const [backend] = await sql<{ pid: number }[]>`SELECT pg_backend_pid() AS pid`;
  const usedMs = () => cpuTimeMs(backend?.pid ?? 0) + cpuTimeMs(process.pid);
  const [usedBeforeMs, startedMs] = [usedMs(), performance.now()];
  let rowsMs = startedMs;
  const { erased } = await eraseEvents({ database, connection: nats }, spaceId, {
    subject: { kind: 'user', value: 'erased' },
    report: (text) => {
      if (/erased$/.test(text)) rowsMs = performance.now();
    },
  });
  return {
    erasedEvents: erased.events,
    erasedSegments: erased.segmentsRewritten,
    erasureRowsSeconds: (rowsMs - startedMs) / 1_000,
    erasureSeconds: (performance.now() - startedMs) / 1_000,
    erasureCpuSeconds: (usedMs() - usedBeforeMs) / 1_000,
  };
}
