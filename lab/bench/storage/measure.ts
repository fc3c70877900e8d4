import { cpuTimeMs } from '../../../harness/system/process-stats.ts';
import type { RunningWeir } from '../../../harness/system/weir.ts';
import type { Part } from '../../../platform/queue/group.ts';
import { openPostgres } from '../../../store/db/connect.ts';
import type { Figures } from '../measures.ts';
import { medianFigures } from '../report.ts';
import type { Workload } from '../workload.ts';
import { type PartSource, partEvents, preparePartSource } from './parts.ts';
import { measureSizes } from './sizes.ts';
import { applicationName, concurrency, createStore, type Store } from './store.ts';

export interface StorageOptions {
  /** Events in the database at the second measurement. */
  rows: number;
  rounds: number;
  seconds: number;
  log: (text: string) => void;
}

const spaceId = '01900000-0000-7000-8000-000000000001';

/** A space that declares three dimensions (ADR 45). */
const slicedSpaceId = '01900000-0000-7000-8000-000000000002';
const dimensions = ['user', 'agent', 'attr.release'];

/** The span of all start times, up to now. Statistics have one row per minute. */
const spreadMs = 30 * 24 * 60 * 60_000;

/**
 * Measures the store statement in a separate database: first empty, then with `rows` events, all in the
 * partition of this week.
 */
export async function measureStorage(
  weir: RunningWeir,
  workload: Workload,
  { rows, rounds, seconds, log }: StorageOptions,
): Promise<Figures> {
  await using stack = new AsyncDisposableStack();
  const administration = stack.use(
    openPostgres(weir.superuserUrl, { applicationName: 'weir-bench', statementTimeoutMs: 0 }),
  );
  const clock = startTimes(rows);
  const source = preparePartSource(workload.events);
  const store = stack.use(await createStore(administration, weir.superuserUrl));
  const measure = async (when: string, id: string): Promise<Figures> => {
    const { perSecond, cpuMs } = await measureRate(store, (ms) => source.next(id, ms), clock, seconds);
    return { [`${when}PerSecond`]: perSecond, [`${when}CpuMs`]: cpuMs };
  };
  const repeat = async (measureRound: () => Promise<Figures>) => {
    const results: Figures[] = [];
    // The first round connects, prepares and fills caches.
    for (let round = 0; round <= rounds; round++) results.push(await measureRound());
    return medianFigures(results.slice(1));
  };
  log('storing into an empty database …');
  const empty = await repeat(() => measure('empty', spaceId));
  await grow(store, source, clock, { rows, log });
  log('storing into a full database …');
  const sizes = await measureSizes(store.sql);
  await store.declare(slicedSpaceId, dimensions);
  // In turn, so that other work on the machine affects both.
  const full = await repeat(async () => ({
    ...(await measure('full', spaceId)),
    ...(await measure('sliced', slicedSpaceId)),
  }));
  return { rows, ...empty, ...full, ...sizes };
}

type Clock = () => number;

/** Start times that advance with each part so that all rows fill half of the spread. */
function startTimes(rows: number): Clock {
  const beginMs = Date.now() - spreadMs;
  let parts = 0;
  return () => beginMs + ((parts++ * partEvents) / rows / 2) * spreadMs;
}

/** @returns events per second, and milliseconds of CPU that the connections' backends use for 500 events. */
async function measureRate(
  store: Store,
  next: (startMs: number) => Part,
  clock: Clock,
  seconds: number,
): Promise<{ perSecond: number; cpuMs: number }> {
  const backends = await findBackends(store);
  const usedMs = () => backends.reduce((sum, pid) => sum + cpuTimeMs(pid), 0);
  const [beforeMs, startedMs] = [usedMs(), performance.now()];
  const endMs = startedMs + seconds * 1_000;
  let parts = 0;
  await inLanes(async () => {
    if (performance.now() > endMs) return false;
    await store.store(next(clock()));
    parts += 1;
    return true;
  });
  const tookMs = performance.now() - startedMs;
  await store.fold();
  return {
    perSecond: (parts * partEvents * 1_000) / tookMs,
    cpuMs: (usedMs() - beforeMs) / parts,
  };
}

async function grow(
  store: Store,
  source: PartSource,
  clock: Clock,
  { rows, log }: { rows: number; log: (text: string) => void },
): Promise<void> {
  let left = rows;
  await inLanes(async () => {
    if (left <= 0) return false;
    left -= partEvents;
    if ((left / partEvents) % 400 === 0) log(`${rows - left} of ${rows} events`);
    await store.store(source.next(spaceId, clock()));
    return true;
  });
  await store.fold();
  await store.sql`VACUUM ANALYZE`;
  await store.sql`CHECKPOINT`;
}

/** Runs a step concurrently and repeatedly, until it returns false. */
async function inLanes(step: () => Promise<boolean>): Promise<void> {
  await Promise.all(
    Array.from({ length: concurrency }, async () => {
      while (await step());
    }),
  );
}

async function findBackends({ sql }: Store): Promise<number[]> {
  // Queries all connections concurrently, so that all are opened.
  await Promise.all(Array.from({ length: concurrency }, () => sql`SELECT pg_sleep(0.05)`));
  const rows = await sql<{ pid: number }[]>`
    SELECT pid FROM pg_stat_activity WHERE application_name = ${applicationName}`;
  return rows.map(({ pid }) => pid);
}
