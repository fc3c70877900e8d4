import { classes } from '../ui/classes.ts';

/** The number of ticks that fit. */
const ticksMax = 6;

/** Start times of some of the bars. */
export function BarTicks({
  bars,
  name,
}: {
  bars: readonly { startMs: number }[];
  name: (ms: number) => string;
}) {
  const every = Math.max(1, Math.ceil(bars.length / ticksMax));
  const ticks = bars.flatMap(({ startMs }, index) => (index % every === 0 ? [{ startMs, index }] : []));
  return (
    <div aria-hidden className="relative mt-0.5 h-4 overflow-hidden border-line border-t text-faint text-xs">
      {ticks.map(({ startMs, index }, place) => (
        <span
          key={startMs}
          className={classes('absolute top-0 whitespace-nowrap', place % 2 === 1 && 'max-md:hidden')}
          style={{ left: `${(index / bars.length) * 100}%` }}
        >
          {name(startMs)}
        </span>
      ))}
    </div>
  );
}
