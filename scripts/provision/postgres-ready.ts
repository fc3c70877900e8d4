import { setTimeout as sleep } from 'node:timers/promises';
import postgres from 'postgres';
import { type ProcessExit, settlesWithin } from './embedded-process.ts';

/** Between two tries to connect. A start without recovery takes about 100 ms. */
const retryMs = 50;

/**
 * Waits until the server lets us into the database `weir`, which it makes when it is missing.
 *
 * @returns false when the server ended before, or the time was over, or the wait was aborted.
 * @throws the server's error when it answers and refuses us for good, e.g. a wrong password.
 */
export async function openWeirDatabase(
  url: string,
  exited: Promise<ProcessExit>,
  { timeoutMs, signal }: { timeoutMs: number; signal?: AbortSignal | undefined },
): Promise<boolean> {
  const deadline = Date.now() + timeoutMs;
  let ended = false;
  exited.then(() => {
    ended = true;
  });
  while (!ended && !signal?.aborted && Date.now() < deadline) {
    try {
      await ensureDatabase(url);
      // A foreign server may answer on the port while ours is about to fail on it.
      return !(await settlesWithin(exited, 0));
    } catch (error) {
      if (!isStarting(error)) throw error;
      await sleep(retryMs);
    }
  }
  return false;
}

async function ensureDatabase(url: string): Promise<void> {
  const maintenance = new URL(url);
  maintenance.pathname = '/postgres';
  const sql = postgres(maintenance.href, { max: 1, connect_timeout: 5, onnotice: () => {} });
  try {
    const found = await sql`SELECT 1 FROM pg_database WHERE datname = 'weir'`;
    if (found.length === 0) await sql`CREATE DATABASE weir`;
  } finally {
    await sql.end({ timeout: 1 });
  }
}

/** Not listening yet, or listening and still recovering (57P03 cannot_connect_now). */
function isStarting(error: unknown): boolean {
  const { code } = error as { code?: string };
  return (
    code === 'ECONNREFUSED' ||
    code === 'ECONNRESET' ||
    code === 'CONNECTION_CLOSED' ||
    code === 'CONNECT_TIMEOUT' ||
    code === '57P03'
  );
}
