import { useCallback, useEffect, useRef, useState } from 'react';
import { describeFailure } from '../../api/failure.ts';
import { subscribe } from '../../api/subscribe.ts';
import { useIsHidden } from '../../api/use-is-hidden.ts';
import type { ListedEvent } from '../../event/event-query.ts';
import type { ListInput } from '../../filter/event-filter.ts';
import { useSpace } from '../../space/space.ts';

/** Rows that are kept. Older ones are in the list. */
const rowsMax = 2_000;

export type TailState = 'connecting' | 'live' | 'reconnecting' | 'delayed' | { ended: string };

export interface Tail {
  /** The newest first. */
  events: readonly ListedEvent[];
  /** Events that wait while the tail is paused. */
  waiting: number;
  isPaused: boolean;
  state: TailState;
  /** How many events the stream left out, since they came too fast; null when that is not known. */
  skipped: number | null;
  setPaused: (isPaused: boolean) => void;
}

/**
 * The events of a filter as they are stored. The server filters. While the window is hidden the stream is closed; it
 * continues after its last message, so that nothing is missing.
 */
export function useTail(input: ListInput): Tail {
  const { id: spaceId } = useSpace();
  const [events, setEvents] = useState<readonly ListedEvent[]>([]);
  const [waiting, setWaiting] = useState(0);
  const [isPaused, setIsPaused] = useState(false);
  const [state, setState] = useState<TailState>('connecting');
  const [skipped, setSkipped] = useState<number | null>(0);
  const isHidden = useIsHidden();
  const buffer = useRef<ListedEvent[]>([]);
  const paused = useRef(false);
  const lastId = useRef<string>(undefined);
  const key = JSON.stringify(input);

  const flush = useCallback(() => {
    const arrived = buffer.current;
    if (arrived.length === 0) return;
    buffer.current = [];
    setWaiting(0);
    setEvents((shown) => [...arrived.toReversed(), ...shown].slice(0, rowsMax));
  }, []);

  // biome-ignore lint/correctness/useExhaustiveDependencies: another filter begins anew.
  useEffect(() => {
    buffer.current = [];
    lastId.current = undefined;
    setEvents([]);
    setWaiting(0);
    setSkipped(0);
  }, [key, spaceId]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: `key` stands for the filter.
  useEffect(() => {
    if (isHidden) return;
    let frame = 0;
    const onFrame = () => {
      frame = 0;
      if (paused.current) setWaiting(buffer.current.length);
      else flush();
    };
    const stream = subscribe(
      'live.tail',
      { ...input, spaceId, lastEventId: lastId.current ?? null },
      {
        onStarted: () => setState('live'),
        onConnecting: () => setState('reconnecting'),
        onError: (error) => setState({ ended: describeFailure(error).message }),
        onData: ({ id, data }) => {
          lastId.current = id;
          if (data.type === 'status') return setState(data.isDelayed ? 'delayed' : 'live');
          if (data.type === 'skipped') {
            return setSkipped((sum) =>
              sum === null || data.skipped.events === null ? null : sum + data.skipped.events,
            );
          }
          buffer.current.push(...data.events);
          // A pause may last: more than is kept is not held either.
          if (buffer.current.length > rowsMax) buffer.current.splice(0, buffer.current.length - rowsMax);
          // One change of the page a frame, however fast events come.
          frame ||= requestAnimationFrame(onFrame);
        },
      },
    );
    return () => {
      stream.unsubscribe();
      cancelAnimationFrame(frame);
    };
  }, [key, spaceId, isHidden, flush]);

  const setPaused = (next: boolean) => {
    paused.current = next;
    setIsPaused(next);
    if (!next) flush();
  };
  return { events, waiting, isPaused, state, skipped, setPaused };
}
