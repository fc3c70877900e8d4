import 'uplot/dist/uPlot.min.css';
import { useMemo } from 'react';
import { formatCount, formatCounted } from '../format/number.ts';
import { dayMs, formatEnd, formatTick, hourMs, minuteMs } from '../format/time.ts';
import { useZone } from '../settings/settings.ts';
import { classes } from '../ui/classes.ts';
import type { TimeSeries } from './time-series.ts';
import { type TimeSpan, useChart } from './use-chart.ts';

export interface EventCount {
  startMs: number;
  events: number;
  errors: number;
  isEstimate?: boolean;
}

/** The height of the figure, reserved until its data arrives: what is below would move under the mouse. */
export const eventBarsHeight = 'h-23.5';
const drawingPixels = 74;

/** The least part of the height of a count above zero: one error among thousands of events is visible. */
const visibleShare = 0.035;

interface EventBarsProps {
  counts: readonly EventCount[];
  bucketMs: number;
  onRange?: (range: TimeSpan, isBar: boolean) => void;
  /** Whether errors are counted, too. */
  hasErrors?: boolean;
  /** The bars are UTC days, whatever the time zone setting is. */
  areDays?: boolean;
}

/** Events over time, errors at the bottom of each bar. A drag selects a range, a click a bar; so do keys. */
export function EventBars({ counts, bucketMs, onRange, hasErrors = true, areDays = false }: EventBarsProps) {
  const shownZone = useZone();
  const zone = areDays ? 'UTC' : shownZone;
  const { starts, series } = useMemo(() => drawCounts(counts), [counts]);
  const first = starts[0] ?? 0;
  const end = first + counts.length * bucketMs;
  const { bucket, chosen, box } = useChart({
    starts,
    end,
    series,
    zone,
    kind: 'bars',
    format: formatCount,
    isWhole: true,
    isBare: true,
    height: drawingPixels,
    onRange,
  });
  const nameTime = (ms: number) =>
    areDays ? formatTick(ms, end - first, 'UTC') : formatEnd(ms, end - first);
  const nameSpan = ({ from, to }: TimeSpan) => `${nameTime(from)} – ${nameTime(to)}`;
  const shown = counts[bucket ?? -1];
  const caption = shown
    ? `${nameTime(shown.startMs)}: ${describeCount(shown, hasErrors)}`
    : describeAll(counts, bucketMs, hasErrors);
  const range = nameSpan(chosen ?? { from: first, to: areDays ? end - bucketMs : end });
  const last = Math.max(0, counts.length - 1);
  const slider = {
    role: 'slider',
    tabIndex: 0,
    'aria-label': 'Events over time: arrow keys choose a bar, with Shift a range, and Enter shows it',
    'aria-valuemin': 0,
    'aria-valuemax': last,
    'aria-valuenow': bucket ?? last,
    'aria-valuetext': chosen === undefined ? caption : `${nameSpan(chosen)}, ${caption}`,
  };
  return (
    <figure className={eventBarsHeight}>
      <figcaption className="flex h-5 items-center justify-between text-faint text-xs">
        <span>{caption}</span>
        <span className="max-md:hidden">{range}</span>
      </figcaption>
      <div
        {...box}
        {...(onRange === undefined ? { 'aria-hidden': true } : slider)}
        className={classes('w-full', onRange && '[&_.u-over]:cursor-crosshair')}
      />
    </figure>
  );
}

/** Errors below the other events, each as high as can be seen. The caption has the exact counts. */
function drawCounts(counts: readonly EventCount[]): { starts: number[]; series: TimeSeries[] } {
  const least = Math.max(1, ...counts.map(({ events }) => events)) * visibleShare;
  const visible = (count: number) => (count === 0 ? 0 : Math.max(count, least));
  return {
    starts: counts.map(({ startMs }) => startMs),
    series: [
      { label: 'Errors', color: 'color-bad-line', values: counts.map(({ errors }) => visible(errors)) },
      {
        label: 'Events',
        color: 'color-bar',
        values: counts.map(({ events, errors }) => Math.max(0, visible(events) - visible(errors))),
      },
    ],
  };
}

function describeCount(count: Omit<EventCount, 'startMs'>, hasErrors: boolean): string {
  const errors = hasErrors ? `, ${formatCounted(count.errors, 'error')}` : '';
  return `${count.isEstimate ? 'about ' : ''}${formatCounted(count.events, 'event')}${errors}`;
}

const bucketNames = new Map([
  [minuteMs, 'a minute'],
  [hourMs, 'an hour'],
  [dayMs, 'a day'],
]);

function describeAll(counts: readonly EventCount[], bucketMs: number, hasErrors: boolean): string {
  const sum = (of: (count: EventCount) => number) => counts.reduce((total, count) => total + of(count), 0);
  const events = sum((count) => count.events);
  const isEstimate = counts.some((count) => count.isEstimate);
  const all = describeCount({ events, errors: sum(({ errors }) => errors), isEstimate }, hasErrors);
  const max = Math.max(0, ...counts.map((count) => count.events));
  return events === 0 ? all : `${all}; at most ${formatCount(max)} ${bucketNames.get(bucketMs) ?? 'a bar'}`;
}
