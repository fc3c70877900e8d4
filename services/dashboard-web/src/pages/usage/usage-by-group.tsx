import type { Output } from '../../api/query.ts';
import { useFilter } from '../../filter/use-filter.ts';
import { hourMs } from '../../format/time.ts';
import { dataBeside, keepsData, useSpaceQuery } from '../../space/use-space-query.ts';
import { SelectField } from '../../ui/field.tsx';
import { Loaded } from '../../ui/loaded.tsx';
import { Card } from '../../ui/page.tsx';
import { GroupTable } from '../charts/group-table.tsx';
import { groups, hasCosts, readGroup, slicedGroups } from '../charts/grouping.ts';
import type { ChartSeries } from '../charts/series.ts';

/** Groups with a row of their own: as many as a chart has. */
const groupsMax = 50;

/** The month's events and costs by model, or by what the address names: whose usage it is. */
export function UsageByGroup({ usage: { month, monthlyEventLimit } }: { usage: Output<'usage.current'> }) {
  const { search, set } = useFilter();
  const declared = useSpaceQuery('charts.dimensions', {}).data ?? [];
  const groupBy = readGroup(search.by ?? 'model');
  // In whole hours, so that its queries can be cached.
  const to = Math.ceil(Date.now() / hourMs) * hourMs;
  const range = { from: Date.parse(`${month}-01`), to, step: 'month', last: undefined } as const;
  const input = { from: range.from, to, step: range.step, timeZone: 'UTC', groupBy };
  const query = useSpaceQuery('charts.events', { ...input, groupsMax }, keepsData);
  const isPriced = hasCosts(groupBy, declared);
  const costs = useSpaceQuery(
    'charts.costs',
    { ...input, groupBy: groupBy === 'none' ? 'model' : groupBy },
    { ...keepsData, enabled: isPriced },
  );
  return (
    <Card
      title="Who uses it"
      isFlush
      actions={
        <SelectField
          label="Usage by"
          isLabelHidden
          options={[...groups, ...slicedGroups(declared, groupBy)]}
          value={groupBy}
          onChange={(by) => set({ by })}
        />
      }
    >
      <Loaded query={query} isSmall>
        {({ series }) => (
          <GroupTable
            series={series}
            costs={isPriced ? dataBeside(costs) : undefined}
            groupBy={groupBy}
            range={range}
            only={{}}
            share={shareOf(series, monthlyEventLimit)}
          />
        )}
      </Loaded>
      <p className="border-line border-t px-4 py-2 text-faint text-xs">
        Events that started in {month}, UTC. The limit counts the events that were stored in the month.
      </p>
    </Card>
  );
}

/** The share of a group: of the monthly limit, or of all events where there is none. */
function shareOf(series: readonly ChartSeries[], limit: number | null): { title: string; of: number } {
  if (limit) return { title: 'Of the limit', of: limit };
  return {
    title: 'Share',
    of: Math.max(
      1,
      series.reduce((sum, { total }) => sum + total.events, 0),
    ),
  };
}
