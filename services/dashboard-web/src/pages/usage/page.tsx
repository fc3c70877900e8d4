import { useQuery } from '@tanstack/react-query';
import { apiQuery } from '../../api/query.ts';
import { Bars } from '../../charts/bars.tsx';
import { formatCount } from '../../format/number.ts';
import { dayMs } from '../../format/time.ts';
import { useSpace } from '../../space/space.ts';
import { Card, Page } from '../../ui/page.tsx';
import { FailureNotice, Loading } from '../../ui/states.tsx';
import { Table } from '../../ui/table.tsx';
import { PlanCard } from './plan-card.tsx';

/** The month's usage, the limit, and the effect of reaching it. */
export function UsagePage() {
  const { id: spaceId } = useSpace();
  const { data, error, refetch } = useQuery(apiQuery('usage.current', { spaceId }));
  return (
    <Page
      title="Usage & plan"
      subtitle="Each stored event counts once, in the UTC month in which it was stored."
    >
      {error !== null ? (
        <FailureNotice error={error} onRetry={() => void refetch()} />
      ) : data === undefined ? (
        <Loading />
      ) : (
        <div className="flex flex-col gap-4">
          <PlanCard usage={data} />
          <UsageDays />
        </div>
      )}
    </Page>
  );
}

const shownDays = 30;

/** Usage of the last days and months. */
function UsageDays() {
  const { id: spaceId } = useSpace();
  const days = useQuery(apiQuery('usage.daily', { spaceId }));
  const months = useQuery(apiQuery('usage.months', { spaceId }));
  const error = days.error ?? months.error;
  if (error !== null) return <FailureNotice error={error} isSmall />;
  if (days.data === undefined || months.data === undefined) return <Loading />;
  const byDay = new Map(days.data.map((day) => [Date.parse(day.day), day]));
  const today = Math.floor(Date.now() / dayMs) * dayMs;
  const bars = Array.from({ length: shownDays }, (_, index) => {
    const startMs = today - (shownDays - 1 - index) * dayMs;
    return { startMs, events: byDay.get(startMs)?.events ?? 0, errors: 0 };
  });
  const repeats = days.data.reduce((sum, day) => sum + day.repeats, 0);
  return (
    <div className="grid items-start gap-4 lg:grid-cols-[2fr_1fr]">
      <Card title="Last 30 days, UTC">
        <Bars bars={bars} bucketMs={dayMs} hasErrors={false} areDays />
        {repeats > 0 && (
          <p className="mt-2 text-faint text-xs">
            {formatCount(repeats)} repeated events were received. They are neither stored again nor counted.
          </p>
        )}
      </Card>
      <Card title="Months" isFlush>
        <Table
          caption="Events by month"
          rows={months.data}
          keyOf={({ month }) => month}
          columns={[
            { title: 'Month', cell: ({ month }) => month },
            { title: 'Events', isNumber: true, cell: ({ events }) => formatCount(events) },
          ]}
        />
        {months.data.length === 0 && <p className="px-4 py-3 text-muted text-sm">Nothing was stored yet.</p>}
      </Card>
    </div>
  );
}
