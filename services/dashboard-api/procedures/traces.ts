import { z } from 'zod';
import { columnCharsMax } from '../../../event/limits.ts';
import { asStored } from '../../../event/text.ts';
import { refusal } from '../refusal.ts';
import {
  activityComparison,
  activityList,
  activityTotal,
  listActivity,
  readActivity,
} from '../threads/activity.ts';
import { readTurns, turnPage } from '../threads/turns.ts';
import { readTrace, trace } from '../traces/trace.ts';
import { router, spaceProcedure } from '../trpc/trpc.ts';
import { comparisonsMax, eventCursor, noteCondition, noteConditionsMax, timeMs } from './filter-input.ts';

const activityPageDefault = 30;
const activityPageMax = 50;

const activitySearchCharsMax = 256;

const page = {
  limit: z.int().min(1).max(activityPageMax).default(activityPageDefault),
  cursor: eventCursor.optional(),
};
/** An id or its beginning. */
const search = z.string().min(1).max(activitySearchCharsMax).optional();
const activity = {
  ...page,
  from: timeMs.optional(),
  to: timeMs.optional(),
  search,
  model: z.string().max(columnCharsMax).optional(),
  /** Only those whose counts in the range are as compared; a cost is in US dollars. */
  comparisons: z.array(activityComparison).max(comparisonsMax).optional(),
  /** Only those with events that have such notes: on themselves, their trace or their thread. */
  notes: z.array(noteCondition).min(1).max(noteConditionsMax).optional(),
};

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
    .input(z.object({ ...activity, userId: z.string().optional() }).prefault({}))
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
    .input(z.object({ ...page, threadId: z.string().transform(asStored) }))
    .output(turnPage)
    .query(({ ctx, input: { threadId, limit, cursor } }) =>
      readTurns(ctx.space, { threadId, limit, cursor }),
    ),
});

export const users = router({
  /** Users by most recent activity, like `threads.list`. `search` is an id or its beginning. */
  list: spaceProcedure('viewer')
    .input(z.object(activity).prefault({}))
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
