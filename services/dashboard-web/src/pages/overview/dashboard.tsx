import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useEffect, useMemo, useRef, useState } from 'react';
import type { Input } from '../../api/paths.ts';
import { apiQuery } from '../../api/query.ts';
import { useInterval } from '../../api/use-interval.ts';
import { Bars } from '../../charts/bars.tsx';
import { readRange } from '../../charts/range.ts';
import { useStored } from '../../event/use-stored.ts';
import { rangeOf } from '../../filter/conditions.ts';
import { NewestEvent } from '../../filter/newest-event.tsx';
import { RangeField } from '../../filter/range-field.tsx';
import { useFilter } from '../../filter/use-filter.ts';
import { dayMs, hourMs, minuteMs } from '../../format/time.ts';
import { useSettings } from '../../settings/settings.ts';
import { useSpace } from '../../space/space.ts';
import { Card } from '../../ui/page.tsx';
import { FailureNotice, Loading } from '../../ui/states.tsx';
import { ErrorList } from './error-list.tsx';
import { Figures, QuotaCard } from './figures.tsx';
import { TopList } from './top-list.tsx';

/** Models and tools that the lists are sorted among. */
const topMax = 50;
const stepMs = { minute: minuteMs, hour: hourMs, day: dayMs };

/** Figures of the range, events over time, the models and tools with the most events, and errors by message. */
export function Dashboard() {
  const { id: spaceId } = useSpace();
  const { zone } = useSettings();
  const { search, set } = useFilter();
  const navigate = useNavigate();
  const now = useFresh();
  const range = useMemo(() => readRange(search, now, '24h', zone), [search, now, zone]);
  const timeZone = zone ?? Intl.DateTimeFormat().resolvedOptions().timeZone;
  const usage = useQuery(apiQuery('usage.current', { spaceId }));
  const { all, models, tools, costs, delays } = useFigures({ spaceId, ...range, timeZone });
  const error = all.error ?? models.error ?? tools.error;
  if (error !== null) return <FailureNotice error={error} onRetry={() => void all.refetch()} isSmall />;
  const isLoading = all.data === undefined || models.data === undefined || tools.data === undefined;
  // As high as the window, and until the quota is known, which may be shown first: the page does not move under the mouse.
  if (isLoading || usage.isPending)
    return (
      <div className="min-h-svh">
        <Loading rows={8} />
      </div>
    );
  const chosen = rangeOf(search);
  const shown = Object.keys(chosen).length === 0 ? { last: '24h' } : chosen;
  const points = new Map(all.data.series[0]?.points.map((point) => [point.bucket, point]));
  const bars = all.data.starts.map((startMs, bucket) => ({
    startMs,
    events: points.get(bucket)?.events ?? 0,
    errors: points.get(bucket)?.errors ?? 0,
  }));
  const openList = (from: number, to: number) =>
    void navigate({
      to: '/s/$spaceId/events',
      params: { spaceId },
      search: { from: String(from), to: String(to) },
    });
  return (
    <div className="flex flex-col gap-4">
      <QuotaCard place="first" />
      <Figures total={all.data.series[0]?.total} costs={costs.data?.total} delays={delays.data} />
      <Card title="Events over time" actions={<RangeField search={search} fallback="24h" onChange={set} />}>
        <Bars
          bars={bars}
          bucketMs={stepMs[range.step]}
          onRange={(from, to, isBar) => {
            if (isBar) openList(from, to);
            else set({ last: undefined, from: String(from), to: String(to) });
          }}
        />
        {all.data.series.length === 0 && (
          <p className="mt-2 text-center text-muted text-sm">
            <NewestEvent />
          </p>
        )}
      </Card>
      <TopList type="llm" series={models.data.series} costs={costs.data?.models} range={shown} />
      <div className="grid items-start gap-4 xl:grid-cols-2">
        <TopList type="tool" series={tools.data.series} range={shown} />
        <ErrorList from={range.from} to={range.to} range={shown} />
      </div>
      <QuotaCard place="last" />
    </div>
  );
}

/** What the page shows of a range. */
function useFigures(input: Input<'charts.events'> & Input<'charts.costs'>) {
  // While a new range is loaded, the previous figures stay.
  const kept = { placeholderData: keepPreviousData };
  const all = useQuery({ ...apiQuery('charts.events', input), ...kept });
  const models = useQuery({
    ...apiQuery('charts.events', { ...input, groupBy: 'model', groupsMax: topMax }),
    ...kept,
  });
  const tools = useQuery({
    ...apiQuery('charts.events', { ...input, groupBy: 'tool', groupsMax: topMax }),
    ...kept,
  });
  const costs = useQuery({ ...apiQuery('charts.costs', input), ...kept });
  const delays = useQuery({
    ...apiQuery('charts.delays', { spaceId: input.spaceId, from: input.from, to: input.to }),
    ...kept,
  });
  return { all, models, tools, costs, delays };
}

/** Queries of the overview that depend on events. */
const shownQueries = ['events.list', 'charts.events', 'charts.costs', 'charts.delays', 'usage.current'];

/** Shortest time between reloads while events arrive, and the poll interval without a live stream, in milliseconds. */
const restMs = 1_500;
const pollMs = 10_000;

/**
 * Reloads the queries of the overview when the live stream has events, immediately for the first one. Also when the stream starts:
 * events may have been stored since the page was loaded.
 *
 * @returns the time of the last reload, at which ranges that end now end.
 */
function useFresh(): number {
  const queries = useQueryClient();
  const [freshMs, setFreshMs] = useState(Date.now);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const refresh = () => {
    setFreshMs(Date.now());
    for (const path of shownQueries)
      void queries.invalidateQueries({ queryKey: [path], refetchType: 'active' });
  };
  const wait = useRef({ isResting: false, hasMore: false }).current;
  const onStored = (events: readonly unknown[]) => {
    if (wait.isResting) {
      wait.hasMore = true;
      return;
    }
    wait.isResting = true;
    refresh();
    timer.current = setTimeout(() => {
      wait.isResting = false;
      if (!wait.hasMore) return;
      wait.hasMore = false;
      onStored(events);
    }, restMs);
  };
  useEffect(() => () => clearTimeout(timer.current), []);
  const isFollowing = useStored({}, { isEnabled: true, onStored });
  useInterval(refresh, isFollowing ? undefined : pollMs);
  return freshMs;
}
