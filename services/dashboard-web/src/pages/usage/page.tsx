import type { Output } from '../../api/query.ts';
import { EventBars } from '../../charts/event-bars.tsx';
import { useFilter } from '../../filter/use-filter.ts';
import { formatCount } from '../../format/number.ts';
import { dayMs, hourMs } from '../../format/time.ts';
import { dataBeside, keepsData, useSpaceQuery } from '../../space/use-space-query.ts';
import { Table } from '../../table/table.tsx';
import { SelectField } from '../../ui/field.tsx';
import { Loaded, together } from '../../ui/loaded.tsx';
import { Card, Page } from '../../ui/page.tsx';
import { GroupTable } from '../charts/group-table.tsx';
import { groups, hasCosts, readGroup, slicedGroups } from '../charts/grouping.ts';
import type { ChartSeries } from '../charts/series.ts';
import { PlanCard } from './plan-card.tsx';

export function UsagePage() {
  const query = useSpaceQuery('usage.current', {});
  return (
    <Page
      title="Usage & plan"
      subtitle="Each stored event counts once, in the UTC month in which it was stored."
    >
      <Loaded query={query}>
        {(data) => (
          <div className="flex flex-col gap-4">
            <PlanCard usage={data} />
            <UsageByGroup usage={data} />
            <UsageDays />
          </div>
        )}
      </Loaded>
    </Page>
  );
}

const shownDays = 30;

function UsageDays() {
  const query = together(useSpaceQuery('usage.daily', {}), useSpaceQuery('usage.months', {}));
  return (
    <Loaded query={query} isSmall>
      {([days, months]) => <DaysAndMonths days={days} months={months} />}
    </Loaded>
  );
}

function DaysAndMonths({ days, months }: { days: Output<'usage.daily'>; months: Output<'usage.months'> }) {
  const byDay = new Map(days.map((day) => [Date.parse(day.day), day]));
  const today = Math.floor(Date.now() / dayMs) * dayMs;
  const bars = Array.from({ length: shownDays }, (_, index) => {
    const startMs = today - (shownDays - 1 - index) * dayMs;
    return { startMs, events: byDay.get(startMs)?.events ?? 0, errors: 0 };
  });
  const repeats = days.reduce((sum, day) => sum + day.repeats, 0);
  return (
    <div className="grid items-start gap-4 lg:grid-cols-[2fr_1fr]">
      <Card title="Last 30 days, UTC">
        <EventBars counts={bars} bucketMs={dayMs} hasErrors={false} areDays />
        {repeats > 0 && (
          <p className="mt-2 text-faint text-xs">
            {formatCount(repeats)} repeated events were received. They are neither stored again nor counted.
          </p>
        )}
      </Card>
      <Card title="Months" isFlush>
        <Table
          caption="Events by month"
          empty="Nothing was stored yet."
          rows={months}
          keyOf={({ month }) => month}
          columns={[
            { title: 'Month', cell: ({ month }) => month },
            { title: 'Events', isNumber: true, cell: ({ events }) => formatCount(events) },
          ]}
        />
      </Card>
    </div>
  );
}

/** Groups with a row of their own: as many as a chart has. */
const groupsMax = 50;

/** The month's events and costs by model, or by what the address names: whose usage it is. */
function UsageByGroup({ usage: { month, monthlyEventLimit } }: { usage: Output<'usage.current'> }) {
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
