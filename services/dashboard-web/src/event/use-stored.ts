import { useEffect, useEffectEvent, useRef, useState } from 'react';
import { subscribe } from '../api/subscribe.ts';
import { useIsHidden } from '../api/use-interval.ts';
import type { ListInput } from '../filter/event-filter.ts';
import { useSpace } from '../space/space.tsx';
import type { ListedEvent } from './event-query.ts';

/**
 * Follows the live stream of a filter while the window is visible. An empty list means that it started or
 * skipped events: query for those stored before.
 * @returns whether the stream is connected. If not, the page has to poll.
 */
export function useStored(
  input: ListInput,
  { isEnabled, onStored }: { isEnabled: boolean; onStored: (events: readonly ListedEvent[]) => void },
): boolean {
  const { id: spaceId } = useSpace();
  const isHidden = useIsHidden();
  const [isFollowing, setFollowing] = useState(false);
  const lastId = useRef<string>(undefined);
  const key = JSON.stringify(input);
  const report = useEffectEvent(onStored);
  const isOpen = isEnabled && !isHidden;

  // biome-ignore lint/correctness/useExhaustiveDependencies: a changed filter starts a new stream.
  useEffect(() => {
    lastId.current = undefined;
  }, [key, spaceId]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: `key` stands for the filter.
  useEffect(() => {
    if (!isOpen) return;
    let isNew = lastId.current === undefined;
    const stream = subscribe(
      { ...input, spaceId, lastEventId: lastId.current ?? null },
      {
        onStarted: () => {},
        onConnecting: () => setFollowing(false),
        onError: () => setFollowing(false),
        onData: ({ id, data }) => {
          lastId.current = id;
          if (isNew || data.type === 'skipped') report([]);
          isNew = false;
          // While the stream is delayed, queries have newer events.
          setFollowing(data.type !== 'status' || !data.isDelayed);
          if (data.type === 'events') report(data.events);
        },
      },
    );
    return () => {
      stream.unsubscribe();
      setFollowing(false);
    };
  }, [key, spaceId, isOpen]);

  return isFollowing;
}
