import './valid-language.ts';
import uPlot from 'uplot';
import { browserZone, dayTicksMsMin, formatTick, type Zone } from '../format/time.ts';
import { resolveColor } from './colors.ts';
import { findLonely, snapToBuckets, stackValues, type TimeSeries } from './time-series.ts';

export interface Plot {
  starts: readonly number[];
  end: number;
  series: readonly TimeSeries[];
  kind: 'bars' | 'lines';
  format: (value: number) => string;
  /** The values are counts: an axis of them has whole numbers only. */
  isWhole: boolean;
  /** Without the axis of the values, for charts whose exact values stand beside them. */
  isBare: boolean;
  zone: Zone;
  onCursor: (bucket: number | undefined) => void;
  /** With the series under a click on a bucket, if there is one. */
  onRange: (range: { from: number; to: number }, isBucket: boolean, series?: TimeSeries) => void;
}

/** A shorter drag is a click, in pixels. A line is clicked within so many. */
const dragPixelsMin = 6;
const nearPixels = 12;
const wholeSteps = Array.from({ length: 15 }, (_, power) =>
  [1, 2, 5].map((step) => step * 10 ** power),
).flat();
/** Steps between ticks that are named by day, in seconds. */
const daySteps = [1, 2, 3, 7, 14, 30, 61, 91, 182, 365].map((days) => days * 86_400);
const axisFont = '11px ui-sans-serif, system-ui, sans-serif';

/** Draws a chart over time into an element. uPlot counts time in seconds. */
export function drawPlot(element: HTMLElement, plot: Plot, size: { width: number; height: number }): uPlot {
  const { starts, end, series, kind } = plot;
  const zoneName = plot.zone ?? browserZone();
  const isStacked = kind === 'bars';
  const [before, now] = [
    series.filter(({ isBefore }) => isBefore),
    series.filter(({ isBefore }) => !isBefore),
  ];
  const drawn = [...(isStacked ? now.toReversed() : now), ...before];
  const tops = isStacked ? stackValues(now.map((one) => one.values)) : now.map((one) => one.values);
  const values = [...tops, ...before.map((one) => one.values)];
  const options: uPlot.Options = {
    ...size,
    legend: { show: false },
    // Half of the name of a tick fits on the right.
    padding: plot.isBare ? [2, 0, 0, 0] : [8, 20, 0, 0],
    tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1_000), zoneName),
    scales: {
      x: { time: true, range: () => [(starts[0] ?? 0) / 1_000, end / 1_000] },
      y: { range: (_, __, max) => [0, max > 0 ? max * 1.08 : 1] },
    },
    cursor: {
      y: false,
      points: { show: !isStacked },
      drag: { x: true, y: false, setScale: false },
      // The bucket under the pointer, not the one whose start is nearest.
      dataIdx: (self, _, nearest, value) =>
        isStacked && nearest > 0 && value < (self.data[0][nearest] ?? 0) ? nearest - 1 : nearest,
    },
    series: [{}, ...drawn.map((one) => describeSeries(one, isStacked))],
    axes: describeAxes(plot),
    hooks: {
      setCursor: [(self) => plot.onCursor(self.cursor.idx ?? undefined)],
      setSelect: [
        (self) => {
          const { left, width } = self.select;
          if (width < dragPixelsMin) return;
          const toMs = (pixel: number) => Math.round(self.posToVal(pixel, 'x') * 1_000);
          self.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
          plot.onRange(snapToBuckets(starts, end, { from: toMs(left), to: toMs(left + width) }), false);
        },
      ],
    },
  };
  const data: uPlot.AlignedData = [starts.map((start) => start / 1_000), ...values.map((one) => [...one])];
  const chart = new uPlot(options, data, element);
  reportClicks(chart, plot, drawn);
  return chart;
}

/** A click without a drag chooses the bucket under the pointer, and the bar, or the line beside it. */
function reportClicks(
  chart: uPlot,
  { starts, end, kind, onRange }: Plot,
  drawn: readonly TimeSeries[],
): void {
  const { over, cursor } = chart;
  let downX = 0;
  over.addEventListener('mousedown', ({ clientX }) => {
    downX = clientX;
  });
  over.addEventListener('click', ({ clientX }) => {
    const { idx = null, top = 0 } = cursor;
    const from = idx === null ? undefined : starts[idx];
    if (idx === null || from === undefined || Math.abs(clientX - downX) >= dragPixelsMin) return;
    const heights = drawn.map((_, place) => {
      const value = chart.data[place + 1]?.[idx];
      return value == null ? Number.NaN : chart.valToPos(value, 'y') - top;
    });
    // Bars of a stack are drawn from the top: the last one that reaches the pointer is seen.
    const place =
      kind === 'bars'
        ? heights.findLastIndex((height, at) => height <= 0 && drawn[at]?.isBefore !== true)
        : heights.findIndex(
            (height) =>
              Math.abs(height) <= Math.min(nearPixels, ...heights.map(Math.abs).filter(Number.isFinite)),
          );
    onRange({ from, to: starts[idx + 1] ?? end }, true, drawn[place]);
  });
}

function describeSeries(
  { label, color, values, isBefore = false }: TimeSeries,
  isStacked: boolean,
): uPlot.Series {
  const resolved = resolveColor(color);
  const paths = isStacked ? uPlot.paths.bars?.({ size: [0.92, 64], align: 1 }) : uPlot.paths.linear?.();
  const isFilled = isStacked && !isBefore;
  return {
    label,
    stroke: resolved,
    ...(isFilled && { fill: resolved }),
    width: isFilled ? 0 : isBefore ? 1.25 : 1.75,
    ...(isBefore && { dash: [4, 3] }),
    // A line needs two neighbours: a value between gaps is a dot.
    points: { show: !isStacked, filter: () => findLonely(values), size: 5, fill: resolved },
    // A bucket without events has no duration: a line across it would claim one.
    spanGaps: false,
    ...(paths && { paths }),
  };
}

/** The names of ticks; a name that stands already at the tick before is left out. */
function nameOnce(names: readonly string[]): string[] {
  return names.map((name, place) => (name === names[place - 1] ? '' : name));
}

/** Half of a letter of a tick's name, in pixels. */
const halfLetter = 3.2;

/** Whether the name of a tick reaches beyond a chart that has no room beside it. */
function isCut(chart: uPlot, split: number, name: string): boolean {
  const [at, half] = [chart.valToPos(split, 'x'), name.length * halfLetter];
  return at < half || at > chart.width - half;
}

function describeAxes({ starts, end, format, zone, isWhole, isBare }: Plot): uPlot.Axis[] {
  const look = {
    font: axisFont,
    stroke: resolveColor('color-faint'),
    grid: { stroke: resolveColor('color-line'), width: 1 },
    ticks: { show: false },
  };
  const lengthMs = end - (starts[0] ?? 0);
  return [
    {
      ...look,
      grid: { show: false },
      size: isBare ? 18 : 28,
      gap: isBare ? 2 : 5,
      border: { show: isBare, stroke: resolveColor('color-line'), width: 1 },
      space: 70,
      // Where ticks are named by day, one a day at most: more would repeat the name.
      ...(lengthMs > dayTicksMsMin && { incrs: daySteps }),
      values: (self, splits) =>
        nameOnce(splits.map((split) => formatTick(split * 1_000, lengthMs, zone))).map((name, place) =>
          isBare && isCut(self, splits[place] ?? 0, name) ? '' : name,
        ),
    },
    {
      ...look,
      show: !isBare,
      size: 54,
      space: 36,
      values: (_, splits) => splits.map(format),
      // Counts have no fractions.
      ...(isWhole && { incrs: wholeSteps }),
    },
  ];
}
