import { setTimeout as sleep } from 'node:timers/promises';
import type { ProcessKind } from '../../system/managed-process.ts';
import { peakResidentBytes } from '../../system/process-stats.ts';
import type { System } from '../../system/system.ts';
import { retry } from '../../wait.ts';

/**
 * 1.5 times the memory that a service may use at full load: a backlog arrives in larger messages than current
 * events.
 */
const residentBytesMax: Partial<Record<ProcessKind, number>> = {
  ingest: 525 * 1024 ** 2,
  writer: 375 * 1024 ** 2,
};

/** Short enough to measure a process before it is killed. */
const memoryPollMs = 250;

/** Measures the peak memory of the services during a round. */
export function watchMemory(system: Pick<System, 'processes'>): { violations(): string[] } & Disposable {
  const peaks = new Map<string, number>();
  const measure = () => {
    for (const { name, pid } of system.processes) {
      const bytes = peakResidentBytes(pid());
      if (bytes > (peaks.get(name) ?? 0)) peaks.set(name, bytes);
    }
  };
  const timer = setInterval(measure, memoryPollMs);
  return {
    violations() {
      measure();
      return system.processes.flatMap(({ name, kind }) => {
        const bytes = peaks.get(name) ?? 0;
        const bytesMax = residentBytesMax[kind] ?? Infinity;
        return bytes > bytesMax ? [`${name} used ${Math.round(bytes / 1024 ** 2)} MiB of memory`] : [];
      });
    },
    [Symbol.dispose]: () => clearInterval(timer),
  };
}

/** The time in which a service detects and closes a dead connection. */
const connectionsTimeoutMs = 15_000;

/** The maximum connections of each pool of one process, by its application name. */
const connectionsMax: Record<string, { kind: ProcessKind; count: number }> = {
  'weir-ingest': { kind: 'ingest', count: 4 },
  'weir-ingest-listen': { kind: 'ingest', count: 1 },
  'weir-writer': { kind: 'writer', count: 4 },
  'weir-writer-upkeep': { kind: 'writer', count: 1 },
  'weir-writer-retention': { kind: 'writer', count: 1 },
  'weir-dashboard-api': { kind: 'dashboard-api', count: 14 },
};

/** Finds services with more connections to Postgres than their pools allow. */
export async function findLeakedConnections({ sql, processes }: System): Promise<string[]> {
  const deadlineMs = performance.now() + connectionsTimeoutMs;
  for (;;) {
    const rows = await retry(
      () => sql<{ name: string; open: number }[]>`
        SELECT application_name AS name, count(*)::int AS open FROM pg_stat_activity
        WHERE application_name LIKE 'weir-%' GROUP BY application_name`,
    );
    const leaked = rows.flatMap(({ name, open }) => {
      const pool = connectionsMax[name];
      const count = processes.filter(({ kind }) => kind === pool?.kind).length;
      const openMax = count * (pool?.count ?? 0);
      return open > openMax
        ? [`${name} has ${open} connections to Postgres, more than the ${openMax} of its pools`]
        : [];
    });
    if (leaked.length === 0 || performance.now() > deadlineMs) return leaked;
    await sleep(200);
  }
}
