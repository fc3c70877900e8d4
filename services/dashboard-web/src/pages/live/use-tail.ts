import { useCallback, useEffect, useRef, useState } from 'react';
import { subscribe } from '../../api/subscribe.ts';
import { useIsHidden } from '../../api/use-interval.ts';
import type { ListedEvent } from '../../event/event-query.ts';
import type { ListInput } from '../../filter/event-filter.ts';
import { useSpace } from '../../space/space.tsx';

/** Older events are in the list of events. */
const rowsMax = 2_000;

export type TailState = 'connecting' | 'live' | 'reconnecting' | 'delayed' | { error: unknown };

/** A stream away for less is not lost: the server ends each to check the session, and browsers reconnect. */
const reconnectGraceMs = 10_000;

export interface Tail {
  /** The newest first. */
  events: readonly ListedEvent[];
  waiting: number;
  isPaused: boolean;
  state: TailState;
  /** How many events the stream skipped because they came too fast; null when that is not known. */
  skipped: number | null;
  setPaused: (isPaused: boolean) => void;
}

/** The server filters. Closed while the window is hidden; continues after the last message. */
export function useTail(input: ListInput): Tail {
  const { id: spaceId } = useSpace();
  const key = JSON.stringify([spaceId, input]);
  const { events, waiting, isPaused, setPaused, add, change } = useBufferedEvents(key);
  const [state, setState] = useState<TailState>('connecting');
  const [skipped, setSkipped] = useState<number | null>(0);
  const isHidden = useIsHidden();
  const lastId = useRef<string>(undefined);

  // biome-ignore lint/correctness/useExhaustiveDependencies: a changed filter starts anew.
  useEffect(() => {
    lastId.current = undefined;
    setSkipped(0);
    setState('connecting');
  }, [key]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: `key` stands for the filter.
  useEffect(() => {
    if (isHidden) return;
    let lost: ReturnType<typeof setTimeout> | undefined;
    const endGrace = () => {
      clearTimeout(lost);
      lost = undefined;
    };
    const stream = subscribe(
      'live.tail',
      { ...input, spaceId, changes: true, lastEventId: lastId.current ?? null },
      {
        onStarted: () => {
          endGrace();
          // A new stream shows what is stored after the position of its first message.
          if (lastId.current !== undefined) setState('live');
        },
        onConnecting: () => {
          lost ??= setTimeout(() => setState('reconnecting'), reconnectGraceMs);
        },
        onError: (error) => {
          endGrace();
          setState({ error });
        },
        onData: ({ id, data }) => {
          lastId.current = id;
          if (data.type === 'status') return setState(data.isDelayed ? 'delayed' : 'live');
          if (data.type === 'skipped') {
            return setSkipped((sum) =>
              sum === null || data.skipped.events === null ? null : sum + data.skipped.events,
            );
          }
          if (data.type === 'changed') return change(data.events, data.removed);
          add(data.events);
        },
      },
    );
    return () => {
      stream.unsubscribe();
      endGrace();
    };
  }, [key, isHidden, add, change]);
  return { events, waiting, isPaused, state, skipped, setPaused };
}

/**
 * Shows events once per frame, however fast they come; held back while paused. Another key empties the list.
 */
function useBufferedEvents(key: string) {
  const [events, setEvents] = useState<readonly ListedEvent[]>([]);
  const [waiting, setWaiting] = useState(0);
  const [isPaused, setIsPaused] = useState(false);
  const buffer = useRef<ListedEvent[]>([]);
  const paused = useRef(false);
  const frame = useRef(0);

  const flush = useCallback(() => {
    const arrived = buffer.current;
    if (arrived.length === 0) return;
    buffer.current = [];
    setWaiting(0);
    setEvents((shown) => showArrived(shown, arrived));
  }, []);

  // biome-ignore lint/correctness/useExhaustiveDependencies: a changed filter starts an empty list.
  useEffect(() => {
    buffer.current = [];
    setEvents([]);
    setWaiting(0);
    return () => {
      cancelAnimationFrame(frame.current);
      frame.current = 0;
    };
  }, [key]);

  const add = useCallback(
    (arrived: readonly ListedEvent[]) => {
      buffer.current.push(...arrived);
      // During a long pause no more events are held than rows are kept.
      if (buffer.current.length > rowsMax) buffer.current.splice(0, buffer.current.length - rowsMax);
      frame.current ||= requestAnimationFrame(() => {
        frame.current = 0;
        if (paused.current) setWaiting(buffer.current.length);
        else flush();
      });
    },
    [flush],
  );
  const change = useCallback(
    (changed: readonly ListedEvent[], removed: readonly string[]) => {
      const ids = new Set([...removed, ...changed.map(({ id }) => id)]);
      buffer.current = buffer.current.filter(({ id }) => !ids.has(id));
      // Also while paused: a removed event cannot be opened any more.
      setEvents((shown) => shown.filter(({ id }) => !removed.includes(id)));
      add(changed);
    },
    [add],
  );
  const setPaused = (next: boolean) => {
    paused.current = next;
    setIsPaused(next);
    if (!next) flush();
  };
  return { events, waiting, isPaused, setPaused, add, change };
}

/** New events come first, the newest at the top; events that are shown already keep their place. */
function showArrived(shown: readonly ListedEvent[], arrived: readonly ListedEvent[]): readonly ListedEvent[] {
  const fresh = new Map(arrived.map((event) => [event.id, event]));
  const kept = shown.map((event) => {
    const changed = fresh.get(event.id) ?? event;
    fresh.delete(event.id);
    return changed;
  });
  return [...[...fresh.values()].toReversed(), ...kept].slice(0, rowsMax);
}
