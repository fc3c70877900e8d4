import { z } from 'zod';
import { readDelays } from '../../../store/store-delays/read-delays.ts';
import { listDimensions, listedDimension } from '../../../store/write/statistics/list-dimensions.ts';
import { chart, readChart } from '../charts/chart.ts';
import { costs, readCosts } from '../charts/costs.ts';
import { delayTotal } from '../charts/delays.ts';
import { chartFilter, chartGroup } from '../charts/dimension.ts';
import { chartSteps } from '../charts/time-buckets.ts';
import { router, spaceProcedure } from '../trpc/trpc.ts';

const chartGroupsDefault = 10;
const chartGroupsMax = 50;

/** 1970 to 2100. */
const chartTimeMs = z.number().min(0).max(Date.UTC(2100, 0));

const timeZone = z
  .string()
  .max(64)
  .refine((name) => {
    try {
      return new Intl.DateTimeFormat('en', { timeZone: name }) !== undefined;
    } catch {
      return false;
    }
  }, 'must be an IANA time zone, such as Europe/Zurich')
  .default('UTC');

const range = {
  from: chartTimeMs,
  to: chartTimeMs,
  step: z.enum(chartSteps),
  timeZone,
};

const chartInput = z.object({
  ...range,
  ...chartFilter,
  groupBy: chartGroup.default('none'),
  groupsMax: z.int().min(1).max(chartGroupsMax).default(chartGroupsDefault),
});

export const charts = router({
  /** Events, errors, duration percentiles and tokens by time bucket and group: see Chart. */
  events: spaceProcedure('viewer', { isStatistics: true })
    .input(chartInput)
    .output(chart)
    .query(({ ctx, input: { from, to, step, timeZone, groupBy, groupsMax, ...filter } }) =>
      ctx.space.chartLimiter(() =>
        readChart(ctx.space, { from, to, step, timeZone, groupBy, groupsMax, filter }),
      ),
    ),

  /** Costs by time bucket, of models or another group, and of kinds of usage: see Costs. */
  costs: spaceProcedure('viewer', { isStatistics: true })
    .input(z.object({ ...range, ...chartFilter, groupBy: chartGroup.default('model') }))
    .output(costs)
    .query(({ ctx, input: { from, to, step, timeZone, groupBy, ...filter } }) =>
      ctx.space.chartLimiter(() => readCosts(ctx.space, { from, to, step, timeZone, groupBy, filter })),
    ),

  /** What the space has declared as dimensions, and how much of what was stored before is counted. */
  dimensions: spaceProcedure('viewer', { isStatistics: true })
    .output(z.array(listedDimension))
    .query(({ ctx: { space } }) => listDimensions(space.database, space.spaceId)),

  /** Times from receipt until stored, of whole 5 minutes or hours. The last ten seconds may be missing. */
  delays: spaceProcedure('viewer', { isStatistics: true })
    .input(z.object({ from: chartTimeMs, to: chartTimeMs }))
    .output(delayTotal)
    .query(async ({ ctx: { space }, input: { from, to } }) => {
      const { total } = await readDelays(space.database, space.spaceId, { fromMs: from, toMs: to });
      return total;
    }),
});
