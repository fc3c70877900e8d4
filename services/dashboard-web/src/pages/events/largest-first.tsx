import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { apiQuery } from '../../api/query.ts';
import type { ListInput } from '../../filter/event-filter.ts';
import { formatCount } from '../../format/number.ts';
import { formatTime } from '../../format/time.ts';
import { useSettings } from '../../settings/settings.ts';
import { useSpace } from '../../space/space.ts';
import { FailureNotice, Loading } from '../../ui/states.tsx';
import { ListFrame } from './list-frame.tsx';
import { type Order, orders } from './order.ts';

const shownEvents = 200;

/** The slowest, largest or most expensive events of a filter. The note says among which events. */
export function LargestFirst({ input, order }: { input: ListInput; order: Order }) {
  const { id: spaceId } = useSpace();
  const { zone } = useSettings();
  const { data, error, refetch } = useQuery({
    ...apiQuery('events.top', { ...input, spaceId, by: order, limit: shownEvents }),
    placeholderData: keepPreviousData,
  });
  if (error !== null) return <FailureNotice error={error} onRetry={() => void refetch()} />;
  if (data === undefined) return <Loading rows={12} label="Loading events" />;
  const { events, compared, comparedUntilMs } = data;
  const among =
    comparedUntilMs === null
      ? `all ${formatCount(compared)} events`
      : `the newest ${formatCount(compared)} events, back to ${formatTime(comparedUntilMs, zone)}. Choose a range of time to compare others`;
  return (
    <ListFrame
      input={input}
      events={events}
      newestMs={undefined}
      note={
        compared > 0 && (
          <p role="status" className="shrink-0 border-line border-t px-4 py-1.5 text-muted text-xs">
            The {formatCount(events.length)} {orders[order].superlative} of {among}.
          </p>
        )
      }
    />
  );
}
