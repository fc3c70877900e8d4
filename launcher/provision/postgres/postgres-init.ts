import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { describeExit, exitOf } from '../../process/child-process.ts';
import type { PostgresBinaries } from './postgres-binaries.ts';
import type { PostgresUser } from './postgres-user.ts';

/**
 * Creates a data directory with the superuser `weir`, data checksums, UTF-8 and password authentication,
 * under another name at first: a killed start leaves none that is incomplete. @throws Error with initdb's
 * stderr.
 */
export async function initDatabaseDirectory(options: {
  dataDir: string;
  binaries: PostgresBinaries;
  user: PostgresUser;
  password: string;
}): Promise<void> {
  const { dataDir, user } = options;
  // An empty directory may be a mount of the operator's.
  if (existsSync(dataDir) && readdirSync(dataDir).length > 0)
    throw new Error(
      `${dataDir} has files, but is no data directory of Postgres: move them away, or restore a backup.`,
    );
  const draft = `${dataDir}.new`;
  const passwordFile = `${dataDir}.password`;
  try {
    rmSync(draft, { recursive: true, force: true });
    mkdirSync(draft, { mode: 0o700 });
    rmSync(passwordFile, { force: true });
    writeFileSync(passwordFile, `${options.password}\n`, { mode: 0o600 });
    user.own(draft);
    user.own(passwordFile);
    await runInitdb(options, draft, passwordFile);
    renameSync(draft, dataDir);
  } finally {
    rmSync(draft, { recursive: true, force: true });
    rmSync(passwordFile, { force: true });
  }
}

async function runInitdb(
  { binaries, user }: { binaries: PostgresBinaries; user: PostgresUser },
  directory: string,
  passwordFile: string,
): Promise<void> {
  const [file, ...args] = user.command(binaries.initdb, [
    `--pgdata=${directory}`,
    '--username=weir',
    `--pwfile=${passwordFile}`,
    '--auth=scram-sha-256',
    '--encoding=UTF8',
    // Fast, and the same order on every machine.
    '--locale=C',
    '--data-checksums',
    '--no-instructions',
  ]);
  const child = spawn(file, args, { ...user.spawn, stdio: ['ignore', 'ignore', 'pipe'] });
  const [exit, errors] = await Promise.all([exitOf(child), text(child.stderr)]);
  if (exit.code !== 0) throw new Error(`initdb failed (${describeExit(exit)}):\n${errors.trim()}`);
}
