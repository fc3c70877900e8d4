import { getTRPCErrorFromUnknown } from '@trpc/server';
import { z } from 'zod';
import type { Role } from '../../../store/accounts/role.ts';
import { parsePosition } from '../../../store/tail/position.ts';
import { requireCaller, requireRole } from '../access.ts';
import { eventFilter, openFilter, parsedText, sealed } from '../filter-input.ts';
import { eventsPageDefault, eventsPageMax } from '../limits.ts';
import { liveKeyRecheckMs, liveRecheckMs } from '../live/limits.ts';
import { liveMessages } from '../live/live-message.ts';
import { readSince, storedSince, tailEvents } from '../live/space-live.ts';
import type { Context } from '../trpc/context.ts';
import { classifyFailure } from '../trpc/failure.ts';
import { router, spaceProcedure } from '../trpc/trpc.ts';

const least: Role = 'viewer';

const position = parsedText(
  parsePosition,
  'must be the id of a message of this stream, or a cursor of live.since',
);

const tailInput = z
  .object({
    ...eventFilter,
    /** A result of `events.sealFilter`, in place of the other fields: proxies log a subscription's input. */
    sealed: sealed.optional(),
    /** Whether the stream also says which events were changed or removed since they were stored. */
    changes: z.boolean().optional(),
    /** The id of the last received message, to resume after it. tRPC's client sets it when it reconnects. */
    lastEventId: position.nullish(),
  })
  .prefault({});

const sinceInput = z
  .object({
    ...eventFilter,
    after: position.optional(),
    until: position.optional(),
    limit: z.int().min(1).max(eventsPageMax).default(eventsPageDefault),
  })
  .prefault({});

export const live = router({
  /**
   * The events that match the filter, as they are stored, over server-sent events. A client that reconnects
   * with the id of its last LiveMessage gets each event exactly once, whatever restarted; without an id,
   * those stored from now on. Ends with UNAUTHORIZED, NOT_FOUND or FORBIDDEN at most ten seconds after the
   * session, membership or role is lost, and within a second for a revoked read key. TOO_MANY_REQUESTS: the
   * person, the space or the server has too many streams; then a newcomer gets the place of a stream of the
   * person who has the most.
   */
  tail: spaceProcedure(least)
    .input(tailInput)
    .output(liveMessages)
    .subscription(async function* ({ ctx, input: { lastEventId, sealed, changes, ...input }, signal }) {
      const { spaceId } = ctx.space;
      const { spaceId: _, ...plain } = input as typeof input & { spaceId?: string };
      try {
        const filter = sealed === undefined ? plain : openFilter(ctx.filterSeal, spaceId, sealed);
        const { holderId } = ctx.user;
        using _slot = ctx.request.beginStream(ctx.openStreams, { holderId, spaceId });
        yield* tailEvents(ctx.space, {
          filter,
          after: lastEventId ?? undefined,
          hasChanges: changes === true,
          signal: signal ?? AbortSignal.any([]),
          callerId: ctx.user.sessionId,
          checkAccess: () => checkAccess(ctx, spaceId),
          recheckMs: ctx.request.readKey === undefined ? liveRecheckMs : liveKeyRecheckMs,
        });
      } catch (error) {
        throw classifyFailure(getTRPCErrorFromUnknown(error));
      }
    }),

  /**
   * The next events stored after a position, in storage order: those that a live stream skipped, or a list's
   * new ones; at most up to `until`. Without `after` only `cursor`, the current position.
   */
  since: spaceProcedure(least)
    .input(sinceInput)
    .output(storedSince)
    .query(({ ctx, input: { after, until, limit, ...input } }) => {
      const { spaceId: _, ...filter } = input as typeof input & { spaceId?: string };
      return readSince(ctx.space, { filter, after, until, limit });
    }),
});

/** Repeats the check of spaceProcedure with the current state in Postgres. */
async function checkAccess(ctx: Context, spaceId: string): Promise<void> {
  requireRole(await requireCaller(ctx, ctx.request), { spaceId, least });
}
