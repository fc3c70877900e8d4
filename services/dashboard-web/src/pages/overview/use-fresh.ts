import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { useInterval } from '../../api/use-interval.ts';
import { useStored } from '../../event/use-stored.ts';

/** Queries of the overview that depend on events. */
const shownQueries = ['events.list', 'charts.events', 'charts.costs', 'charts.delays', 'usage.current'];

/** Shortest time between reloads while events arrive, and the poll interval without a live stream, in milliseconds. */
const restMs = 1_500;
const pollMs = 10_000;

/**
 * Reloads the queries of the overview when the live stream has events, immediately for the first one. Also when the stream starts:
 * events may have been stored since the page was loaded.
 *
 * @returns the time of the last reload, at which ranges that end now end.
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
