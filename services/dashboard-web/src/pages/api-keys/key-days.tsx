import { formatCount } from '../../format/number.ts';
import { dayMs } from '../../format/time.ts';

const shownDays = 30;

/** The events of a key by day, as small bars. Days are UTC. */
export function KeyDays({ days }: { days: readonly { day: string; events: number }[] }) {
  const sum = days.reduce((total, { events }) => total + events, 0);
  const max = Math.max(1, ...days.map(({ events }) => events));
  const byDay = new Map(days.map(({ day, events }) => [day, events]));
  const today = Date.now();
  const bars = Array.from({ length: shownDays }, (_, index) => {
    const day = new Date(today - (shownDays - 1 - index) * dayMs).toISOString().slice(0, 10);
    return { day, events: byDay.get(day) ?? 0 };
  });
  return (
    <div className="flex items-end gap-2">
      <div aria-hidden className="flex h-5 w-24 items-end gap-px">
        {bars.map(({ day, events }) => (
          <div
            key={day}
            title={`${day}: ${formatCount(events)}`}
            className={events > 0 ? 'min-h-[2px] flex-1 rounded-t-xs bg-accent' : 'h-px flex-1 bg-line'}
            style={events > 0 ? { height: `${(events / max) * 100}%` } : undefined}
          />
        ))}
      </div>
      <span className="text-muted text-xs">{formatCount(sum)}</span>
    </div>
  );
}
