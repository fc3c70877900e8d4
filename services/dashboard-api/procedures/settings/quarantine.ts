import { z } from 'zod';
import { quarantinePageMax, replayedAtOnceMax } from '../../limits.ts';
import { router, spaceProcedure } from '../../trpc/trpc.ts';

const page = z
  .object({
    limit: z.int().min(1).max(quarantinePageMax).default(quarantinePageMax),
    /** The nextCursor of the page before. */
    cursor: z.object({ quarantinedAt: z.iso.datetime(), id: z.guid() }).optional(),
  })
  .prefault({});

/** Events that Postgres refused, kept whole until they are replayed. */
export const quarantine = router({
  /**
   * A page of them, the oldest first, with the reason: Postgres' SQLSTATE and its message. `id` is the event's. The event itself is not
   * shown.
   */
  list: spaceProcedure('admin')
    .input(page)
    .query(async ({ ctx, input: { limit, cursor } }) => {
      const after = cursor && { id: cursor.id, quarantinedAt: new Date(cursor.quarantinedAt) };
      const entries = (await ctx.admin.listQuarantine({ after, limit })).map(
        ({ receivedAt, quarantinedAt, ...entry }) => ({
          ...entry,
          receivedAt: receivedAt.toISOString(),
          quarantinedAt: quarantinedAt.toISOString(),
        }),
      );
      const last = entries.length === limit ? entries.at(-1) : undefined;
      return { entries, nextCursor: last ? { quarantinedAt: last.quarantinedAt, id: last.id } : null };
    }),

  /**
   * Stores entries, after the cause was removed. Each event counts once, in the month in which it was received. `replayed` are
   * stored, `failed` were refused again and stay; an id that is in neither was not in quarantine.
   */
  replay: spaceProcedure('admin')
    .input(z.object({ ids: z.array(z.guid()).min(1).max(replayedAtOnceMax) }))
    .mutation(({ ctx, input }) => ctx.admin.replay(input.ids)),
});
