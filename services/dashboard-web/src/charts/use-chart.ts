import { type KeyboardEvent, useEffect, useRef, useState } from 'react';
import type uPlot from 'uplot';
import { type BucketChoice, bucketsOf, moveChoice } from './bucket-choice.ts';
import { useScheme } from './colors.ts';
import { drawPlot, type Plot } from './plot.ts';
import type { TimeSeries } from './time-series.ts';

export interface TimeSpan {
  from: number;
  to: number;
}

export interface ChartOptions extends Omit<Plot, 'onCursor' | 'onRange'> {
  /** The height of the drawing, in pixels. */
  height: number;
  /** Called with a range that was dragged, clicked or chosen by keyboard; `isBucket`: it is one bucket. */
  onRange?: ((range: TimeSpan, isBucket: boolean, series?: TimeSeries) => void) | undefined;
}

/**
 * A chart whose buckets can be chosen: by a drag or a click, or by the arrow keys, with Shift for a range,
 * and Enter. `box` are the properties of the element that it is drawn into. `bucket` is the bucket at the
 * cursor, and `chosen` the range that the keys have marked.
 */
export function useChart({ height, onRange, ...options }: ChartOptions) {
  const { starts, end } = options;
  const plot = useRef<uPlot>(undefined);
  const [bucket, setBucket] = useState<number>();
  const [choice, choose] = useState<BucketChoice>();
  const box = usePlot(plot, { ...options, height, onRange, onCursor: setBucket });
  const spanOf = (buckets: BucketChoice): TimeSpan => {
    const { from, to } = bucketsOf(buckets);
    return { from: starts[from] ?? 0, to: starts[to] ?? end };
  };
  const onKeyDown = (event: KeyboardEvent) => {
    // The pointer may have moved the cursor meanwhile.
    const current =
      choice?.head === bucket ? choice : bucket !== undefined && { anchor: bucket, head: bucket };
    if (event.key === 'Enter' && current) {
      event.preventDefault();
      choose(undefined);
      return onRange?.(spanOf(current), current.anchor === current.head);
    }
    const next = moveChoice(current || undefined, event, starts.length);
    if (next === undefined) return;
    event.preventDefault();
    choose(next);
    setBucket(next.head);
    showChoice(plot.current, spanOf(next), {
      head: starts[next.head] ?? 0,
      isRange: next.anchor !== next.head,
    });
  };
  const onBlur = () => {
    choose(undefined);
    setBucket(undefined);
  };
  return {
    bucket,
    chosen: choice !== undefined && choice.anchor !== choice.head ? spanOf(choice) : undefined,
    box: { ref: box, style: { height }, onKeyDown, onBlur },
  };
}

/** Draws the chart into the element of the returned ref, again when its data, size or theme changes. */
function usePlot(
  plot: { current: uPlot | undefined },
  { height, onRange, onCursor, ...options }: ChartOptions & Pick<Plot, 'onCursor'>,
) {
  const scheme = useScheme();
  const box = useRef<HTMLDivElement>(null);
  const report = useRef(onRange);
  report.current = onRange;
  const { starts, end, series, kind, format, isWhole, isBare, zone } = options;
  // biome-ignore lint/correctness/useExhaustiveDependencies: a canvas has the colours of the theme it was painted in.
  useEffect(() => {
    const element = box.current;
    if (element === null) return;
    const size = () => ({ width: element.clientWidth, height });
    const drawn = drawPlot(
      element,
      { ...options, onCursor, onRange: (...chosen) => report.current?.(...chosen) },
      size(),
    );
    plot.current = drawn;
    const resized = new ResizeObserver(() => drawn.setSize(size()));
    resized.observe(element);
    return () => {
      resized.disconnect();
      drawn.destroy();
    };
  }, [starts, end, series, kind, format, isWhole, isBare, zone, scheme]);
  return box;
}

/** Moves the cursor to a bucket chosen by keyboard, and marks its range. */
function showChoice(
  plot: uPlot | undefined,
  { from, to }: TimeSpan,
  { head, isRange }: { head: number; isRange: boolean },
): void {
  if (plot === undefined) return;
  const left = (ms: number) => plot.valToPos(ms / 1_000, 'x');
  plot.setCursor({ left: left(head) + 1, top: 0 }, false);
  const width = isRange ? left(to) - left(from) : 0;
  plot.setSelect({ left: left(from), width, top: 0, height: plot.over.clientHeight }, false);
}
