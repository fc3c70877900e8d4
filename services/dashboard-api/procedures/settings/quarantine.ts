import { z } from 'zod';
import { instant } from '../../../../platform/instant.ts';
import { isoTimes } from '../../../../platform/time.ts';
import { listQuarantine, type QuarantineEntry } from '../../../../store/write/quarantine.ts';
import { replayQuarantined, replayResult } from '../../../../store/write/replay.ts';
import { router, spaceProcedure } from '../../trpc/trpc.ts';

/** Quarantine entries in a page, and entries replayed by one call: each takes some milliseconds. */
const quarantinePageMax = 200;
const replayedAtOnceMax = 100;

const position = z.object({ quarantinedAt: z.iso.datetime(), id: z.guid() });

const page = z
  .object({
    limit: z.int().min(1).max(quarantinePageMax).default(quarantinePageMax),
    /** The nextCursor of the previous page. */
    cursor: position.extend({ quarantinedAt: instant }).optional(),
  })
  .prefault({});

const quarantineEntry = z
  .object({
    id: z.guid(),
    spaceId: z.guid(),
    receivedAt: z.iso.datetime(),
    quarantinedAt: z.iso.datetime(),
    eventCount: z.number(),
    /** Why Postgres rejected it. */
    sqlstate: z.string(),
    message: z.string(),
  } satisfies Record<keyof QuarantineEntry, z.ZodType>)
  .meta({ id: 'QuarantineEntry' });

/** Events that Postgres rejected. They are kept completely until they are replayed. */
export const quarantine = router({
  /** Rejected events, oldest first, with Postgres's SQLSTATE and message, without the event. */
  list: spaceProcedure('admin')
    .input(page)
    .output(z.object({ entries: z.array(quarantineEntry), nextCursor: position.nullable() }))
    .query(async ({ ctx: { admin }, input: { limit, cursor } }) => {
      const after = cursor && { id: cursor.id, quarantinedAt: new Date(cursor.quarantinedAt) };
      const found = await listQuarantine(admin.database, admin.spaceId, { after, limit });
      const entries = found.map(isoTimes);
      const last = entries.length === limit ? entries.at(-1) : undefined;
      return { entries, nextCursor: last ? { quarantinedAt: last.quarantinedAt, id: last.id } : null };
    }),

  /**
   * Stores events after the cause was removed, each in its month of receipt. `failed` stay; others were no
   * entries.
   */
  replay: spaceProcedure('admin')
    .input(z.object({ ids: z.array(z.guid()).min(1).max(replayedAtOnceMax) }))
    .output(replayResult)
    .mutation(({ ctx: { admin, actor }, input: { ids } }) =>
      replayQuarantined(admin.database, { spaceId: admin.spaceId, ids, actor }),
    ),
});
