import { BellPlus, Download } from 'lucide-react';
import { useCallback, useMemo } from 'react';
import { describeFailure } from '../../api/failure.ts';
import type { Output } from '../../api/query.ts';
import { exportAddress } from '../../event/export.ts';
import { readColumns } from '../../event-grid/chosen-columns.tsx';
import { filterOf } from '../../filter/conditions.ts';
import type { ListInput } from '../../filter/event-filter.ts';
import { useFilter } from '../../filter/use-filter.ts';
import { formatCount } from '../../format/number.ts';
import { formatTime } from '../../format/time.ts';
import { FilterBar } from '../../search/filter-bar.tsx';
import { hasRole, SpaceButton, useSpace } from '../../space/space.tsx';
import { keepsData, usePages, useSpaceQuery } from '../../space/use-space-query.ts';
import { Button } from '../../ui/button.tsx';
import { SelectField } from '../../ui/field.tsx';
import { InvalidFilter, Loaded } from '../../ui/loaded.tsx';
import { Menu, MenuItem, MenuLabel } from '../../ui/menu.tsx';
import { Page } from '../../ui/page.tsx';
import { useToast } from '../../ui/toasts.tsx';
import { useSearchTexts } from '../../url/use-search.ts';
import { ViewsMenu } from '../../views/views-menu.tsx';
import { ColumnsButton } from './columns-button.tsx';
import { FacetsButton, FacetsPanel } from './facets.tsx';
import { FoundEvents } from './found-events.tsx';
import { ListFrame, type Order, orders, readOrder } from './list-frame.tsx';
import { NewPill } from './new-pill.tsx';

/** The list of events. All its state is in the address. */
export function EventsPage() {
  const { role } = useSpace();
  const { search, input } = useFilter();
  const order = readOrder(search.sort);
  return (
    <Page
      title="Events"
      isWide
      actions={
        <>
          {typeof input !== 'string' && <FacetsButton input={input} />}
          <ColumnsButton />
          <ViewsMenu list="events" />
          {/* What a text is found in has one order, and no export. */}
          {search.text === undefined && <OrderField />}
          {hasRole(role, 'admin') && (
            <SpaceButton
              page="alerts"
              search={{ ...filterOf(search), new: '1' }}
              size="small"
              icon={BellPlus}
              text="Alert"
            />
          )}
          {typeof input !== 'string' && input.text === undefined && <ExportMenu input={input} />}
        </>
      }
    >
      <div className="shrink-0 px-4 pb-3 md:px-6">
        <FilterBar />
      </div>
      <div className="flex min-h-0 flex-1">
        {typeof input !== 'string' && <FacetsPanel input={input} />}
        <div className="flex min-w-0 flex-1 flex-col">
          {typeof input === 'string' ? (
            <InvalidFilter problem={input} />
          ) : input.text !== undefined ? (
            <FoundEvents key={JSON.stringify(input)} input={input} />
          ) : order === undefined ? (
            <NewestFirst input={input} />
          ) : (
            <LargestFirst input={input} order={order} />
          )}
        </div>
      </div>
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
  // Visible rows never move: newer events are only counted.
  const { asked } = readColumns(useSearchTexts().columns);
  const list = usePages('events.list', { ...input, ...asked, limit: pageEvents }, { isFixed: true });
  const { hasNextPage, isError, fetchNextPage } = list;
  const events = useMemo(() => list.data?.pages.flatMap((page) => page.events) ?? [], [list.data]);
  const loadMore = useCallback(() => void (isError || fetchNextPage()), [isError, fetchNextPage]);
  return (
    <Loaded query={list} rows={12} label="Loading events">
      {({ pages }) => (
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
          note={<SearchedUntil ms={pages.at(-1)?.searchedUntilMs ?? null} />}
        />
      )}
    </Loaded>
  );
}

/** How far back the list was searched: filters with few matches are searched in steps. */
function SearchedUntil({ ms }: { ms: number | null }) {
  if (ms === null) return null;
  return (
    <p role="status" className="shrink-0 border-line border-t px-4 py-1.5 text-muted text-xs">
      Searched back to {formatTime(ms)}. Scroll down to continue.
    </p>
  );
}

const formats = [
  { format: 'events', label: 'Events as sent, NDJSON' },
  { format: 'ndjson', label: 'Columns, NDJSON' },
  { format: 'csv', label: 'Columns, CSV' },
  { format: 'parquet', label: 'Columns and whole events, Parquet' },
] as const;

/** Downloads all events of the list's filter, including those not loaded. */
function ExportMenu({ input }: { input: ListInput }) {
  const { id: spaceId } = useSpace();
  const toast = useToast();
  const download = async (format: (typeof formats)[number]['format']) => {
    try {
      followDownload(await exportAddress({ spaceId, filter: input, format }));
    } catch (error) {
      toast(describeFailure(error).message);
    }
  };
  return (
    <Menu align="end" trigger={<Button icon={Download} size="small" text="Export" />}>
      <MenuLabel>All events of this filter</MenuLabel>
      {formats.map(({ format, label }) => (
        <MenuItem key={format} onSelect={() => void download(format)} text={label} />
      ))}
    </Menu>
  );
}

/** Downloads as a click on a link does: the browser streams into a file. */
function followDownload(href: string): void {
  const link = document.createElement('a');
  link.href = href;
  link.download = '';
  link.click();
}

const pageEvents = 100;

const shownEvents = 200;

/** The slowest, largest or most expensive events of a filter. The note says among which events. */
function LargestFirst({ input, order }: { input: ListInput; order: Order }) {
  const { asked } = readColumns(useSearchTexts().columns);
  const query = useSpaceQuery('events.top', { ...input, ...asked, by: order, limit: shownEvents }, keepsData);
  return (
    <Loaded query={query} rows={12} label="Loading events">
      {({ events, ...compared }) => (
        <ListFrame
          input={input}
          events={events}
          newestMs={undefined}
          note={
            compared.compared > 0 && (
              <p role="status" className="shrink-0 border-line border-t px-4 py-1.5 text-muted text-xs">
                The {formatCount(events.length)} {orders[order].superlative} of {nameCompared(compared)}.
              </p>
            )
          }
        />
      )}
    </Loaded>
  );
}

function nameCompared({ compared, comparedUntilMs }: Omit<Output<'events.top'>, 'events'>): string {
  if (comparedUntilMs === null) return `all ${formatCount(compared)} events`;
  return `the newest ${formatCount(compared)} events, back to ${formatTime(comparedUntilMs)}. Choose a range of time to compare others`;
}
