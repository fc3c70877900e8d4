import type { Command } from 'commander';
import { eraseEvents } from '../../operations/erasure/erase.ts';
import { previewErasure } from '../../operations/erasure/preview.ts';
import type { Subject } from '../../operations/erasure/subject.ts';
import { openDatabase } from '../../store/db/database.ts';
import { parsePastTime } from '../arguments.ts';
import { relayChanges } from '../control-changes.ts';
import { connectNats, openLongPool, readConfig, requireSpace } from '../database.ts';
import { type Host, printJson, printMessage } from '../host.ts';
import { eraseTimeoutMs } from '../limits.ts';

interface EraseCommandOptions {
  space: string;
  user?: string;
  thread?: string;
  before?: number;
  reason?: string;
  yes?: true;
}

/** docs/data-lifecycle.md#erasure */
export function addEraseCommand(program: Command, host: Host): void {
  program
    .command('erase')
    .description('erase events of a space permanently; without --yes, only print how many match')
    .requiredOption('--space <id>', 'the space')
    .option('--user <id>', 'the events of this user')
    .option('--thread <id>', 'the events of this thread')
    .option(
      '--before <time>',
      'the events that started before: ISO 8601, or milliseconds since 1970',
      parsePastTime,
    )
    .option('--reason <text>', 'stored in the receipt and the audit log; must not contain personal data')
    .option('--yes', 'erase the events instead of counting them')
    .action(async (options: EraseCommandOptions, command: Command) => {
      const subject = readSubject(options);
      if (subject === undefined) return command.error('error: give one of --user, --thread and --before');
      await using sql = openLongPool(host, { name: 'erase', statementTimeoutMs: eraseTimeoutMs });
      const database = openDatabase(sql);
      const spaceId = await requireSpace(database, options.space);
      if (options.yes !== true) {
        await printJson(host, { isPreview: true, ...(await previewErasure(database, spaceId, { subject })) });
        return printMessage(host, 'Nothing was erased. Add --yes to erase these events permanently.');
      }
      const config = readConfig(host);
      await using nats = await connectNats(host, 'erase');
      const receipt = await eraseEvents({ database, connection: nats }, spaceId, {
        subject,
        reason: options.reason,
        backupRetentionDays: config.BACKUP_RETENTION_DAYS,
        report: (text) => printMessage(host, text),
      });
      await relayChanges(host, sql, config);
      await printJson(host, receipt);
    });
}

/** @returns undefined unless exactly one subject is given. */
function readSubject({ user, thread, before }: EraseCommandOptions): Subject | undefined {
  const given: Subject[] = [
    ...(user === undefined ? [] : [{ kind: 'user', value: user } as const]),
    ...(thread === undefined ? [] : [{ kind: 'thread', value: thread } as const]),
    ...(before === undefined ? [] : [{ kind: 'before', timeMs: before } as const]),
  ];
  return given.length === 1 ? given[0] : undefined;
}
