import { countQueued } from '../../harness/queued.ts';
import { until } from '../../harness/wait.ts';
import { readUsage } from '../../store/accounts/usage.ts';
import type { Pipeline } from './pipeline.ts';

export { until, untilResolved } from '../../harness/wait.ts';

/** How soon a change of a key, a limit or a space is applied (docs/api.md). */
const appliedMs = 1_000;
/** Answers that a machine gives in that time when it does nothing else: a poll takes some 25 ms. */
const answersMax = appliedMs / 25;

/**
 * Waits until a change is applied: for a second, and on a busy machine for as many answers as another gives
 * in a second.
 */
export async function untilApplied(isApplied: () => Promise<boolean>): Promise<void> {
  const deadlineMs = performance.now() + appliedMs;
  let answers = 0;
  await until(async () => {
    if (await isApplied()) return true;
    answers += 1;
    if (answers >= answersMax && performance.now() > deadlineMs)
      throw new Error(`not applied within ${appliedMs} ms and ${answers} answers`);
    return false;
  });
}

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
