import type { Output } from '../../api/query.ts';
import { EventBars } from '../../charts/event-bars.tsx';
import { formatCount } from '../../format/number.ts';
import { dayMs } from '../../format/time.ts';
import { useSpaceQuery } from '../../space/use-space-query.ts';
import { Table } from '../../table/table.tsx';
import { Loaded, together } from '../../ui/loaded.tsx';
import { Card, Page } from '../../ui/page.tsx';
import { PlanCard } from './plan-card.tsx';
import { UsageByGroup } from './usage-by-group.tsx';

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
