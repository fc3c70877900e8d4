import { z } from 'zod';
import { asStored } from '../../../event/text.ts';
import { readDelays } from '../../../store/store-delays/read-delays.ts';
import { chart, readChart } from '../charts/chart.ts';
import { costs, readCosts } from '../charts/costs.ts';
import { delayTotal } from '../charts/delays.ts';
import { chartGroupsDefault, chartGroupsMax } from '../limits.ts';
import { router, spaceProcedure } from '../trpc/trpc.ts';

/** The range of times that charts support: 1970 to 2100. */
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
  step: z.enum(['minute', 'hour', 'day']),
  timeZone,
};

/** Normalized like the column. */
const columnText = z.string().transform(asStored);

const chartInput = z.object({
  ...range,
  groupBy: z.enum(['none', 'type', 'model', 'tool', 'source', 'agent']).default('none'),
  groupsMax: z.int().min(1).max(chartGroupsMax).default(chartGroupsDefault),
  type: z.enum(['llm', 'tool']).optional(),
  name: columnText.optional(),
  source: columnText.optional(),
  agentId: columnText.optional(),
});

export const charts = router({
  /** Events, errors, duration percentiles and tokens by time bucket and group: see Chart. */
  events: spaceProcedure('viewer', { isStatistics: true })
    .input(chartInput)
    .output(chart)
    .query(({ ctx, input: { type, name, source, agentId, from, to, step, timeZone, groupBy, groupsMax } }) =>
      readChart(ctx.space, {
        from,
        to,
        step,
        timeZone,
        groupBy,
        groupsMax,
        filter: { type, name, source, agentId },
      }),
    ),

  /** Costs by time bucket, of models and of kinds of usage: see Costs. */
  costs: spaceProcedure('viewer', { isStatistics: true })
    .input(z.object({ ...range, source: columnText.optional() }))
    .output(costs)
    .query(({ ctx, input: { from, to, step, timeZone, source } }) =>
      readCosts(ctx.space, { from, to, step, timeZone, source }),
    ),

  /**
   * How long the events that were stored in a range took from receipt until they were stored. The range is widened to whole 5 minutes, or
   * to whole hours when it is longer than a day. The figures of the last ten seconds may be missing.
   */
  delays: spaceProcedure('viewer', { isStatistics: true })
    .input(z.object({ from: chartTimeMs, to: chartTimeMs }))
    .output(delayTotal)
    .query(async ({ ctx: { space }, input: { from, to } }) => {
      const { total } = await readDelays(space.database, space.spaceId, { fromMs: from, toMs: to });
      return total;
    }),
});
