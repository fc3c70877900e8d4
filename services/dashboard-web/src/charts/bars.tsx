import { type PointerEvent, useRef, useState } from 'react';
import { formatCount, formatCounted } from '../format/number.ts';
import { dayMs, formatEnd, formatTick, hourMs } from '../format/time.ts';
import { useSettings } from '../settings/settings.ts';
import { classes } from '../ui/classes.ts';
import { BarTicks } from './bar-ticks.tsx';

export interface Bar {
  startMs: number;
  events: number;
  errors: number;
  isEstimate?: boolean;
}

/** A shorter drag is a click, as a fraction of the width. */
const dragShareMin = 0.01;

/** Events over time, with errors at the bottom of each bar. A drag or a click on a bar selects a range. */
export function Bars({
  bars,
  bucketMs,
  onRange,
  hasErrors = true,
  areDays = false,
  className,
}: {
  bars: readonly Bar[];
  bucketMs: number;
  onRange?: (from: number, to: number) => void;
  /** Whether errors are counted, too. */
  hasErrors?: boolean;
  /** The bars are UTC days, whatever the time zone setting is. */
  areDays?: boolean;
  className?: string;
}) {
  const { zone } = useSettings();
  const area = useRef<HTMLDivElement>(null);
  const [drag, setDrag] = useState<{ from: number; to: number }>();
  const [hovered, setHovered] = useState<number>();
  const max = Math.max(1, ...bars.map(({ events }) => events));
  const first = bars[0]?.startMs ?? 0;
  const totalMs = bars.length * bucketMs;
  const shareAt = ({ clientX }: PointerEvent) => {
    const box = area.current?.getBoundingClientRect();
    return box === undefined ? 0 : Math.min(1, Math.max(0, (clientX - box.left) / box.width));
  };
  const onPointerDown = (event: PointerEvent) => {
    if (onRange === undefined) return;
    area.current?.setPointerCapture(event.pointerId);
    setDrag({ from: shareAt(event), to: shareAt(event) });
  };
  const onPointerMove = (event: PointerEvent) => {
    const at = shareAt(event);
    setHovered(Math.min(bars.length - 1, Math.floor(at * bars.length)));
    if (drag !== undefined) setDrag({ ...drag, to: at });
  };
  const onPointerUp = () => {
    if (drag === undefined) return;
    setDrag(undefined);
    const [left, right] = drag.from < drag.to ? [drag.from, drag.to] : [drag.to, drag.from];
    const isClick = right - left < dragShareMin;
    const from = first + Math.floor(left * bars.length) * bucketMs;
    const to = isClick ? from + bucketMs : first + Math.ceil(right * bars.length) * bucketMs;
    onRange?.(from, to);
  };
  const nameTime = (ms: number) => (areDays ? formatTick(ms, totalMs, 'UTC') : formatEnd(ms, totalMs, zone));
  const shown = hovered === undefined ? undefined : bars[hovered];
  const sum = bars.reduce((total, { events }) => total + events, 0);
  const errors = bars.reduce((total, bar) => total + bar.errors, 0);
  const describe = (count: Omit<Bar, 'startMs'>) =>
    `${count.isEstimate ? 'about ' : ''}${formatCounted(count.events, 'event')}${hasErrors ? `, ${formatCounted(count.errors, 'error')}` : ''}`;
  return (
    <figure className={className}>
      <figcaption className="flex h-5 items-center justify-between text-faint text-xs">
        <span>
          {shown === undefined
            ? `${describe({ events: sum, errors, isEstimate: bars.some(({ isEstimate }) => isEstimate) })}${sum === 0 ? '' : `; at most ${formatCount(max)} a ${bucketNames.get(bucketMs) ?? 'bar'}`}`
            : `${nameTime(shown.startMs)}: ${describe(shown)}`}
        </span>
        <span className="max-md:hidden">
          {nameTime(first)} – {nameTime(areDays ? first + totalMs - bucketMs : first + totalMs)}
        </span>
      </figcaption>
      <div
        ref={area}
        aria-hidden
        onPointerDown={onPointerDown}
        onPointerMove={onPointerMove}
        onPointerUp={onPointerUp}
        onPointerLeave={() => setHovered(undefined)}
        className={classes(
          'relative flex h-14 touch-none items-end gap-px select-none',
          onRange && 'cursor-crosshair',
        )}
      >
        {bars.map((bar, index) => (
          <BarShape key={bar.startMs} bar={bar} max={max} isHovered={index === hovered} />
        ))}
        {drag !== undefined && (
          <div
            className="pointer-events-none absolute inset-y-0 border-accent border-x bg-accent/15"
            style={{
              left: `${Math.min(drag.from, drag.to) * 100}%`,
              width: `${Math.abs(drag.to - drag.from) * 100}%`,
            }}
          />
        )}
      </div>
      <BarTicks bars={bars} name={(ms) => formatTick(ms, totalMs, areDays ? 'UTC' : zone)} />
    </figure>
  );
}

function BarShape({
  bar: { events, errors },
  max,
  isHovered,
}: {
  bar: Bar;
  /** The events of the highest bar. */
  max: number;
  isHovered: boolean;
}) {
  return (
    <div className={classes('flex h-full flex-1 flex-col justify-end', isHovered && 'bg-hover')}>
      {events > 0 && (
        <div
          className="flex min-h-[2px] flex-col overflow-hidden rounded-t-xs"
          style={{ height: `${(events / max) * 100}%` }}
        >
          <div className="bg-accent/70" style={{ flexGrow: events - errors }} />
          <div className={classes('bg-bad-line', errors > 0 && 'min-h-[2px]')} style={{ flexGrow: errors }} />
        </div>
      )}
    </div>
  );
}

const bucketNames = new Map([
  [60_000, 'minute'],
  [hourMs, 'hour'],
  [dayMs, 'day'],
]);
