import { TRPCError } from '@trpc/server';
import { z } from 'zod';
import { eventsPageDefault, eventsPageMax, timeMsMax } from '../../lib/limits.ts';
import { parseEventCursor } from './event-cursor.ts';
import { router, spaceProcedure } from './trpc.ts';

const timeMs = z.number().min(-timeMsMax).max(timeMsMax);

const cursor = z.string().transform((text, context) => {
  const parsed = parseEventCursor(text);
  if (parsed !== undefined) return parsed;
  context.addIssue('must be a nextCursor of this list');
  return z.NEVER;
});

const page = z
  .object({
    limit: z.int().min(1).max(eventsPageMax).default(eventsPageDefault),
    cursor: cursor.optional(),
    type: z.enum(['llm', 'tool']).optional(),
    state: z.enum(['ok', 'error']).optional(),
    name: z.string().optional(),
    from: timeMs.optional(),
    to: timeMs.optional(),
    threadId: z.string().optional(),
    traceId: z.guid().optional(),
    userId: z.string().optional(),
  })
  .prefault({});

export const events = router({
  /** A page of the space's events, newest start first; times in milliseconds since the epoch, `to` excluded. */
  list: spaceProcedure('viewer')
    .input(page)
    .query(({ ctx, input }) => ctx.door.listEvents(input)),

  /** One event, whole: its columns, and exactly what was sent. */
  get: spaceProcedure('viewer')
    .input(z.object({ id: z.guid() }))
    .query(async ({ ctx, input }) => {
      const event = await ctx.door.readEvent(input.id);
      if (event === undefined) throw new TRPCError({ code: 'NOT_FOUND', message: 'There is no such event.' });
      return event;
    }),
});
