import { chownSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Lets Postgres recycle its WAL as long as nobody makes backups: with `archive_mode=on` and neither a command nor a library it would keep
 * all WAL until the disk is full. The first backup replaces the command by `basic_archive` (launcher/backup/archive.ts), with ALTER
 * SYSTEM, which overrides this file. An argument of the server would override ALTER SYSTEM.
 *
 * @param dataDir a data directory whose server does not run.
 */
export function keepArchiveCommand(dataDir: string): void {
  const file = join(dataDir, 'postgresql.conf');
  const text = readFileSync(file, 'utf8');
  if (/^archive_command\b/m.test(text)) return;
  const { uid, gid, mode } = statSync(file);
  // A line that is appended can be zeros after a power cut, and Postgres would not start any more.
  const draft = `${file}.new`;
  writeFileSync(
    draft,
    `${text}\n# Weir: nothing is archived until the first \`weir backup\`.\narchive_command = 'true'\n`,
    { mode, flush: true },
  );
  chownSync(draft, uid, gid);
  renameSync(draft, file);
}
