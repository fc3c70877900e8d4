import { formatCount, formatCounted } from '../format/number.ts';
import { dayMs, formatEnd, formatTick, hourMs } from '../format/time.ts';
import { useSettings } from '../settings/settings.ts';
import { classes } from '../ui/classes.ts';
import { BarTicks } from './bar-ticks.tsx';
import { useBarSelection } from './use-bar-selection.ts';

export interface Bar {
  startMs: number;
  events: number;
  errors: number;
  isEstimate?: boolean;
}

/** The height of the whole figure, to be reserved until its data arrives: what is below would move under the mouse. */
export const barsHeight = 'h-23.5';

interface BarsProps {
  bars: readonly Bar[];
  bucketMs: number;
  /** `isBar`: one bar was chosen, not a range. */
  onRange?: (from: number, to: number, isBar: boolean) => void;
  /** Whether errors are counted, too. */
  hasErrors?: boolean;
  /** The bars are UTC days, whatever the time zone setting is. */
  areDays?: boolean;
}

/**
 * Events over time, with errors at the bottom of each bar. A drag selects a range, a click a bar; so do the arrow keys, with Shift for a
 * range, and Enter.
 */
export function Bars({ bars, bucketMs, onRange, hasErrors = true, areDays = false }: BarsProps) {
  const { zone } = useSettings();
  const first = bars[0]?.startMs ?? 0;
  const totalMs = bars.length * bucketMs;
  const { area, marked, hovered, handlers } = useBarSelection(bars.length, (from, to) =>
    onRange?.(first + from * bucketMs, first + to * bucketMs, to - from === 1),
  );
  const max = Math.max(1, ...bars.map(({ events }) => events));
  const nameTime = (ms: number) => (areDays ? formatTick(ms, totalMs, 'UTC') : formatEnd(ms, totalMs, zone));
  const end = areDays ? first + totalMs - bucketMs : first + totalMs;
  const shown = hovered === undefined ? undefined : bars[hovered];
  const caption =
    shown === undefined
      ? describeAll(bars, bucketMs, hasErrors)
      : `${nameTime(shown.startMs)}: ${describeCount(shown, hasErrors)}`;
  const marking =
    marked && `${nameTime(first + marked.from * bucketMs)} – ${nameTime(first + marked.to * bucketMs)}`;
  return (
    <figure className={barsHeight}>
      <figcaption className="flex h-5 items-center justify-between text-faint text-xs">
        <span>{caption}</span>
        <span className="max-md:hidden">{marking ?? `${nameTime(first)} – ${nameTime(end)}`}</span>
      </figcaption>
      <div
        ref={area}
        {...(onRange === undefined
          ? {
              'aria-hidden': true,
              onPointerMove: handlers.onPointerMove,
              onPointerLeave: handlers.onPointerLeave,
            }
          : {
              ...handlers,
              ...sliderProps(bars.length, hovered),
              'aria-valuetext': marking === undefined ? caption : `${marking}, ${caption}`,
            })}
        className={classes(
          'relative flex h-14 touch-none items-end gap-px select-none',
          onRange && 'cursor-crosshair',
        )}
      >
        {bars.map((bar, index) => (
          <BarShape key={bar.startMs} bar={bar} max={max} isHovered={index === hovered} />
        ))}
        {marked !== undefined && (
          <div
            className="pointer-events-none absolute inset-y-0 border-accent border-x bg-accent/15"
            style={{
              left: `${(marked.from / bars.length) * 100}%`,
              width: `${((marked.to - marked.from) / bars.length) * 100}%`,
            }}
          />
        )}
      </div>
      <BarTicks bars={bars} bucketMs={bucketMs} zone={areDays ? 'UTC' : zone} />
    </figure>
  );
}

function sliderProps(count: number, hovered: number | undefined) {
  return {
    role: 'slider',
    tabIndex: 0,
    'aria-label': 'Events over time: arrow keys choose a bar, with Shift a range, and Enter shows it',
    'aria-valuemin': 0,
    'aria-valuemax': Math.max(0, count - 1),
    'aria-valuenow': hovered ?? Math.max(0, count - 1),
  };
}

function describeCount(count: Omit<Bar, 'startMs'>, hasErrors: boolean): string {
  const errors = hasErrors ? `, ${formatCounted(count.errors, 'error')}` : '';
  return `${count.isEstimate ? 'about ' : ''}${formatCounted(count.events, 'event')}${errors}`;
}

function describeAll(bars: readonly Bar[], bucketMs: number, hasErrors: boolean): string {
  const events = bars.reduce((total, bar) => total + bar.events, 0);
  const errors = bars.reduce((total, bar) => total + bar.errors, 0);
  const all = describeCount(
    { events, errors, isEstimate: bars.some(({ isEstimate }) => isEstimate) },
    hasErrors,
  );
  const max = Math.max(0, ...bars.map((bar) => bar.events));
  return events === 0 ? all : `${all}; at most ${formatCount(max)} ${bucketNames.get(bucketMs) ?? 'a bar'}`;
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
  [60_000, 'a minute'],
  [hourMs, 'an hour'],
  [dayMs, 'a day'],
]);
