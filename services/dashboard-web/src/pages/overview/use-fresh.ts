import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { useInterval } from '../../api/use-interval.ts';
import { useStored } from '../../event/use-stored.ts';

/** What the overview shows of events. */
const shownQueries = ['events.list', 'charts.events', 'charts.costs', 'usage.current'];

/** How often it is loaded again at most while events come, and how often where there is no live stream, in milliseconds. */
const restMs = 1_500;
const pollMs = 10_000;

/**
 * Keeps the overview fresh: its queries are loaded again when the live stream has events, the first one at once.
 *
 * @returns the time at which they were last loaded again: ranges that end now end there.
 */
export function useFresh(): number {
  const queries = useQueryClient();
  const [freshMs, setFreshMs] = useState(Date.now);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const refresh = () => {
    setFreshMs(Date.now());
    for (const path of shownQueries)
      void queries.invalidateQueries({ queryKey: [path], refetchType: 'active' });
  };
  const wait = useRef({ isResting: false, hasMore: false }).current;
  const onStored = (events: readonly unknown[]) => {
    // The stream begins: only events of the last moment can be missing.
    if (events.length === 0) return void queries.invalidateQueries({ queryKey: ['events.list'] });
    if (wait.isResting) {
      wait.hasMore = true;
      return;
    }
    wait.isResting = true;
    refresh();
    timer.current = setTimeout(() => {
      wait.isResting = false;
      if (!wait.hasMore) return;
      wait.hasMore = false;
      onStored(events);
    }, restMs);
  };
  useEffect(() => () => clearTimeout(timer.current), []);
  const isFollowing = useStored({}, { isEnabled: true, onStored });
  useInterval(refresh, isFollowing ? undefined : pollMs);
  return freshMs;
}
