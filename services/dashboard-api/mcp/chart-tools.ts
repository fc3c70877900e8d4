import { z } from 'zod';
import { chartGroup } from '../charts/dimension.ts';
import { refusal } from '../refusal.ts';
import { cutTexts } from './answer.ts';
import { chartPointsMax, listedTextCharsMax } from './limits.ts';
import { chartRange, tool } from './tool.ts';

/** A chart has one dimension: as its group, as its filter, or both. */
const dimensionFilter = {
  userId: z.string().optional().describe('If the space declares the dimension user'),
  attribute: z
    .object({ key: z.string(), value: z.string() })
    .optional()
    .describe('An attribute that the space declares as a dimension'),
};

export const getChart = tool({
  name: 'get_chart',
  title: 'Read a chart',
  description:
    'Events, errors, tokens and durations (p50, p95, p99) of a time range: a total for each group and, with `points`, one for each bucket ' +
    'of time. The group null sums all remaining groups.',
  input: {
    ...chartRange,
    groupBy: chartGroup.default('none'),
    groupsMax: z.int().min(1).max(20).default(10),
    type: z.enum(['llm', 'tool']).optional(),
    name: z.string().optional().describe('The model or the tool'),
    ...dimensionFilter,
    points: z.boolean().default(false).describe('Also the buckets of time'),
  },
  async run({ call }, { points, ...query }) {
    const { starts, end, series } = await call.charts.events(query);
    if (points) requirePoints(series);
    const shown = series.map(({ group, total, points: buckets }) => ({
      group,
      total,
      ...(points && {
        points: buckets.map(({ bucket, events, errors, inputTokens, outputTokens, p50Ms, p95Ms }) => ({
          ...{ time: isoOf(starts[bucket]), events, errors, inputTokens, outputTokens, p50Ms, p95Ms },
        })),
      }),
    }));
    return { from: isoOf(starts[0]), to: isoOf(end), series: cutTexts(shown, listedTextCharsMax) };
  },
});

export const getCosts = tool({
  name: 'get_costs',
  title: 'Read costs',
  description:
    'The cost of each model or other group, and of each kind of usage, in US dollars. `bound` says whether a cost is exact, or at least, at ' +
    'most or about so: `pricedTokens` of `tokens` have a price, and `assumedTokens` have that of another kind or tier.',
  input: {
    ...chartRange,
    groupBy: chartGroup.default('model'),
    name: z.string().optional().describe('The model'),
    ...dimensionFilter,
    points: z.boolean().default(false).describe('Also the buckets of time'),
  },
  async run({ call }, { points, ...query }) {
    const { starts, end, total, models, kinds } = await call.charts.costs(query);
    if (points) requirePoints(models);
    const shown = models.map(({ points: buckets, ...model }) => ({
      ...model,
      ...(points && {
        points: buckets.map(({ bucket, ...one }) => ({ time: isoOf(starts[bucket]), ...one })),
      }),
    }));
    const ofKinds = kinds.map(({ points: _points, ...kind }) => kind);
    const range = { from: isoOf(starts[0]), to: isoOf(end) };
    return { ...range, total, kinds: ofKinds, models: cutTexts(shown, listedTextCharsMax) };
  },
});

/** @throws TRPCError BAD_REQUEST when the buckets are too many for an answer. */
function requirePoints(series: readonly { points: readonly unknown[] }[]): void {
  const count = series.reduce((sum, { points }) => sum + points.length, 0);
  if (count <= chartPointsMax) return;
  throw refusal(
    'BAD_REQUEST',
    `points: the range has ${count} of at most ${chartPointsMax}. Use a larger step, a shorter range or fewer groups.`,
  );
}

function isoOf(timeMs = 0): string {
  return new Date(timeMs).toISOString();
}
