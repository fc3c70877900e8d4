import type { Command } from 'commander';
import { type AuditRow, listAudit } from '../../store/accounts/audit/audit-list.ts';
import { noSpace } from '../../store/db/limits.ts';
import { requireSpace, withDatabase } from '../database.ts';
import { type Host, printJson } from '../host.ts';

const auditPageRows = 500;

export function addAuditCommand(program: Command, host: Host): void {
  program
    .command('audit')
    .description(
      'print the audit log of a space, newest rows first, one line of JSON each; without --space the log of changes outside of spaces: prices for all spaces, users',
    )
    .option('--space <id>', 'the space')
    .action((options: { space?: string }) =>
      withDatabase(host, async (database) => {
        const spaceId = options.space === undefined ? noSpace : await requireSpace(database, options.space);
        let rows: AuditRow[];
        let before: string | undefined;
        do {
          rows = await listAudit(database, spaceId, { before, limit: auditPageRows });
          for (const row of rows) await printJson(host, row);
          before = rows.at(-1)?.id;
        } while (rows.length === auditPageRows);
      }),
    );
}
