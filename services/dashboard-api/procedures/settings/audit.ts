import { z } from 'zod';
import { auditRow, listAudit } from '../../../../store/accounts/audit/audit-list.ts';
import { auditPageDefault, auditPageMax } from '../../limits.ts';
import { router, spaceProcedure } from '../../trpc/trpc.ts';
import { plainText } from '../account-inputs.ts';

const page = z
  .object({
    limit: z.int().min(1).max(auditPageMax).default(auditPageDefault),
    /** The nextCursor of the previous page. */
    cursor: z.guid().optional(),
    action: plainText.optional(),
    /** A user's id, or `operator`. */
    actor: plainText.optional(),
  })
  .prefault({});

export const audit = router({
  /** A page of the space's audit log, newest rows first. `GET /audit/<spaceId>` downloads all of it. */
  list: spaceProcedure('admin')
    .input(page)
    .output(z.object({ rows: z.array(auditRow), nextCursor: z.guid().nullable() }))
    .query(async ({ ctx: { admin }, input: { limit, cursor: before, action, actor } }) => {
      const rows = await listAudit(admin.database, admin.spaceId, { before, action, actor, limit });
      const last = rows.length === limit ? rows.at(-1) : undefined;
      return { rows, nextCursor: last?.id ?? null };
    }),
});
