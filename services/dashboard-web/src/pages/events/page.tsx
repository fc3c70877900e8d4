import { SearchX } from 'lucide-react';
import { useCallback } from 'react';
import type { ListInput } from '../../filter/event-filter.ts';
import { useFilter } from '../../filter/use-filter.ts';
import { formatTime } from '../../format/time.ts';
import { FilterBar } from '../../search/filter-bar.tsx';
import { useSettings } from '../../settings/settings.ts';
import { SelectField } from '../../ui/field.tsx';
import { Page } from '../../ui/page.tsx';
import { FailureNotice, Loading, Notice } from '../../ui/states.tsx';
import { ExportMenu } from './export-menu.tsx';
import { LargestFirst } from './largest-first.tsx';
import { ListFrame } from './list-frame.tsx';
import { NewPill } from './new-pill.tsx';
import { orders, readOrder } from './order.ts';
import { useEventPages } from './use-event-pages.ts';

/** The list of events. All its state is in the address. */
export function EventsPage() {
  const { search, input } = useFilter();
  const order = readOrder(search.sort);
  return (
    <Page
      title="Events"
      isWide
      actions={
        <>
          <OrderField />
          {typeof input !== 'string' && <ExportMenu input={input} />}
        </>
      }
    >
      <div className="shrink-0 px-4 pb-3 md:px-6">
        <FilterBar />
      </div>
      {typeof input === 'string' ? (
        <Notice icon={SearchX} title="Invalid filter">
          <p>{input}</p>
        </Notice>
      ) : order === undefined ? (
        <NewestFirst input={input} />
      ) : (
        <LargestFirst input={input} order={order} />
      )}
    </Page>
  );
}

const newestFirst = 'newest';

/** The titles of the columns sort, too; cards have none. */
function OrderField() {
  const { search, set } = useFilter();
  return (
    <SelectField
      label="Order"
      isLabelHidden
      options={[
        { value: newestFirst, label: 'Newest first' },
        ...Object.entries(orders).map(([value, { label }]) => ({ value, label })),
      ]}
      value={readOrder(search.sort) ?? newestFirst}
      onChange={(chosen) => set({ sort: readOrder(chosen) })}
      className="w-44"
    />
  );
}

function NewestFirst({ input }: { input: ListInput }) {
  const list = useEventPages(input);
  const { events, hasNextPage } = list;
  const loadMore = useCallback(() => void list.fetchNextPage(), [list.fetchNextPage]);
  if (list.isPending) return <Loading rows={12} label="Loading events" />;
  if (list.isError) return <FailureNotice error={list.error} onRetry={() => void list.refetch()} />;
  return (
    <ListFrame
      input={input}
      events={events}
      newestMs={events[0]?.startTimeMs}
      hasMore={hasNextPage}
      isLoadingMore={list.isFetchingNextPage}
      onLoadMore={loadMore}
      pill={
        <NewPill
          key={JSON.stringify(input)}
          input={input}
          events={events}
          isWhole={!hasNextPage}
          onShow={() => void list.refetch()}
        />
      }
      note={<SearchedUntil ms={list.data.pages.at(-1)?.searchedUntilMs ?? null} />}
    />
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
