import { setTimeout as sleep } from 'node:timers/promises';
import { readUsage } from '../../lib/access/usage.ts';
import type { Pipeline } from './pipeline.ts';

/** Waits until a condition holds, and fails when it does not within the time. */
export async function until(condition: () => boolean | Promise<boolean>, timeoutMs = 20_000): Promise<void> {
  const deadlineMs = performance.now() + timeoutMs;
  while (!(await condition())) {
    if (performance.now() > deadlineMs) throw new Error(`not within ${timeoutMs} ms: ${condition}`);
    await sleep(20);
  }
}

/** How many rows the space has. */
export async function countRows({ sql }: Pick<Pipeline, 'sql'>, spaceId: string): Promise<number> {
  const [row] = await sql<
    { rows: number }[]
  >`SELECT count(*)::integer AS rows FROM events WHERE space_id = ${spaceId}`;
  return row?.rows ?? 0;
}

/** What the space is billed this month. */
export async function countUsage({ sql }: Pick<Pipeline, 'sql'>, spaceId: string): Promise<number> {
  return (await readUsage(sql, spaceId))?.events ?? 0;
}

/** Waits until the queue is empty: everything accepted so far is stored, or in quarantine. */
export async function untilDrained({ nats }: Pick<Pipeline, 'nats'>): Promise<void> {
  await until(async () => {
    const report = await fetch(new URL('/jsz?streams=1', nats.monitorUrl));
    const { messages } = (await report.json()) as { messages?: number };
    return (messages ?? 0) === 0;
  }, 60_000);
}
