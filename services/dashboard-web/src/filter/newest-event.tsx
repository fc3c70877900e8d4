import { useQuery } from '@tanstack/react-query';
import { apiQuery } from '../api/query.ts';
import { dayMs, formatMinute, minuteMs } from '../format/time.ts';
import { useSettings } from '../settings/settings.ts';
import { useSpace } from '../space/space.ts';
import { Button } from '../ui/button.tsx';
import type { ListInput } from './event-filter.ts';
import { useFilter } from './use-filter.ts';

/** In a range without events: where the newest event is, and a button that shows the day up to it. */
export function NewestEvent({ filter = {} }: { filter?: ListInput }) {
  const { id: spaceId } = useSpace();
  const { zone } = useSettings();
  const { set } = useFilter();
  const input = { ...filter, spaceId, limit: 1, from: undefined, to: undefined };
  const { data } = useQuery({ ...apiQuery('events.list', input), retry: false });
  const newestMs = data?.events[0]?.startTimeMs;
  if (newestMs === undefined) return null;
  const to = Math.ceil((newestMs + 1) / minuteMs) * minuteMs;
  return (
    <span className="flex flex-wrap items-center justify-center gap-2">
      <span>The newest event started on {formatMinute(newestMs, zone)}.</span>
      <Button size="small" onClick={() => set({ last: undefined, from: String(to - dayMs), to: String(to) })}>
        Show the day up to it
      </Button>
    </span>
  );
}
