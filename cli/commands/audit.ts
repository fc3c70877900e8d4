import type { Command } from 'commander';
import { type AuditRow, listAudit } from '../../lib/accounts/audit/audit-list.ts';
import { noSpace } from '../../lib/db/limits.ts';
import { parseId } from '../arguments.ts';
import { requireSpace, withDatabase } from '../database.ts';
import { type Host, printJson } from '../host.ts';
import { auditPageRows } from '../limits.ts';

/** `audit`: who changed what. */
export function addAuditCommand(program: Command, host: Host): void {
  program
    .command('audit')
    .description(
      'the audit log of a space, the newest rows first, a line of JSON each; without --space that of what belongs to no space: prices for all, users',
    )
    .option('--space <id>', 'the space')
    .action((options: { space?: string }) =>
      withDatabase(host, async (database) => {
        const spaceId = options.space === undefined ? noSpace : parseId('space', options.space);
        if (options.space !== undefined) await requireSpace(database, spaceId);
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
