import 'uplot/dist/uPlot.min.css';
import { Link } from '@tanstack/react-router';
import { type KeyboardEvent, useEffect, useRef, useState } from 'react';
import type uPlot from 'uplot';
import { formatTime } from '../format/time.ts';
import { useSettings } from '../settings/settings.ts';
import { useSpace } from '../space/space.ts';
import { describeText } from '../text/marks.ts';
import { classes } from '../ui/classes.ts';
import type { Search } from '../url/search.ts';
import { type ColorName, useScheme } from './colors.ts';
import { drawPlot } from './plot.ts';
import type { TimeSeries } from './time-series.ts';
import { type BarChoice, barRange, moveChoice } from './use-bar-selection.ts';

const heightPixels = 190;

interface TimeChartProps {
  /** What the chart shows, for screen readers. */
  name: string;
  starts: readonly number[];
  end: number;
  series: readonly TimeSeries[];
  kind: 'bars' | 'lines';
  format: (value: number) => string;
  /** The values are counts. */
  isWhole?: boolean;
  onZoom: (range: { from: number; to: number }) => void;
}

/**
 * A chart over time: stacked bars, or lines. Dragging selects a range; the arrow keys move a cursor, with Shift they select a range,
 * and Enter shows it. Screen readers read the values at the cursor. A table beside the chart has the same values.
 */
export function TimeChart(chart: TimeChartProps) {
  const { name, starts, end, series, format, onZoom } = chart;
  const { zone } = useSettings();
  const { box, plot, bucket, setBucket } = usePlot(chart);
  const last = starts.length - 1;
  const [chosen, choose] = useState<BarChoice>();
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Enter' && chosen !== undefined) {
      const { from, to } = barRange(chosen);
      choose(undefined);
      return onZoom({ from: starts[from] ?? 0, to: starts[to] ?? end });
    }
    // The pointer may have moved the cursor meanwhile.
    const current =
      chosen?.head === bucket ? chosen : bucket !== undefined && { anchor: bucket, head: bucket };
    const next = moveChoice(current || undefined, event, starts.length);
    if (next === undefined) return;
    event.preventDefault();
    choose(next);
    setBucket(next.head);
    showChoice(plot.current, starts, end, next);
  };
  const shown = bucket ?? last;
  const at = formatTime(starts[shown] ?? 0, zone).slice(0, 16);
  const values = series.map(({ label, color, values, events }) => {
    const value = values[shown];
    return {
      label: describeText(label),
      color,
      events,
      text: value === null || value === undefined ? '–' : format(value),
    };
  });
  return (
    <div className="relative">
      <Legend values={values} range={{ from: String(starts[0] ?? 0), to: String(end) }} />
      {bucket !== undefined && <Readout at={at} values={values} isLeft={bucket > last / 2} />}
      <div
        ref={box}
        role="slider"
        tabIndex={0}
        aria-label={name}
        aria-valuemin={0}
        aria-valuemax={Math.max(0, last)}
        aria-valuenow={Math.max(0, shown)}
        aria-valuetext={`${at}: ${values.map(({ label, text }) => `${label} ${text}`).join(', ')}`}
        className="w-full"
        style={{ height: heightPixels }}
        onKeyDown={onKeyDown}
      />
    </div>
  );
}

/** Draws the chart into `box`, again when its data, its size or the theme changes. `bucket` is the one at the cursor. */
function usePlot({ starts, end, series, kind, format, isWhole = false, onZoom }: TimeChartProps) {
  const { zone } = useSettings();
  const scheme = useScheme();
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot>(undefined);
  const [bucket, setBucket] = useState<number>();
  const zoom = useRef(onZoom);
  zoom.current = onZoom;
  // biome-ignore lint/correctness/useExhaustiveDependencies: a canvas has the colours of the theme it was painted in.
  useEffect(() => {
    const element = box.current;
    if (element === null) return;
    const drawn = drawPlot(
      element,
      {
        starts,
        end,
        series,
        kind,
        format,
        isWhole,
        zone,
        onCursor: setBucket,
        onZoom: (range) => zoom.current(range),
      },
      { width: element.clientWidth, height: heightPixels },
    );
    plot.current = drawn;
    const resized = new ResizeObserver(() =>
      drawn.setSize({ width: element.clientWidth, height: heightPixels }),
    );
    resized.observe(element);
    return () => {
      resized.disconnect();
      drawn.destroy();
    };
  }, [starts, end, series, kind, format, isWhole, zone, scheme]);
  return { box, plot, bucket, setBucket };
}

/** Moves the cursor of a chart to a choice by keyboard, and marks its range. */
function showChoice(
  plot: uPlot | undefined,
  starts: readonly number[],
  end: number,
  choice: BarChoice,
): void {
  if (plot === undefined) return;
  const left = (place: number) => plot.valToPos((starts[place] ?? end) / 1_000, 'x');
  const { from, to } = barRange(choice);
  plot.setCursor({ left: left(choice.head) + 1, top: 0 }, false);
  const isRange = to - from > 1;
  const width = isRange ? left(to) - left(from) : 0;
  plot.setSelect({ left: left(from), width, top: 0, height: plot.over.clientHeight }, false);
}

interface ShownValue {
  label: string;
  color: ColorName;
  events: Search | undefined;
  text: string;
}

/** The series and their colours. A name opens the events of its series. */
function Legend({ values, range }: { values: readonly ShownValue[]; range: Search }) {
  return (
    <ul className="mb-1 flex min-h-5 flex-wrap items-center gap-x-3 gap-y-0.5 text-muted text-xs">
      {values.map(({ label, color, events }) => (
        <li key={label} className="flex min-w-0 items-center gap-1.5">
          <Swatch color={color} />
          {events === undefined ? (
            <span className="max-w-40 truncate">{label}</span>
          ) : (
            <EventsLink label={label} search={{ ...events, ...range }} />
          )}
        </li>
      ))}
    </ul>
  );
}

/** Only in charts of a space. */
function EventsLink({ label, search }: { label: string; search: Search }) {
  const { id: spaceId } = useSpace();
  return (
    <Link
      to="/s/$spaceId/events"
      params={{ spaceId }}
      search={search}
      title={`Show events: ${label}`}
      className="max-w-40 truncate hover:text-ink hover:underline"
    >
      {label}
    </Link>
  );
}

/** The values at the cursor, over the half of the chart without the cursor: below or above it they would move the page. */
function Readout({ at, values, isLeft }: { at: string; values: readonly ShownValue[]; isLeft: boolean }) {
  return (
    <ul
      aria-hidden
      className={classes(
        'pointer-events-none absolute top-6 z-10 flex max-w-[48%] flex-col gap-0.5 rounded-md bg-raised px-2 py-1.5 text-muted text-xs shadow-pop',
        isLeft ? 'left-14' : 'right-2',
      )}
    >
      <li className="font-medium text-ink">{at}</li>
      {values.map(({ label, color, text }) => (
        <li key={label} className="flex min-w-0 items-center gap-1.5">
          <Swatch color={color} />
          <span className="min-w-0 flex-1 truncate">{label}</span>
          <span className="font-medium text-ink">{text}</span>
        </li>
      ))}
    </ul>
  );
}

function Swatch({ color }: { color: ColorName }) {
  return (
    <span aria-hidden className="size-2 shrink-0 rounded-xs" style={{ backgroundColor: `var(--${color})` }} />
  );
}
