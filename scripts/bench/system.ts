import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { type Connection, readConnection } from '../../lib/connection.ts';
import { openPostgres, type Sql } from '../../lib/db/connect.ts';
import { parseRecord } from '../start/supervisor-state.ts';

/** A whole Weir of the benchmark's own, started as `npm start` starts it, on free ports and in a directory of its own. */
export interface System extends AsyncDisposable {
  readonly connection: Connection;
  readonly sql: Sql;
  /** The pid of one of its processes. */
  pidOf(name: 'ingest' | 'writer' | 'dashboard-api' | 'nats-server' | 'postgres'): number;
}

export async function startSystem(env: NodeJS.ProcessEnv): Promise<System> {
  const dataDir = mkdtempSync(join(tmpdir(), 'weir-bench-'));
  chmodSync(dataDir, 0o755);
  const logFile = join(dataDir, 'start.log');
  const log = openSync(logFile, 'w');
  const own = {
    WEIR_DATA_DIR: dataDir,
    INGEST_PORT: '0',
    DASHBOARD_PORT: '0',
    DATABASE_URL: '',
    NATS_URL: '',
  };
  const child = spawn(process.execPath, [fileURLToPath(new URL('../start.ts', import.meta.url))], {
    // As if npm ran it: it ends when we are gone, whatever ended us.
    env: { ...env, ...own, npm_lifecycle_event: 'bench' },
    stdio: ['ignore', log, log],
  });
  const exited = once(child, 'exit');
  const stop = async () => {
    child.kill('SIGTERM');
    await exited;
    rmSync(dataDir, { recursive: true, force: true });
  };
  let connection: Connection | undefined;
  while (connection === undefined) {
    if (child.exitCode !== null) throw new Error(`Weir did not start:\n${readFileSync(logFile, 'utf8')}`);
    await sleep(100);
    connection = readConnection(dataDir);
  }
  const sql = openPostgres(connection.databaseUrl, {
    applicationName: 'weir-bench',
    connectionsMax: 2,
    statementTimeoutMs: 0,
  });
  return {
    connection,
    sql,
    pidOf(name) {
      const pid = parseRecord(readFileSync(join(dataDir, 'supervisor.json'), 'utf8'))?.children.find(
        (one) => one.name === name,
      )?.pid;
      if (pid === undefined) throw new Error(`${name} is not running`);
      return pid;
    },
    async [Symbol.asyncDispose]() {
      await sql.end({ timeout: 5 });
      await stop();
    },
  };
}
