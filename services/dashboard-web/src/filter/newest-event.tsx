import { dayMs, formatMinute, minuteMs } from '../format/time.ts';
import { useSpaceQuery } from '../space/use-space-query.ts';
import { Button } from '../ui/button.tsx';
import type { ListInput } from './event-filter.ts';
import { useFilter } from './use-filter.ts';

/** In a range without events: where the newest event is, and a button that shows the day up to it. */
export function NewestEvent({ filter = {} }: { filter?: ListInput }) {
  const input = { ...filter, limit: 1, from: undefined, to: undefined };
  const { data } = useSpaceQuery('events.list', input, { retry: false });
  return <Newest what="event started" atMs={data?.events[0]?.startTimeMs} />;
}

interface NewestActivityProps {
  procedure: 'threads.list' | 'users.list';
  search: string | undefined;
}

/** In a range without threads or users: where the newest is, and a button that shows the day up to it. */
export function NewestActivity({ procedure, search }: NewestActivityProps) {
  const { data } = useSpaceQuery(procedure, { search, limit: 1 }, { retry: false });
  const what = procedure === 'users.list' ? 'user was last active' : 'thread was last active';
  return <Newest what={what} atMs={data?.items[0]?.lastStartMs} />;
}

function Newest({ what, atMs }: { what: string; atMs: number | undefined }) {
  const { set } = useFilter();
  if (atMs === undefined) return null;
  const to = Math.ceil((atMs + 1) / minuteMs) * minuteMs;
  return (
    <span className="flex flex-wrap items-center justify-center gap-2">
      <span>
        The newest {what} on {formatMinute(atMs)}.
      </span>
      <Button
        size="small"
        onClick={() => set({ last: undefined, from: String(to - dayMs), to: String(to) })}
        text="Show the day up to it"
      />
    </span>
  );
}
