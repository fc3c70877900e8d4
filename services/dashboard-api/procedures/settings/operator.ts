import { z } from 'zod';
import { findingShape } from '../../../../operations/doctor/finding.ts';
import { storageSizes } from '../../../../operations/storage/storage-sizes.ts';
import type { ServiceReport } from '../../../../platform/queue/service-discovery.ts';
import { version } from '../../../../platform/version.ts';
import { schemaVersion } from '../../../../store/db/version.ts';
import { queueFigures } from '../../../../store/queue-state/queue-figures.ts';
import { delayHistory } from '../../charts/delays.ts';
import { type QuarantineReason, QueueAwayError } from '../../installation/installation.ts';
import { retentionState } from '../../installation/retention-state.ts';
import { refusal } from '../../refusal.ts';
import { operatorProcedure, router } from '../../trpc/trpc.ts';

const runningService = z
  .object({
    service: z.string(),
    host: z.string(),
    pid: z.number(),
    version: z.string(),
    /** The schema that it is made for. */
    schema: z.string(),
    /** Took most in some two minutes: bytes of ingest, events of a writer, time of dashboard calls. */
    busiest: z.object({ spaceId: z.string(), share: z.number() }).optional(),
    /** The service's clock, in milliseconds since the epoch. */
    nowMs: z.number(),
    metricsUrl: z.string(),
  } satisfies Partial<Record<keyof ServiceReport, z.ZodType>>)
  .meta({ id: 'RunningService' });

const quarantineReason = z
  .object({
    sqlstate: z.string(),
    entries: z.number(),
    spaces: z.number(),
    oldestAt: z.iso.datetime(),
    newestAt: z.iso.datetime(),
  } satisfies Record<keyof QuarantineReason, z.ZodType>)
  .meta({ id: 'QuarantineReason' });

const rangeMsMax = 400 * 24 * 60 * 60 * 1_000;

/** The state of the installation. Nothing of it names a space. */
export const operator = router({
  /** The queue, and the services that answer. SERVICE_UNAVAILABLE while nats-server does not. */
  queue: operatorProcedure
    .output(
      z.object({
        streams: z.array(queueFigures),
        services: z.array(runningService),
        version: z.string(),
        schema: z.string(),
      }),
    )
    .query(async ({ ctx }) => {
      const state = await ctx.installation.queue().catch((error: unknown) => {
        if (!(error instanceof QueueAwayError)) throw error;
        throw refusal('SERVICE_UNAVAILABLE', error.message, error);
      });
      return { ...state, version, schema: schemaVersion };
    }),

  /** Delays of events of all spaces, by the time of storing: see `charts.delays`. */
  delays: operatorProcedure
    .input(
      z
        .object({ from: z.number().min(0), to: z.number() })
        .refine(({ from, to }) => to > from && to - from <= rangeMsMax, {
          path: ['to'],
          error: 'must be later than from, by at most 400 days',
        }),
    )
    .output(delayHistory)
    .query(({ ctx, input: { from, to } }) => ctx.installation.delays({ fromMs: from, toMs: to })),

  /** The sizes of all tables; events and segments by week of receipt. */
  storage: operatorProcedure.output(storageSizes).query(({ ctx }) => ctx.installation.storage()),

  /** When expired data was last deleted, and what expires next. */
  retention: operatorProcedure.output(retentionState).query(({ ctx }) => ctx.installation.retention()),

  /** Rejected events of all spaces by SQLSTATE. */
  quarantine: operatorProcedure
    .output(z.array(quarantineReason))
    .query(({ ctx }) => ctx.installation.quarantine()),

  /** What `weir doctor` finds. What cannot be reached is a finding, not an error. */
  doctor: operatorProcedure.output(z.array(findingShape)).query(({ ctx }) => ctx.installation.doctor()),
});
