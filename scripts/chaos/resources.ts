import { setTimeout as sleep } from 'node:timers/promises';
import { peakResidentBytes } from '../bench/process-stats.ts';
import type { PartKind } from './part.ts';
import { patiently } from './patiently.ts';
import type { System } from './system.ts';

/** Half as much again as at full load (design §6): a backlog comes in larger pieces than what comes fresh. */
const residentBytesMax: Partial<Record<PartKind, number>> = {
  ingest: 525 * 1024 ** 2,
  writer: 375 * 1024 ** 2,
};

/** Often enough to see a process before it is killed. */
const memoryPollMs = 250;

/** Follows the memory of the services through a round. */
export function watchMemory(system: Pick<System, 'parts'>): { violations(): string[] } & Disposable {
  const peaks = new Map<string, number>();
  const look = () => {
    for (const part of system.parts) {
      const bytes = peakResidentBytes(part.pid());
      if (bytes > (peaks.get(part.name) ?? 0)) peaks.set(part.name, bytes);
    }
  };
  const timer = setInterval(look, memoryPollMs);
  return {
    violations() {
      look();
      return system.parts.flatMap(({ name, kind }) => {
        const bytes = peaks.get(name) ?? 0;
        const bytesMax = residentBytesMax[kind] ?? Infinity;
        return bytes > bytesMax ? [`${name} took ${Math.round(bytes / 1024 ** 2)} MiB of memory`] : [];
      });
    },
    [Symbol.dispose]: () => clearInterval(timer),
  };
}

/** A connection that broke without a word is found dead, and let go, within this. */
const connectionsTimeoutMs = 15_000;

/** Most connections of each pool, by its name in Postgres, for one process. */
const connectionsMax: Record<string, { kind: PartKind; count: number }> = {
  'weir-ingest': { kind: 'ingest', count: 4 },
  'weir-ingest-listen': { kind: 'ingest', count: 1 },
  'weir-writer': { kind: 'writer', count: 3 },
};

/** Services that hold more connections to Postgres than their pools have. */
export async function findLeakedConnections({ sql, parts }: System): Promise<string[]> {
  const deadlineMs = performance.now() + connectionsTimeoutMs;
  for (;;) {
    const rows = await patiently(
      () => sql<{ name: string; open: number }[]>`
        SELECT application_name AS name, count(*)::int AS open FROM pg_stat_activity
        WHERE application_name LIKE 'weir-%' GROUP BY application_name`,
    );
    const leaked = rows.flatMap(({ name, open }) => {
      const pool = connectionsMax[name];
      const processes = parts.filter(({ kind }) => kind === pool?.kind).length;
      const most = processes * (pool?.count ?? 0);
      return open > most
        ? [`${name} has ${open} connections to Postgres, and its pools are for ${most}`]
        : [];
    });
    if (leaked.length === 0 || performance.now() > deadlineMs) return leaked;
    await sleep(200);
  }
}
