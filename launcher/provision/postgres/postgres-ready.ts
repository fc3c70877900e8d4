import postgres from 'postgres';
import { codeOf, unreachableCodes } from '../../../platform/thrown.ts';
import type { ProcessExit } from '../../process/child-process.ts';
import { pollUntilUp } from '../../process/server-process.ts';

/** The pause between two connection attempts. A start without recovery takes about 100 ms. */
const retryMs = 50;

export interface ReadyOptions {
  url: string;
  /** Shows that another server has the port, so that ours is about to exit. */
  dataDir: string;
  exited: Promise<ProcessExit>;
  timeoutMs: number;
  signal?: AbortSignal | undefined;
}

/**
 * Waits until the server accepts connections, and creates the database `weir` when it is missing.
 * @returns false when the server exited, the time was over, or the wait was aborted.
 * @throws the server's error when it rejects us permanently, e.g. for a wrong password.
 */
export function waitUntilReady(options: ReadyOptions): Promise<boolean> {
  const { exited, timeoutMs, signal } = options;
  const isUp = () =>
    ensureDatabase(options).catch((error: unknown) => {
      if (!isStarting(error)) throw error;
      return false;
    });
  return pollUntilUp({ exited, signal }, { isUp, timeoutMs, pollMs: retryMs });
}

/** @returns false when another server listens on the port. */
async function ensureDatabase({ url, dataDir }: ReadyOptions): Promise<boolean> {
  const maintenance = new URL(url);
  maintenance.pathname = '/postgres';
  const sql = postgres(maintenance.href, { max: 1, connect_timeout: 5, onnotice: () => {} });
  try {
    const [server] = await sql`
      SELECT current_setting('data_directory') AS directory,
        EXISTS (SELECT FROM pg_database WHERE datname = 'weir') AS is_complete`;
    if (server?.directory !== dataDir) return false;
    if (!server.is_complete) await sql`CREATE DATABASE weir`;
    return true;
  } finally {
    await sql.end({ timeout: 1 });
  }
}

/** Not listening yet, or still recovering (57P03 cannot_connect_now). */
function isStarting(error: unknown): boolean {
  const code = codeOf(error);
  return unreachableCodes.has(code) || code === '57P03';
}
