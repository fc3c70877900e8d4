import { useSyncExternalStore } from 'react';
import type { ListedEvent } from '../event/event-query.ts';
import { formatClock } from '../format/time.ts';
import { describeText } from '../text/shown-text.tsx';
import { classes } from '../ui/classes.ts';

export function TickBox({ event, className }: { event: ListedEvent; className?: string }) {
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
        aria-label={`Compare ${describeText(event.name ?? 'unnamed')}, ${formatClock(event.startTimeMs)}`}
        onChange={() => toggleTicked(event)}
        className="m-1 size-4 accent-accent"
      />
    </span>
  );
}

export interface Ticked {
  id: string;
  startTimeMs: number;
  traceId: string | null;
}

/** Ticked events, at most two: a third replaces the first. Kept on other pages, to compare two lists. */
let ticked: readonly Ticked[] = [];
const listeners = new Set<() => void>();

export function useTicked(): readonly Ticked[] {
  return useSyncExternalStore(subscribe, () => ticked);
}

export function toggleTicked({ id, startTimeMs, traceId }: Ticked): void {
  const others = ticked.filter((one) => one.id !== id);
  setTicked(others.length < ticked.length ? others : [...ticked.slice(-1), { id, startTimeMs, traceId }]);
}

export function clearTicked(): void {
  setTicked([]);
}

function setTicked(next: readonly Ticked[]): void {
  ticked = next;
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
