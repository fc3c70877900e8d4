import { TRPCError } from '@trpc/server';
import { z } from 'zod';
import { asStored } from '../../../lib/event/text.ts';
import { activityPageDefault, activityPageMax } from '../limits.ts';
import { activityList } from '../threads/activity.ts';
import { turnPage } from '../threads/turns.ts';
import { trace } from '../traces/trace.ts';
import { router, spaceProcedure } from '../trpc/trpc.ts';
import { eventCursor, timeMs } from './filter-input.ts';

const page = {
  limit: z.int().min(1).max(activityPageMax).default(activityPageDefault),
  cursor: eventCursor.optional(),
};
const activity = z.object({ ...page, from: timeMs.optional(), to: timeMs.optional() }).prefault({});

export const traces = router({
  /** The events of a trace in time order, with their parents, lanes, gaps and overlaps: see Trace. NOT_FOUND without events. */
  get: spaceProcedure('viewer')
    .input(z.object({ traceId: z.guid().toLowerCase() }))
    .output(trace)
    .query(async ({ ctx, input }) => {
      const trace = await ctx.space.traces.get(input.traceId);
      if (trace !== undefined) return trace;
      throw new TRPCError({ code: 'NOT_FOUND', message: 'There is no event of this trace.' });
    }),
});

export const threads = router({
  /** Threads by most recent activity, with counts of the events in the time range: see ActivityList. */
  list: spaceProcedure('viewer')
    .input(activity)
    .output(activityList)
    .query(({ ctx, input }) => ctx.space.traces.listActivity('threadId', input)),

  /** The turns of one thread, newest first: see TurnPage. */
  turns: spaceProcedure('viewer')
    .input(z.object({ ...page, threadId: z.string().transform(asStored) }))
    .output(turnPage)
    .query(({ ctx, input: { threadId, limit, cursor } }) =>
      ctx.space.traces.turns({ threadId, limit, cursor }),
    ),
});

export const users = router({
  /** Users by most recent activity, like `threads.list`. */
  list: spaceProcedure('viewer')
    .input(activity)
    .output(activityList)
    .query(({ ctx, input }) => ctx.space.traces.listActivity('userId', input)),
});
