import { spawn } from 'node:child_process';
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { describeExit, exitOf } from './embedded-process.ts';
import type { PostgresAccount } from './postgres-account.ts';
import type { PostgresBinaries } from './postgres-binaries.ts';

/**
 * Makes a Postgres data directory with the superuser `weir`, data checksums, UTF-8 and password authentication. It is
 * made beside its place and then renamed: a start that is killed half-way leaves nothing that looks finished.
 *
 * @throws Error with what initdb said.
 */
export async function initDatabaseDirectory(options: {
  dataDir: string;
  binaries: PostgresBinaries;
  account: PostgresAccount;
  password: string;
}): Promise<void> {
  const { dataDir, account } = options;
  const draft = `${dataDir}.new`;
  const passwordFile = `${dataDir}.password`;
  try {
    rmSync(draft, { recursive: true, force: true });
    mkdirSync(draft, { mode: 0o700 });
    rmSync(passwordFile, { force: true });
    writeFileSync(passwordFile, `${options.password}\n`, { mode: 0o600 });
    account.own(draft);
    account.own(passwordFile);
    await runInitdb(options, draft, passwordFile);
    renameSync(draft, dataDir);
  } finally {
    rmSync(draft, { recursive: true, force: true });
    rmSync(passwordFile, { force: true });
  }
}

async function runInitdb(
  { binaries, account }: { binaries: PostgresBinaries; account: PostgresAccount },
  directory: string,
  passwordFile: string,
): Promise<void> {
  const [file, ...args] = account.command(binaries.initdb, [
    `--pgdata=${directory}`,
    '--username=weir',
    `--pwfile=${passwordFile}`,
    '--auth=scram-sha-256',
    '--encoding=UTF8',
    // The same order on every machine, and the fastest one; text is shown, not collated.
    '--locale=C',
    '--data-checksums',
    '--no-instructions',
  ]);
  const child = spawn(file, args, { ...account.spawn, stdio: ['ignore', 'ignore', 'pipe'] });
  const [exit, complaint] = await Promise.all([exitOf(child), text(child.stderr)]);
  if (exit.code !== 0) throw new Error(`initdb failed (${describeExit(exit)}):\n${complaint.trim()}`);
}
