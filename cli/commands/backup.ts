import { join, resolve } from 'node:path';
import type { Command } from 'commander';
import { requireConfig } from '../../platform/config.ts';
import { connectQueue } from '../../platform/queue/connect.ts';
import { pruneControlStream, readControlState } from '../../store/control/stream.ts';
import { backups } from '../../store/db/schema.ts';
import { wholeNumber } from '../arguments.ts';
import { readConfig, withDatabase } from '../database.ts';
import { CommandError, type Host, printJson, printMessage } from '../host.ts';

/** Days for which backups are kept when neither `--keep` nor BACKUP_RETENTION_DAYS says otherwise. */
const keepDaysDefault = 7;

interface BackupCommandOptions {
  to?: string;
  keep?: number;
  record?: string;
}

/** Backs up the embedded Postgres while it runs (docs/backup.md). */
export function addBackupCommand(program: Command, host: Host): void {
  program
    .command('backup')
    .description(
      'back up the Postgres of `weir start` while it runs, archive its changes from now on, and verify the backup',
    )
    .option(
      '--to <directory>',
      'where to (default: the directory of the last backup, or WEIR_DATA_DIR/backups)',
    )
    .option(
      '--keep <days>',
      'delete backups that are older (default: one day less than BACKUP_RETENTION_DAYS, or 7)',
      wholeNumber(1),
    )
    .option(
      '--record <tool>',
      'back up nothing: record that this tool has made and verified a backup just now',
    )
    .action((options: BackupCommandOptions) =>
      options.record === undefined ? makeBackup(host, options) : recordBackup(host, options.record),
    );
}

async function makeBackup(host: Host, { to, keep }: BackupCommandOptions): Promise<void> {
  const config = readConfig(host);
  const { findEmbeddedPostgres } = await import('../../launcher/backup/embedded-postgres.ts');
  const { backUp } = await import('../../launcher/backup/backup.ts');
  const found = host.env.DATABASE_URL ? undefined : findEmbeddedPostgres(config.WEIR_DATA_DIR);
  if (found === undefined)
    throw new CommandError(
      `No Weir with a Postgres of its own runs in ${config.WEIR_DATA_DIR}. Start it with \`weir start\`. docs/backup.md says how to back up another Postgres.`,
    );
  const retentionDays = config.BACKUP_RETENTION_DAYS;
  const { NATS_URL: natsUrl } = requireConfig(config, ['NATS_URL']);
  await using nats = await connectQueue(natsUrl, 'weir-cli-backup');
  const result = await backUp({
    ...found,
    secrets: { ...found.secrets, ...(config.API_KEY_PEPPER && { apiKeyPepper: config.API_KEY_PEPPER }) },
    to: to === undefined ? undefined : resolve(host.env.INIT_CWD ?? host.directory, to),
    otherwise: join(resolve(config.WEIR_DATA_DIR), 'backups'),
    // With a backup a day, none gets older than the receipts of erasures say.
    keepDays: keep ?? (retentionDays === undefined ? keepDaysDefault : Math.max(1, retentionDays - 1)),
    control: {
      readLastSequence: async () => (await readControlState(nats))?.lastSequence ?? 0,
      async prune(throughSequence) {
        if ((await readControlState(nats)) !== undefined) await pruneControlStream(nats, throughSequence);
      },
    },
    report: (line) => printMessage(host, line),
  });
  const { keepBackupPlace } = await import('../../launcher/restore/restore-request.ts');
  keepBackupPlace(config.WEIR_DATA_DIR, result.directory);
  await printJson(host, result);
  printMessage(
    host,
    `Keep a copy of ${result.secretsFile} in another place, such as a password manager: without it the keys of a restored database are of no use, and whoever has it and the backup has everything.`,
  );
  if (result.failure !== undefined)
    throw new CommandError(
      `The backup ${result.backup.label} was made, but not verified: ${result.failure}. Older ones were kept.`,
    );
}

async function recordBackup(host: Host, tool: string): Promise<void> {
  await withDatabase(host, async (database) => {
    const now = new Date();
    const row = { label: `${tool} ${now.toISOString()}`, location: tool, stoppedAt: now, verifiedAt: now };
    await database.insert(backups).values(row);
    await printJson(host, row);
  });
}
