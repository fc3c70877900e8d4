import { z } from 'zod';
import { asStored } from '../../../event/text.ts';
import { refusal } from '../refusal.ts';
import {
  activityList,
  activityPage,
  activityQuery,
  activityTotal,
  listActivity,
  readActivity,
} from '../threads/activity.ts';
import { readTurns, turnPage } from '../threads/turns.ts';
import { readTrace, trace } from '../traces/trace.ts';
import { router, spaceProcedure } from '../trpc/trpc.ts';

export const traces = router({
  /** A trace in time order, with parents, lanes, gaps and overlaps: see Trace. NOT_FOUND without events. */
  get: spaceProcedure('viewer')
    .input(z.object({ traceId: z.guid().toLowerCase() }))
    .output(trace)
    .query(async ({ ctx, input }) => {
      const trace = await readTrace(ctx.space, input.traceId);
      if (trace !== undefined) return trace;
      throw refusal('NOT_FOUND', 'There is no event of this trace.');
    }),
});

export const threads = router({
  /**
   * Threads by most recent activity, with counts in the time range. `search`: the beginning of the id of a
   * thread or user, or a text of an input preview.
   */
  list: spaceProcedure('viewer')
    .input(activityQuery.prefault({}))
    .output(activityList)
    .query(({ ctx, input }) => listActivity(ctx.space, 'threadId', input)),

  /** One thread with counts of all its events. NOT_FOUND without events. */
  get: spaceProcedure('viewer')
    .input(z.object({ threadId: z.string().transform(asStored) }))
    .output(activityTotal)
    .query(async ({ ctx, input }) => {
      const found = await readActivity(ctx.space, 'threadId', input.threadId);
      if (found !== undefined) return found;
      throw refusal('NOT_FOUND', 'There is no event of this thread.');
    }),

  /** The turns of one thread, newest first: see TurnPage. */
  turns: spaceProcedure('viewer')
    .input(z.object({ ...activityPage, threadId: z.string().transform(asStored) }))
    .output(turnPage)
    .query(({ ctx, input: { threadId, limit, cursor } }) =>
      readTurns(ctx.space, { threadId, limit, cursor }),
    ),
});

export const users = router({
  /** Users by most recent activity, like `threads.list`. `search` is an id or its beginning. */
  list: spaceProcedure('viewer')
    .input(activityQuery.omit({ userId: true }).prefault({}))
    .output(activityList)
    .query(({ ctx, input }) => listActivity(ctx.space, 'userId', input)),

  /** One user with counts of all their events. NOT_FOUND without events. */
  get: spaceProcedure('viewer')
    .input(z.object({ userId: z.string().transform(asStored) }))
    .output(activityTotal)
    .query(async ({ ctx, input }) => {
      const found = await readActivity(ctx.space, 'userId', input.userId);
      if (found !== undefined) return found;
      throw refusal('NOT_FOUND', 'There is no event of this user.');
    }),
});
