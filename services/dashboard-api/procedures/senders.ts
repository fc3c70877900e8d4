import { z } from 'zod';
import type { Sender } from '../../../lib/senders/senders.ts';
import { router, spaceProcedure } from '../trpc/trpc.ts';

const sender = z
  .object({
    /** The `service.name` of the program; empty when it names none. */
    service: z.string(),
    /** The library that made the spans, and its version. */
    scope: z.string(),
    version: z.string(),
    /** Language, name and version of the OpenTelemetry SDK. */
    sdk: z.string(),
    /** Spans that became events. */
    stored: z.number(),
    /** Spans merged into the event of another span of the same call. */
    merged: z.number(),
    /** Spans that are neither a model call nor a tool call. */
    leftOut: z.number(),
    /** Calls that cannot be stored. */
    refused: z.number(),
    /** Why the last one cannot be stored. */
    refusal: z.string().optional(),
    lastSeenAt: z.iso.datetime(),
  } satisfies Record<keyof Sender, z.ZodType>)
  .meta({ id: 'Sender' });

export const senders = router({
  /** The programs and libraries that sent spans to the space, and what became of their spans: the last seen first. */
  list: spaceProcedure('viewer', { isStatistics: true })
    .output(z.array(sender))
    .query(async ({ ctx }) =>
      (await ctx.space.listSenders()).map(({ lastSeenAt, ...counts }) => ({
        ...counts,
        lastSeenAt: lastSeenAt.toISOString(),
      })),
    ),
});
