import type { Output } from '../../api/query.ts';
import { colorNames } from '../../charts/colors.ts';
import type { TimeSeries } from '../../charts/time-series.ts';
import { type attributePrefix, isAttribute } from '../../filter/conditions.ts';
import type { Search } from '../../url/search.ts';

export type Chart = Output<'charts.events'>;
export type ChartSeries = Chart['series'][number];
export type Point = ChartSeries['points'][number];
type Attribute = `${typeof attributePrefix}${string}`;
export type GroupBy = 'none' | 'type' | 'model' | 'tool' | 'source' | 'agent' | 'user' | Attribute;

/** The filter for the events of a group; undefined for unnamed events and for all others together. */
export function eventsOf(groupBy: GroupBy, group: string | null): Search | undefined {
  if (groupBy === 'none') return {};
  if (group === null || group === '') return undefined;
  return isAttribute(groupBy) ? { [groupBy]: group } : conditions[groupBy](group);
}

const conditions: Record<Exclude<GroupBy, 'none' | Attribute>, (group: string) => Search> = {
  type: (type) => ({ type }),
  model: (name) => ({ type: 'llm', name }),
  tool: (name) => ({ type: 'tool', name }),
  source: (source) => ({ source }),
  agent: (agentId) => ({ agentId }),
  user: (userId) => ({ userId }),
};

export interface ChartCard {
  title: string;
  unit: 'count' | 'duration' | 'tokens';
  series: TimeSeries[];
}

type Kind = 'bars' | 'lines';

/** Durations of several series have no sum. */
export const kindOf = (unit: ChartCard['unit']): Kind => (unit === 'duration' ? 'lines' : 'bars');

export function nameGroup(group: string | null): string {
  if (group === null) return 'All others';
  return group === '' ? 'Unnamed' : group;
}

/** The cards of the charts page: of all events together, or by group. */
export function describeCharts(chart: Chart, groupBy: GroupBy, only: Search): ChartCard[] {
  return groupBy === 'none' ? describeTotals(chart, only) : describeGroups(chart, groupBy, only);
}

function describeTotals({ starts, series: [all] }: Chart, only: Search): ChartCard[] {
  const largest = (sort: string): Search => ({ ...only, sort });
  const bars = (label: string, color: TimeSeries['color'], pick: (point: Point) => number) => {
    return { label, color, values: fill({ starts, missing: 0 }, all, pick), events: largest('tokens') };
  };
  const line = (label: string, color: TimeSeries['color'], pick: (point: Point) => number | null) => {
    return { label, color, values: fill({ starts, missing: null }, all, pick), events: largest('duration') };
  };
  return [
    {
      title: 'Events',
      unit: 'count',
      series: [
        {
          ...bars('OK', 'series-1', ({ events, errors }) => events - errors),
          events: { ...only, state: 'ok' },
        },
        { ...bars('Errors', 'color-bad-line', ({ errors }) => errors), events: { ...only, state: 'error' } },
      ],
    },
    {
      title: 'Duration',
      unit: 'duration',
      series: [
        line('p50', 'series-1', ({ p50Ms }) => p50Ms),
        line('p95', 'series-2', ({ p95Ms }) => p95Ms),
        line('p99', 'series-3', ({ p99Ms }) => p99Ms),
      ],
    },
    {
      title: 'Tokens',
      unit: 'tokens',
      series: [
        bars('Input', 'series-1', ({ inputTokens, cacheReadTokens }) =>
          Math.max(0, inputTokens - cacheReadTokens),
        ),
        bars('Input from cache', 'series-6', ({ cacheReadTokens }) => cacheReadTokens),
        bars('Output', 'series-2', ({ outputTokens, reasoningTokens }) =>
          Math.max(0, outputTokens - reasoningTokens),
        ),
        bars('Reasoning', 'series-3', ({ reasoningTokens }) => reasoningTokens),
      ],
    },
  ];
}

/** The cards with the values of the period before: of each line, and of the bars of a card together. */
export function withBefore(cards: readonly ChartCard[], before: readonly ChartCard[]): ChartCard[] {
  return cards.map((card, place) => ({
    ...card,
    series: [
      ...card.series,
      ...seriesBefore({ ...card, kind: kindOf(card.unit) }, before[place]?.series ?? []),
    ],
  }));
}

export function seriesBefore(
  { kind, series }: { kind: Kind; series: readonly TimeSeries[] },
  before: readonly TimeSeries[],
): TimeSeries[] {
  if (kind === 'bars') {
    const sum = (bucket: number) => before.reduce((total, { values }) => total + (values[bucket] ?? 0), 0);
    const values = (series[0]?.values ?? []).map((_, bucket) => sum(bucket));
    return [{ label: 'Period before', color: 'color-muted', values, isBefore: true }];
  }
  return series.flatMap(({ label, color, values: { length } }) => {
    const found = before.find((one) => one.label === label);
    // A month before may have fewer days.
    const values = Array.from({ length }, (_, bucket) => found?.values[bucket] ?? null);
    return found === undefined ? [] : [{ label: `${label} before`, color, values, isBefore: true }];
  });
}

function describeGroups({ starts, series }: Chart, groupBy: GroupBy, only: Search): ChartCard[] {
  const colors = colorNames(
    groupBy,
    series.flatMap(({ group }) => group ?? []),
  );
  const grouped = (
    missing: 0 | null,
    pick: (point: Point) => number | null,
    further: Search = {},
  ): TimeSeries[] =>
    series.map((one) => ({
      label: nameGroup(one.group),
      color: (one.group === null ? undefined : colors.get(one.group)) ?? 'color-edge',
      values: fill({ starts, missing }, one, pick),
      events: narrow(eventsOf(groupBy, one.group), { ...only, ...further }),
    }));
  return [
    { title: 'Events', unit: 'count', series: grouped(0, ({ events }) => events) },
    { title: 'Errors', unit: 'count', series: grouped(0, ({ errors }) => errors, { state: 'error' }) },
    {
      title: 'Duration, p95',
      unit: 'duration',
      series: grouped(null, ({ p95Ms }) => p95Ms, { sort: 'duration' }),
    },
    {
      title: 'Tokens, input and output',
      unit: 'tokens',
      series: grouped(0, ({ inputTokens, outputTokens }) => inputTokens + outputTokens, { sort: 'tokens' }),
    },
  ];
}

const narrow = (events: Search | undefined, further: Search) => events && { ...further, ...events };

/** A value for each bucket; `missing` where the series has no point. */
function fill(
  { starts, missing }: { starts: readonly number[]; missing: 0 | null },
  series: ChartSeries | undefined,
  pick: (point: Point) => number | null,
): (number | null)[] {
  const values = new Array<number | null>(starts.length).fill(missing);
  for (const point of series?.points ?? []) values[point.bucket] = pick(point);
  return values;
}
