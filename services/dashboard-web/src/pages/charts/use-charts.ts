import { useFilter } from '../../filter/use-filter.ts';
import { browserZone } from '../../format/time.ts';
import { useZone } from '../../settings/settings.ts';
import { dataBeside, keepsData, useSpaceQuery } from '../../space/use-space-query.ts';
import { hasCosts, readGroup, readOnly, toChartFilter } from './grouping.ts';
import { readRange } from './range.ts';
import type { Chart } from './series.ts';

/** Groups with a series of their own; one colour is left for all others. */
const groupsMax = 7;

/** Never asked: with the input of the chart, its data would be kept and shown as of the period before. */
export const noPeriod = { from: 0, to: 0 };

/** What the charts page shows, by its address: the range, the group, what is counted, the period before. */
export function useCharts() {
  const { search } = useFilter();
  const zone = useZone();
  const range = readRange(search, Date.now(), zone);
  const declared = useSpaceQuery('charts.dimensions', {}).data ?? [];
  const groupBy = readGroup(search.by);
  const only = readOnly(search, groupBy, declared);
  const { type, name, ...sliced } = toChartFilter(only);
  const timeZone = zone ?? browserZone();
  const input = { from: range.from, to: range.to, step: range.step, timeZone, ...sliced };
  const chartInput = { ...input, type, name, groupBy, groupsMax };
  const query = useSpaceQuery('charts.events', chartInput, keepsData);
  const spanBefore = search.before === '1' ? periodBefore(query.data) : undefined;
  const before = useSpaceQuery(
    'charts.events',
    { ...chartInput, ...(spanBefore ?? noPeriod) },
    { ...keepsData, enabled: spanBefore !== undefined },
  );
  const isByModel = groupBy === 'none' || groupBy === 'model';
  const isPriced = only.type !== 'tool' && hasCosts(groupBy, declared);
  const costInput = isByModel ? input : { ...input, name, groupBy };
  const costs = useSpaceQuery('charts.costs', costInput, { ...keepsData, enabled: isPriced });
  return {
    ...{ range, declared, groupBy, only, query, isByModel },
    before: spanBefore && dataBeside(before),
    costInput: isPriced ? costInput : undefined,
    costInputBefore: spanBefore && { ...costInput, ...spanBefore },
    costs: isPriced ? dataBeside(costs) : undefined,
  };
}

/** The period of the same length that ends where the chart begins. */
function periodBefore(chart: Chart | undefined): { from: number; to: number } | undefined {
  const [start] = chart?.starts ?? [];
  if (chart === undefined || start === undefined) return undefined;
  return { from: Math.max(0, start - (chart.end - start)), to: start };
}
