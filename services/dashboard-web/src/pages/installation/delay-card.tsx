import { useQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { apiQuery, type Output } from '../../api/query.ts';
import { useInterval } from '../../api/use-interval.ts';
import { TimeChart } from '../../charts/time-chart.tsx';
import type { TimeSeries } from '../../charts/time-series.ts';
import { formatCounted, formatDuration } from '../../format/number.ts';
import { dayMs, hourMs, minuteMs } from '../../format/time.ts';
import { keepsData, useKept } from '../../space/use-space-query.ts';
import { Button } from '../../ui/button.tsx';
import { SelectField } from '../../ui/field.tsx';
import { QueryCard } from '../../ui/page.tsx';
import { followed } from './followed.ts';

type Delays = Output<'operator.delays'>;

const ranges = {
  '6h': { label: 'Last 6 hours', ms: 6 * hourMs },
  '24h': { label: 'Last 24 hours', ms: dayMs },
  '7d': { label: 'Last 7 days', ms: 7 * dayMs },
  '30d': { label: 'Last 30 days', ms: 30 * dayMs },
} as const;
type Range = keyof typeof ranges;

/** How long events took from their receipt until they were stored, over time. */
export function DelayCard() {
  const [range, setRange] = useState<Range>('6h');
  const [to, setTo] = useState(nextMinute);
  useInterval(() => setTo(nextMinute()), minuteMs);
  const [zoom, setZoom] = useState<{ from: number; to: number }>();
  const shown = zoom ?? { from: to - ranges[range].ms, to };
  const query = useKept(useQuery({ ...apiQuery('operator.delays', shown), ...followed, ...keepsData }));
  return (
    <QueryCard
      title="Accepted to visible, all spaces"
      query={query}
      actions={
        <>
          {zoom !== undefined && <Button size="small" onClick={() => setZoom(undefined)} text="Zoom out" />}
          <SelectField
            label="Range"
            isLabelHidden
            options={Object.entries(ranges).map(([value, { label }]) => ({ value: value as Range, label }))}
            value={range}
            onChange={(chosen) => {
              setRange(chosen);
              setZoom(undefined);
            }}
            className="w-36"
          />
        </>
      }
    >
      {(delays) => <DelayChart delays={delays} {...shown} onZoom={setZoom} />}
    </QueryCard>
  );
}

interface DelayChartProps {
  delays: Delays;
  from: number;
  to: number;
  onZoom: (range: { from: number; to: number }) => void;
}

function DelayChart({ delays, from, to, onZoom }: DelayChartProps) {
  const { spanMs, total } = delays;
  const { starts, series } = useMemo(() => drawDelays(delays, { from, to }), [delays, from, to]);
  return (
    <>
      <p className="mb-2 text-muted text-sm">
        {total.p50Ms === null || total.p99Ms === null
          ? 'No events were stored in this range.'
          : `${formatCounted(total.events, 'event')}: half of them were visible within ${formatDuration(total.p50Ms)}, 99% within ${formatDuration(total.p99Ms)}.`}
      </p>
      <TimeChart
        name="Accepted to visible"
        starts={starts}
        end={(starts.at(-1) ?? to) + spanMs}
        series={series}
        kind="lines"
        format={formatDuration}
        onZoom={onZoom}
      />
    </>
  );
}

/** None where nothing was stored. */
export function drawDelays(
  { spanMs, points }: Delays,
  { from, to }: { from: number; to: number },
): { starts: number[]; series: TimeSeries[] } {
  const first = Math.floor(from / spanMs) * spanMs;
  const starts = Array.from(
    { length: Math.ceil((to - first) / spanMs) },
    (_, index) => first + index * spanMs,
  );
  const byStart = new Map(points.map((point) => [point.startMs, point]));
  return {
    starts,
    series: [
      { label: 'p50', color: 'series-1', values: starts.map((start) => byStart.get(start)?.p50Ms ?? null) },
      { label: 'p99', color: 'series-3', values: starts.map((start) => byStart.get(start)?.p99Ms ?? null) },
    ],
  };
}

const nextMinute = () => Math.ceil(Date.now() / minuteMs) * minuteMs;
