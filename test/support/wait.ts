import { countQueued } from '../../harness/queued.ts';
import { until } from '../../harness/wait.ts';
import { readUsage } from '../../store/accounts/usage.ts';
import type { Pipeline } from './pipeline.ts';

export { until, untilResolved } from '../../harness/wait.ts';

/** The number of rows of a space. */
export async function countRows({ sql }: Pick<Pipeline, 'sql'>, spaceId: string): Promise<number> {
  const [row] = await sql<
    { rows: number }[]
  >`SELECT count(*)::integer AS rows FROM events WHERE space_id = ${spaceId}`;
  return row?.rows ?? 0;
}

/** The events that a space has used this month. */
export async function countUsage({ database }: Pick<Pipeline, 'database'>, spaceId: string): Promise<number> {
  return (await readUsage(database, spaceId))?.events ?? 0;
}

/** Waits until everything accepted so far is stored or in quarantine. */
export async function untilDrained({ nats }: Pick<Pipeline, 'nats'>): Promise<void> {
  await until(async () => (await countQueued([nats.monitorUrl])) === 0, 60_000);
}
