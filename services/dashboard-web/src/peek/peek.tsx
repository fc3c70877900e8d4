import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { ArrowUpRight, X } from 'lucide-react';
import { eventQuery } from '../event/event-query.ts';
import { useSpace } from '../space/space.ts';
import { buttonClasses, IconButton } from '../ui/button.tsx';
import { FailureNotice, Loading } from '../ui/states.tsx';
import type { Search } from '../url/search.ts';
import { EventSummary } from './event-summary.tsx';

/** An event beside a list. `filter` is the list's filter, which the event's page uses for its previous and next events. */
export function Peek({ eventId, filter, onClose }: { eventId: string; filter: Search; onClose: () => void }) {
  const { id: spaceId } = useSpace();
  const { data, error, refetch } = useQuery(eventQuery(spaceId, eventId));
  return (
    <aside
      aria-label="Selected event"
      className="flex w-full shrink-0 flex-col border-line border-l bg-canvas max-lg:absolute max-lg:inset-0 max-lg:z-20 max-md:fixed max-md:top-12 lg:w-[min(46%,640px)]"
    >
      <div className="flex h-11 shrink-0 items-center gap-2 border-line border-b px-3">
        <h2 className="flex-1 font-medium text-sm">Event</h2>
        <Link
          to="/s/$spaceId/events/$eventId"
          params={{ spaceId, eventId }}
          search={filter}
          className={buttonClasses('plain', 'small')}
        >
          Open <ArrowUpRight aria-hidden />
        </Link>
        <IconButton label="Close (Esc)" onClick={onClose}>
          <X aria-hidden />
        </IconButton>
      </div>
      <div
        className="min-h-0 flex-1 overflow-y-auto p-3"
        tabIndex={0}
        role="region"
        aria-label="Content of the selected event"
      >
        {error !== null ? (
          <FailureNotice error={error} onRetry={() => void refetch()} isSmall />
        ) : data === undefined ? (
          <Loading />
        ) : (
          <EventSummary event={data} />
        )}
      </div>
    </aside>
  );
}
