import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useMemo, useRef, useState } from 'react';
import type { Output } from '../../api/query.ts';
import { useInterval } from '../../api/use-interval.ts';
import { EventBars } from '../../charts/event-bars.tsx';
import { readRange } from '../../charts/range.ts';
import type { TimeSpan } from '../../charts/use-chart.ts';
import { useStored } from '../../event/use-stored.ts';
import { rangeOf } from '../../filter/conditions.ts';
import { NewestEvent } from '../../filter/newest-event.tsx';
import { useFilter } from '../../filter/use-filter.ts';
import { browserZone, dayMs, hourMs, minuteMs } from '../../format/time.ts';
import { useZone } from '../../settings/settings.ts';
import { useOpen } from '../../space/space.tsx';
import { dataBeside, keepsData, type SpaceInput, useSpaceQuery } from '../../space/use-space-query.ts';
import { Loaded, together } from '../../ui/loaded.tsx';
import { Card } from '../../ui/page.tsx';
import { ErrorList } from './error-list.tsx';
import { Figures, QuotaCard } from './figures.tsx';
import { TopList } from './top-list.tsx';

const topMax = 50;
const stepMs = { minute: minuteMs, hour: hourMs, day: dayMs };

/** @param props `isAway`: the API does not answer, and ranges that end now stay. */
export function Dashboard({ isAway }: { isAway: boolean }) {
  const zone = useZone();
  const { search } = useFilter();
  const now = useFresh(isAway);
  const range = useMemo(() => readRange(search, now, zone), [search, now, zone]);
  const timeZone = zone ?? browserZone();
  const { main, costs, delays } = useFigures({ ...range, timeZone });
  const [cost, delay] =
    main.error === null ? [dataBeside(costs), dataBeside(delays)] : [costs.data, delays.data];
  // The page says already that the API is away.
  const shownMain = isAway && main.data !== undefined ? { ...main, error: null } : main;
  const chosen = rangeOf(search);
  const shown = Object.keys(chosen).length === 0 ? { last: '24h' } : chosen;
  return (
    // As high as the window until the quota is known: the page does not move under the mouse.
    <Loaded query={shownMain} rows={8} isSmall frame={(state) => <div className="min-h-svh">{state}</div>}>
      {([all, models, tools, usage]) => (
        <div className="flex flex-col gap-4">
          <QuotaCard usage={usage} place="first" />
          <Figures total={all.series[0]?.total} costs={cost?.total} delays={delay} />
          <EventsCard chart={all} bucketMs={stepMs[range.step]} />
          <TopList type="llm" series={models.series} costs={cost?.models} range={shown} />
          <div className="grid items-start gap-4 xl:grid-cols-2">
            <TopList type="tool" series={tools.series} range={shown} />
            <ErrorList from={range.from} to={range.to} range={shown} />
          </div>
          <QuotaCard usage={usage} place="last" />
        </div>
      )}
    </Loaded>
  );
}

interface EventsCardProps {
  chart: Output<'charts.events'>;
  bucketMs: number;
}

/** A drag chooses the range of the page, a click on a bar lists its events. */
function EventsCard({ chart: { starts, series }, bucketMs }: EventsCardProps) {
  const { set } = useFilter();
  const openPage = useOpen();
  const counts = useMemo(() => {
    const points = new Map(series[0]?.points.map((point) => [point.bucket, point]));
    return starts.map((startMs, bucket) => ({ startMs, events: 0, errors: 0, ...points.get(bucket) }));
  }, [starts, series]);
  const onRange = (range: TimeSpan, isBar: boolean) => {
    const search = { from: String(range.from), to: String(range.to) };
    if (isBar) openPage({ page: 'events', search });
    else set({ last: undefined, ...search });
  };
  return (
    <Card title="Events over time">
      <EventBars counts={counts} bucketMs={bucketMs} onRange={onRange} />
      {series.length === 0 && (
        <p className="mt-2 text-center text-muted text-sm">
          <NewestEvent />
        </p>
      )}
    </Card>
  );
}

/** What the page shows of a range. While a new range is loaded, the previous figures stay. */
function useFigures(input: SpaceInput<'charts.events'> & SpaceInput<'charts.costs'>) {
  const { from, to } = input;
  const grouped = { ...input, groupsMax: topMax };
  const main = together(
    useSpaceQuery('charts.events', input, keepsData),
    useSpaceQuery('charts.events', { ...grouped, groupBy: 'model' }, keepsData),
    useSpaceQuery('charts.events', { ...grouped, groupBy: 'tool' }, keepsData),
    useSpaceQuery('usage.current', {}),
  );
  const costs = useSpaceQuery('charts.costs', input, keepsData);
  const delays = useSpaceQuery('charts.delays', { from, to }, keepsData);
  return { main, costs, delays };
}

/** Queries of the overview that depend on events. */
const shownQueries = ['events.list', 'charts.events', 'charts.costs', 'charts.delays', 'usage.current'];

/** Pause between reloads while events arrive, and the poll interval without a live stream. */
const restMs = 1_500;
const pollMs = 10_000;

/**
 * Reloads the overview when the live stream starts or has events, immediately for the first one.
 * @returns the time of the last reload, at which ranges that end now end.
 */
function useFresh(isAway: boolean): number {
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
  useInterval(refresh, isFollowing || isAway ? undefined : pollMs);
  return freshMs;
}
