import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'drizzle-orm';
import { ConfigError } from '../../platform/config/config-error.ts';
import { throwIfRejected } from './connect.ts';
import type { Database } from './database.ts';
import { reachedPollMs } from './limits.ts';

/** Settings without which a crash of the machine damages Postgres' files or loses commits. */
const required = ['fsync', 'full_page_writes'] as const;

/**
 * Commits must survive a crash of the machine: the queue deletes an event once it is committed. openPostgres
 * sets `synchronous_commit`.
 * @throws ConfigError that names the settings; an error of the driver when Postgres is unreachable.
 */
export async function requireDurable(database: Database): Promise<void> {
  const [row] = await database.execute<Record<(typeof required)[number], string>>(
    sql`SELECT current_setting('fsync') AS fsync, current_setting('full_page_writes') AS full_page_writes`,
  );
  const off = required.filter((name) => row?.[name] !== 'on');
  if (off.length === 0) return;
  throw new ConfigError(
    `Postgres runs with ${off.map((name) => `${name}=off`).join(' and ')}: a power cut loses or damages events that were answered with 202. ` +
      'Turn it on in its configuration, or set DATABASE_ALLOW_UNSYNCED=true to accept that.',
  );
}

/**
 * Waits until Postgres is reachable.
 * @param onWait called once, with the reason, when Postgres is not reachable.
 * @throws ConfigError that names the settings, or that Postgres rejects the user, password or database.
 */
export async function untilDurable(database: Database, onWait: (error: unknown) => void): Promise<void> {
  for (let isWaiting = false; ; isWaiting = true) {
    try {
      return await requireDurable(database);
    } catch (error) {
      if (error instanceof ConfigError) throw error;
      throwIfRejected(error, database.$client);
      if (!isWaiting) onWait(error);
    }
    await sleep(reachedPollMs);
  }
}
