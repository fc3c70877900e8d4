import { dirname, join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Command } from 'commander';
import type { RestoreJournal } from '../../launcher/restore/restore-journal.ts';
import type { RestorePlan } from '../../launcher/restore/restore-request.ts';
import { parsePastTime } from '../arguments.ts';
import { readConfig } from '../database.ts';
import { CommandError, type Host, printJson, printMessage } from '../host.ts';

const restorePollMs = 250;

/** Restores the Postgres of `weir start` (docs/backup.md). */
export function addRestoreCommand(program: Command, host: Host): void {
  program
    .command('restore')
    .description(
      'restore the Postgres of `weir start` from a backup, and let the queue deliver what is missing; without --yes, only print what would be done',
    )
    .option(
      '--to <time>',
      'to this time: ISO 8601, or milliseconds since 1970 (default: as late as possible)',
      parsePastTime,
    )
    .option('--from <directory>', 'the directory of the backups (default: that of the last backup)')
    .option('--yes', 'restore')
    .option('--follow', 'show the progress of the restore that is under way')
    .action(async (options: { to?: number; from?: string; yes?: true; follow?: true }) => {
      const { WEIR_DATA_DIR: weirDataDir } = readConfig(host);
      if (host.env.DATABASE_URL)
        throw new CommandError(
          'DATABASE_URL names your own Postgres: restore it with your own means, then run `weir replay` (docs/backup.md).',
        );
      if (options.follow) return followRestore(host, join(resolve(weirDataDir), 'restore.json'));
      const { planRestore, requestRestore } = await import('../../launcher/restore/restore-request.ts');
      const from = options.from && resolve(host.env.INIT_CWD ?? host.directory, options.from);
      const to = options.to === undefined ? undefined : new Date(options.to);
      const plan = planRestore(weirDataDir, { to, from }, Date.now());
      await printJson(host, { isPlan: options.yes !== true, ...plan });
      printMessage(host, describePlan(plan));
      if (options.yes !== true) return printMessage(host, 'Nothing was changed. Add --yes to restore.');
      const file = requestRestore(weirDataDir, plan);
      if (!plan.isRunning) return printMessage(host, 'Weir does not run: `weir start` restores first.');
      await followRestore(host, file);
    });
}

function describePlan(plan: RestorePlan): string {
  return [
    `1. Copies the backup of ${plan.backup.stoppedAt}. Everything still runs.`,
    '2. Stops the writer, the dashboard and Postgres. Ingest goes on accepting.',
    `3. Recovers to ${plan.to ?? 'the end of the archive'}, applies what was changed and erased since, and lets the queue deliver what is missing.`,
    `4. Starts on it. The data directory of now is kept as ${plan.aside}: it contains what was erased since, so delete it when you no longer need it.`,
  ].join('\n');
}

async function followRestore(host: Host, file: string): Promise<void> {
  const { readJson } = await import('../../launcher/data-directory/json-file.ts');
  const { isWeirRunning } = await import('../../launcher/restore/restore-request.ts');
  let shown: string | undefined;
  for (;;) {
    const journal = readJson<RestoreJournal>(file);
    if (journal === undefined) throw new CommandError('No restore was requested.');
    if (journal.progress !== undefined && journal.progress !== shown) printMessage(host, journal.progress);
    shown = journal.progress;
    if (journal.step === 'failed')
      throw new CommandError(`The restore failed: ${journal.failure}. The database of before is in use.`);
    if (journal.step === 'done') {
      await printJson(host, journal);
      for (const line of journal.caughtUp?.lost ?? []) printMessage(host, `LOST: ${line}`);
      return;
    }
    if (!isWeirRunning(dirname(file)))
      throw new CommandError('Weir does not run any more: `weir start` goes on with the restore.');
    await sleep(restorePollMs);
  }
}
