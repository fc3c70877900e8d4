import { z } from 'zod';
import { isoTimes } from '../../../platform/time.ts';
import { listSenders, type Sender } from '../../../store/senders.ts';
import { listLargeTraces } from '../../../store/traces/unresolved-traces.ts';
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

/** A trace with more spans than are resolved (docs/opentelemetry.md). */
const largeTrace = z
  .object({ traceId: z.guid(), spans: z.number(), lastSeenAt: z.iso.datetime() })
  .meta({ id: 'LargeTrace' });

export const senders = router({
  /**
   * At most 20 traces with more than 10,000 spans. Their events keep what their own request tells: agents,
   * threads and users of spans in other requests are missing, and a call in several requests may be several
   * events.
   */
  largeTraces: spaceProcedure('viewer', { isStatistics: true })
    .output(z.array(largeTrace))
    .query(async ({ ctx }) =>
      (await listLargeTraces(ctx.space.database, ctx.space.spaceId)).map(({ receivedAt, ...trace }) => ({
        ...trace,
        lastSeenAt: receivedAt.toISOString(),
      })),
    ),

  /** Programs and libraries that sent spans, with the outcome of these, most recently seen first. */
  list: spaceProcedure('viewer', { isStatistics: true })
    .output(z.array(sender))
    .query(async ({ ctx }) => (await listSenders(ctx.space.database, ctx.space.spaceId)).map(isoTimes)),
});
