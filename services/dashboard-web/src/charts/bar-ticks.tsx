import { dayMs, dayTicksMsMin, formatTick, type Zone } from '../format/time.ts';
import { classes } from '../ui/classes.ts';
import { roundTicks } from './round-ticks.ts';

/** Nearer to the right end than this share of the width, the name of a tick would be cut off. */
const endShare = 0.06;

/** Round times below the bars. */
export function BarTicks({
  bars,
  bucketMs,
  zone,
}: {
  bars: readonly { startMs: number }[];
  bucketMs: number;
  zone: Zone;
}) {
  const first = bars[0]?.startMs ?? 0;
  const totalMs = bars.length * bucketMs;
  // Names by day need ticks at starts of days.
  const stepMsMin = totalMs > dayTicksMsMin ? dayMs : 0;
  const ticks = roundTicks(first, first + totalMs * (1 - endShare), zone, stepMsMin);
  return (
    <div aria-hidden className="relative mt-0.5 h-4 overflow-hidden border-line border-t text-faint text-xs">
      {ticks.map((ms, place) => (
        <span
          key={ms}
          className={classes(
            'absolute top-0 border-line border-l pl-1 whitespace-nowrap',
            place % 2 === 1 && 'max-md:hidden',
          )}
          style={{ left: `${((ms - first) / totalMs) * 100}%` }}
        >
          {formatTick(ms, totalMs, zone)}
        </span>
      ))}
    </div>
  );
}
