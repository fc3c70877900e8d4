import { useEffect, useEffectEvent, useRef, useState } from 'react';
import { type StreamMessage, subscribe } from '../../api/subscribe.ts';
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

/** The newest events of a filter, as they are stored. */
export function useTail(input: ListInput): Tail {
  const { id: spaceId } = useSpace();
  const key = JSON.stringify([spaceId, input]);
  const { add, change, ...shown } = useBufferedEvents(key);
  const [skipped, setSkipped] = useState<number | null>(0);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a changed filter starts anew.
  useEffect(() => setSkipped(0), [key]);
  const state = useStream({ ...input, spaceId }, key, (message) => {
    if (message.type === 'events') return add(message.events);
    if (message.type === 'changed') return change(message.events, message.removed);
    const { events } = message.skipped;
    setSkipped((sum) => (sum === null || events === null ? null : sum + events));
  });
  return { ...shown, state, skipped };
}

type LiveMessage = StreamMessage['data'];

/** The server filters. Closed while the window is hidden; continues after the last message. */
function useStream(
  input: ListInput & { spaceId: string },
  key: string,
  onMessage: (message: Exclude<LiveMessage, { type: 'status' }>) => void,
): TailState {
  const [state, setState] = useState<TailState>('connecting');
  const isHidden = useIsHidden();
  const lastId = useRef<string>(undefined);

  // biome-ignore lint/correctness/useExhaustiveDependencies: a changed filter starts anew.
  useEffect(() => {
    lastId.current = undefined;
    setState('connecting');
  }, [key]);

  const onData = useEffectEvent(({ id, data }: StreamMessage) => {
    lastId.current = id;
    if (data.type === 'status') setState(data.isDelayed ? 'delayed' : 'live');
    else onMessage(data);
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: `key` stands for the filter.
  useEffect(() => {
    if (isHidden) return;
    let lost: ReturnType<typeof setTimeout> | undefined;
    const show = (next: TailState) => {
      clearTimeout(lost);
      lost = undefined;
      setState(next);
    };
    const stream = subscribe(
      { ...input, changes: true, lastEventId: lastId.current ?? null },
      {
        // A new stream shows what is stored after the position of its first message.
        onStarted: () => show(lastId.current === undefined ? 'connecting' : 'live'),
        onConnecting: () => {
          lost ??= setTimeout(() => setState('reconnecting'), reconnectGraceMs);
        },
        onError: (error) => show({ error }),
        onData,
      },
    );
    return () => {
      stream.unsubscribe();
      clearTimeout(lost);
    };
  }, [key, isHidden]);
  return state;
}

/** Shows events once per frame, however fast they come; not while paused. Another key empties the list. */
function useBufferedEvents(key: string) {
  const [events, setEvents] = useState<readonly ListedEvent[]>([]);
  const [waiting, setWaiting] = useState(0);
  const [isPaused, setIsPaused] = useState(false);
  const buffer = useRef<ListedEvent[]>([]);
  const paused = useRef(false);
  const frame = useRef(0);
  const flush = () => {
    const arrived = buffer.current;
    if (arrived.length === 0) return;
    buffer.current = [];
    setWaiting(0);
    setEvents((shown) => showArrived(shown, arrived));
  };

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

  const add = (arrived: readonly ListedEvent[]) => {
    buffer.current.push(...arrived);
    // During a long pause no more events are held than rows are kept.
    if (buffer.current.length > rowsMax) buffer.current.splice(0, buffer.current.length - rowsMax);
    frame.current ||= requestAnimationFrame(() => {
      frame.current = 0;
      if (paused.current) setWaiting(buffer.current.length);
      else flush();
    });
  };
  const change = (changed: readonly ListedEvent[], removed: readonly string[]) => {
    const ids = new Set([...removed, ...changed.map(({ id }) => id)]);
    buffer.current = buffer.current.filter(({ id }) => !ids.has(id));
    // Also while paused: a removed event cannot be opened any more.
    setEvents((shown) => shown.filter(({ id }) => !removed.includes(id)));
    add(changed);
  };
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
