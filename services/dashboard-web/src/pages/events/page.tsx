import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { Inbox, SearchX } from 'lucide-react';
import { useCallback, useEffect } from 'react';
import { eventQuery, type ListedEvent } from '../../event/event-query.ts';
import { Peek } from '../../event/peek.tsx';
import { EventGrid } from '../../event-grid/event-grid.tsx';
import { filterOf } from '../../filter/conditions.ts';
import type { ListInput } from '../../filter/event-filter.ts';
import { FilterBar } from '../../filter/filter-bar.tsx';
import { useFilter } from '../../filter/use-filter.ts';
import { formatTime } from '../../format/time.ts';
import { useSettings } from '../../settings/settings.ts';
import { useShortcuts } from '../../settings/shortcuts.ts';
import { useSpace } from '../../space/space.ts';
import { Button } from '../../ui/button.tsx';
import { Page } from '../../ui/page.tsx';
import { FailureNotice, Loading, Notice } from '../../ui/states.tsx';
import { ExportMenu } from './export-menu.tsx';
import { Histogram } from './histogram.tsx';
import { NewPill } from './new-pill.tsx';
import { useEventPages } from './use-event-pages.ts';

/** The list of events. All its state is in the address. */
export function EventsPage() {
  const { input } = useFilter();
  return (
    <Page title="Events" isWide actions={typeof input !== 'string' && <ExportMenu input={input} />}>
      <div className="shrink-0 px-4 pb-3 md:px-6">
        <FilterBar />
      </div>
      {typeof input === 'string' ? (
        <Notice icon={SearchX} title="Invalid filter">
          <p>{input}</p>
        </Notice>
      ) : (
        <EventList input={input} />
      )}
    </Page>
  );
}

/** Events after the selected one that are prefetched. */
const prefetched = 2;

function EventList({ input }: { input: ListInput }) {
  const { search, set } = useFilter();
  const list = useEventPages(input);
  const { events, hasNextPage } = list;
  const { select, open } = useSelection(events);
  const loadMore = useCallback(() => void list.fetchNextPage(), [list.fetchNextPage]);
  if (list.isPending) return <Loading rows={12} label="Loading events" />;
  if (list.isError) return <FailureNotice error={list.error} onRetry={() => void list.refetch()} />;
  return (
    <>
      <div className="shrink-0 px-4 pb-2 md:px-6">
        <Histogram input={input} newestMs={events[0]?.startTimeMs} />
      </div>
      <div className="relative flex min-h-0 flex-1">
        <div className="relative flex min-h-0 min-w-0 flex-1 flex-col">
          <NewPill
            key={JSON.stringify(input)}
            input={input}
            events={events}
            isWhole={!hasNextPage}
            onShow={() => void list.refetch()}
          />
          {events.length === 0 && !hasNextPage ? (
            <NoEvents />
          ) : (
            <EventGrid
              events={events}
              selectedId={search.peek}
              hasMore={hasNextPage}
              isLoadingMore={list.isFetchingNextPage}
              onLoadMore={loadMore}
              onSelect={select}
              onOpen={open}
            />
          )}
          <SearchedUntil ms={list.data.pages.at(-1)?.searchedUntilMs ?? null} />
        </div>
        {search.peek !== undefined && search.peek !== '' && (
          <Peek eventId={search.peek} filter={filterOf(search)} onClose={() => set({ peek: undefined })} />
        )}
      </div>
    </>
  );
}

/** The event beside the list, with its keys. The events after it are prefetched. */
function useSelection(events: readonly ListedEvent[]) {
  const { search, set } = useFilter();
  const { id: spaceId } = useSpace();
  const navigate = useNavigate();
  const queries = useQueryClient();
  const place = events.findIndex(({ id }) => id === search.peek);
  const select = (event: ListedEvent | undefined) => {
    if (event !== undefined)
      void navigate({ to: '.', search: { ...search, peek: event.id }, replace: search.peek !== undefined });
  };
  const open = (event: ListedEvent | undefined) => {
    if (event === undefined) return;
    void navigate({
      to: '/s/$spaceId/events/$eventId',
      params: { spaceId, eventId: event.id },
      search: filterOf(search),
    });
  };
  useShortcuts({
    j: () => select(events[place + 1]),
    k: () => select(events[Math.max(0, place - 1)]),
    enter: () => open(events[place]),
    escape: () => search.peek !== undefined && set({ peek: undefined }),
  });
  useEffect(() => {
    if (place === -1) return;
    for (const { id } of events.slice(place + 1, place + 1 + prefetched))
      void queries.prefetchQuery(eventQuery(spaceId, id));
  }, [place, events, queries, spaceId]);
  return { select, open };
}

function NoEvents() {
  const { search, clear } = useFilter();
  if (Object.keys(filterOf(search)).length === 0)
    return (
      <Notice icon={Inbox} title="No events yet">
        <p>New events appear here within a second.</p>
      </Notice>
    );
  return (
    <Notice icon={SearchX} title="No matching events">
      <Button className="mt-3" onClick={clear}>
        Clear the filter
      </Button>
    </Notice>
  );
}

/** How far back the list was searched: filters with few matches are searched in steps. */
function SearchedUntil({ ms }: { ms: number | null }) {
  const { zone } = useSettings();
  if (ms === null) return null;
  return (
    <p role="status" className="shrink-0 border-line border-t px-4 py-1.5 text-muted text-xs">
      Searched back to {formatTime(ms, zone)}. Scroll down to continue.
    </p>
  );
}
