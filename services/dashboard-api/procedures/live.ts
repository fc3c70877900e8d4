import { getTRPCErrorFromUnknown } from '@trpc/server';
import { z } from 'zod';
import type { Role } from '../../../store/accounts/role.ts';
import { parsePosition } from '../../../store/tail/position.ts';
import { requireCaller, requireRole } from '../access.ts';
import { eventsPageDefault, eventsPageMax } from '../limits.ts';
import { liveKeyRecheckMs, liveRecheckMs } from '../live/limits.ts';
import { liveMessages } from '../live/live-message.ts';
import { readSince, storedSince, tailEvents } from '../live/space-live.ts';
import type { Context } from '../trpc/context.ts';
import { classifyFailure } from '../trpc/failure.ts';
import { router, spaceProcedure } from '../trpc/trpc.ts';
import { eventFilter, openFilter, sealed } from './filter-input.ts';

const least: Role = 'viewer';

const position = z.string().transform((text, context) => {
  const parsed = parsePosition(text);
  if (parsed !== undefined) return parsed;
  context.addIssue('must be the id of a message of this stream, or a cursor of live.since');
  return z.NEVER;
});

const tailInput = z
  .object({
    ...eventFilter,
    /** A result of `events.sealFilter`, in place of the other fields: the input of a subscription is part of its address. */
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
   * The events that match the filter, as they are stored: a subscription over server-sent events. Each message is a LiveMessage with
   * an id. A client that reconnects with the id of its last message gets each event exactly once, even after a lost connection or a
   * restart of this service or of a writer. Without an id, the stream begins with events stored from now on, and the first message
   * has the id of that position.
   *
   * It ends with UNAUTHORIZED, NOT_FOUND or FORBIDDEN at most ten seconds after the session, the membership or the role is lost, and
   * within a second after a read key is revoked.
   * TOO_MANY_REQUESTS: the person, the space or the server has too many streams. When the server has, a newcomer gets the place of a stream
   * of the person who has the most, whose connection is reset.
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
          checkAccess: () => checkAccess(ctx, spaceId),
          recheckMs: ctx.request.readKey === undefined ? liveRecheckMs : liveKeyRecheckMs,
        });
      } catch (error) {
        throw classifyFailure(getTRPCErrorFromUnknown(error));
      }
    }),

  /**
   * The next events that match the filter and were stored after a position, in storage order: those that a live stream skipped, or the
   * new events of a list. Without `after` there are none, and `cursor` is the current position. With `until`, events stored after that
   * position are left out.
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
  requireRole(await requireCaller(ctx, ctx.request), spaceId, least);
}
