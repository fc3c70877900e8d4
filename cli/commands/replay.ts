import type { Command } from 'commander';
import { catchUp } from '../../operations/control/catch-up.ts';
import { discoverServices } from '../../platform/queue/service-discovery.ts';
import { openDatabase } from '../../store/db/database.ts';
import { requireSchema } from '../../store/migrate/schema-range.ts';
import { parsePastTime } from '../arguments.ts';
import { connectNats, openLongPool } from '../database.ts';
import { CommandError, type Host, printJson, printMessage } from '../host.ts';

/** `replay`: after an own Postgres was restored (docs/backup.md). */
export function addReplayCommand(program: Command, host: Host): void {
  program
    .command('replay')
    .description(
      'after you have restored your own Postgres: apply what changed since, and let the queue deliver what is missing; before writers and dashboards start',
    )
    .requiredOption(
      '--since <time>',
      'the time that Postgres was restored to, or an earlier one: ISO 8601, or milliseconds since 1970',
      parsePastTime,
    )
    .action(async ({ since }: { since: number }) => {
      await using nats = await connectNats(host, 'replay');
      const running = (await discoverServices(nats)).filter(({ service }) => service !== 'ingest');
      if (running.length > 0)
        throw new CommandError(
          `Stop ${running.map(({ service, host: machine, pid }) => `${service} (${machine}, pid ${pid})`).join(', ')} first: a revoked key would be shown as valid, and events be stored twice over. Ingest may run.`,
        );
      await using sql = openLongPool(host, { name: 'replay', statementTimeoutMs: 0 });
      await requireSchema(sql);
      const caughtUp = await catchUp(openDatabase(sql), nats, {
        restoredTo: new Date(since),
        report: (line) => printMessage(host, line),
      });
      await printJson(host, caughtUp);
      for (const line of caughtUp.lost) printMessage(host, `LOST: ${line}`);
      printMessage(host, 'Start the writers and the dashboards.');
    });
}
