import type { ListedEvent } from '../event/event-query.ts';
import { formatClock } from '../format/time.ts';
import { useSettings } from '../settings/settings.ts';
import { describeText } from '../text/marks.ts';
import { classes } from '../ui/classes.ts';
import { toggleTicked, useTicked } from './ticked.ts';

/** Ticks an event to compare it with another one. */
export function TickBox({ event, className }: { event: ListedEvent; className?: string }) {
  const { zone } = useSettings();
  const isTicked = useTicked().some(({ id }) => id === event.id);
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: it only keeps the click from the row.
    // biome-ignore lint/a11y/useKeyWithClickEvents: the same.
    <span
      className={classes('grid size-6 shrink-0 place-items-center', className)}
      onClick={(click) => click.stopPropagation()}
    >
      <input
        type="checkbox"
        checked={isTicked}
        aria-label={`Compare ${describeText(event.name ?? 'unnamed')}, ${formatClock(event.startTimeMs, zone)}`}
        onChange={() => toggleTicked(event)}
        className="m-1 size-4 accent-accent"
      />
    </span>
  );
}
