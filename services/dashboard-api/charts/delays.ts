import { z } from 'zod';
import type { DelayHistory } from '../../../store/store-delays/read-delays.ts';

/** Times from receipt until stored, in milliseconds, within 5%. Percentiles are null without events. */
export const delayTotal = z
  .object({
    events: z.number(),
    p50Ms: z.number().nullable(),
    p99Ms: z.number().nullable(),
  } satisfies Record<keyof DelayHistory['total'], z.ZodType>)
  .meta({ id: 'Delays' });

/** Spans in which nothing was stored have no point. */
export const delayHistory = z
  .object({
    spanMs: z.number(),
    points: z.array(
      z.object({
        /** Start, in milliseconds since the epoch. */
        startMs: z.number(),
        events: z.number(),
        p50Ms: z.number(),
        p99Ms: z.number(),
      } satisfies Record<keyof DelayHistory['points'][number], z.ZodType>),
    ),
    total: delayTotal,
  } satisfies Record<keyof DelayHistory, z.ZodType>)
  .meta({ id: 'DelayHistory' });
