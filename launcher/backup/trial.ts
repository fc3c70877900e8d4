import { rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { openPostgres, type Sql } from '../../store/db/connect.ts';
import { startOnFreePorts } from '../provision/ports.ts';
import { startPostgres } from '../provision/postgres/postgres.ts';
import { locatePostgres } from '../provision/postgres/postgres-binaries.ts';
import { choosePostgresUser } from '../provision/postgres/postgres-user.ts';
import { type Backup, type BackupDirectory, readFiles, type Verification } from './backup-directory.ts';
import { requireSpace } from './base-backup.ts';
import { restoreTree } from './file-tree.ts';
import { openProgress, type Report } from './progress.ts';
import { restoreCommand } from './restore-command.ts';

export interface TrialOptions {
  directory: BackupDirectory;
  backup: Backup;
  /** The password of the superuser at the time of the backup. */
  password: string;
  /** A directory with room for a copy of the backup. The user of Postgres must be able to pass it. */
  scratch: string;
  report: Report;
  signal?: AbortSignal | undefined;
}

/**
 * Proves that a backup can be restored: compares a copy with its checksums, lets a separate Postgres recover
 * it from the archive, and reads every page of every relation, whose checksums Postgres compares.
 * @throws Error that says what is wrong with the backup, or that there is no room for the copy.
 */
export async function tryBackup(options: TrialOptions): Promise<Verification> {
  const { directory, backup, scratch, report } = options;
  const startedMs = performance.now();
  requireSpace(scratch, backup.bytes);
  const dataDir = join(resolve(scratch), `trial-${backup.label}`);
  rmSync(dataDir, { recursive: true, force: true });
  try {
    const user = choosePostgresUser(scratch, [locatePostgres().postgres, dataDir]);
    await restoreTree(readFiles(directory, backup.label), {
      from: directory.base(backup.label),
      to: dataDir,
      own: user.own,
      isSynced: false,
      onCopied: openProgress('compared', backup.bytes, report),
    });
    report('recovering the copy');
    const pages = await recoverAndRead(dataDir, options);
    return {
      at: new Date().toISOString(),
      seconds: Math.round((performance.now() - startedMs) / 100) / 10,
      pages,
    };
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
    rmSync(`${dataDir}.log`, { force: true });
  }
}

async function recoverAndRead(
  dataDir: string,
  { directory, password, report, signal }: TrialOptions,
): Promise<number> {
  writeFileSync(join(dataDir, 'recovery.signal'), '', { mode: 0o644 });
  await using server = await startOnFreePorts(1, ([port = 0]) =>
    startPostgres({
      dataDir,
      port,
      password,
      logFile: `${dataDir}.log`,
      ...(signal && { signal }),
      settings: {
        restore_command: restoreCommand([directory.wal]),
        recovery_target: 'immediate',
        recovery_target_action: 'promote',
        // Connections are accepted when the recovery has ended.
        hot_standby: 'off',
        archive_mode: 'off',
        shared_buffers: '64MB',
        fsync: 'off',
        // Unneeded writes.
        autovacuum: 'off',
      },
    }),
  );
  await using sql = openPostgres(server.url, { applicationName: 'weir-backup', statementTimeoutMs: 0 });
  report('reading every page of the copy');
  return await readEveryPage(sql);
}

/** A page whose checksum is wrong is an error. @returns the number of pages. */
async function readEveryPage(sql: Sql): Promise<number> {
  await sql`CREATE EXTENSION IF NOT EXISTS pg_prewarm`;
  const [row] = await sql<{ pages: string }[]>`
    SELECT coalesce(sum(pg_prewarm(class.oid, 'buffer', fork)), 0)::text AS pages
    FROM pg_class AS class, unnest(ARRAY['main', 'fsm', 'vm']) AS fork
    WHERE class.relkind IN ('r', 'i', 't', 'm', 'S') AND (fork = 'main' OR pg_relation_size(class.oid, fork) > 0)`;
  return Number(row?.pages ?? 0);
}
