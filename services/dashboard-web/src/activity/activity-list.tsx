import type { ReactNode } from 'react';
import { NewestActivity } from '../filter/newest-event.tsx';
import { RangeField } from '../filter/range-field.tsx';
import { useFilter } from '../filter/use-filter.ts';
import { formatCount } from '../format/number.ts';
import { formatTime } from '../format/time.ts';
import { usePages } from '../space/use-space-query.ts';
import { PagedTable } from '../table/paged-table.tsx';
import type { Column } from '../table/table.tsx';
import { useSort } from '../table/table-sort.ts';
import { describeText, ShownText } from '../text/shown-text.tsx';
import { InvalidFilter } from '../ui/loaded.tsx';
import { Page } from '../ui/page.tsx';
import { SearchField } from '../ui/search-field.tsx';
import { ViewsMenu } from '../views/views-menu.tsx';
import { type Activity, activityColumns } from './activity-columns.tsx';
import { type ActivityFilter, readActivityQuery } from './activity-query.ts';

interface ActivityTableProps extends Pick<ActivityPageProps, 'procedure' | 'columns' | 'empty'> {
  caption: string;
  query: ActivityFilter & { from?: number | undefined; to?: number | undefined; userId?: string };
}

export function ActivityTable({ procedure, columns, query, ...table }: ActivityTableProps) {
  const sort = useSort();
  const pages = usePages(procedure, { ...query });
  const loaded = pages.data?.pages ?? [];
  const rows = loaded.flatMap((page) => page.items);
  const last = loaded.at(-1);
  return (
    <PagedTable
      {...table}
      pages={pages}
      rows={rows}
      keyOf={({ id }) => id}
      columns={[
        ...columns,
        // The card of a thread has all of its facts in the first cell.
        ...activityColumns.map((column) =>
          procedure === 'threads.list' ? { ...column, isExtra: true } : column,
        ),
      ]}
      sort={sort}
      isEmpty={rows.length === 0 && last?.nextCursor === null}
      note={
        <Notes
          texts={[
            query.model !== undefined &&
              `Events, errors, tokens and cost are those of the calls of ${describeText(query.model)}.`,
            !loaded.every((page) => page.areCountsComplete) &&
              'Counts cover the newest 400 requests. Choose a shorter range for complete counts.',
            sort.by !== undefined &&
              pages.hasNextPage &&
              `Sorted among the ${formatCount(rows.length)} most recently active.`,
            (query.search ?? query.model ?? query.comparisons) !== undefined &&
              last?.searchedUntilMs != null &&
              `Searched back to ${formatTime(last.searchedUntilMs)}.`,
          ]}
        />
      }
    />
  );
}

function Notes({ texts }: { texts: readonly (string | false)[] }) {
  const shown = texts.filter((text) => text !== false);
  if (shown.length === 0) return null;
  return (
    <p role="status" className="mt-2 text-muted text-xs">
      {shown.join(' ')}
    </p>
  );
}

interface ActivityPageProps {
  procedure: 'threads.list' | 'users.list';
  title: string;
  subtitle: string;
  searchLabel: string;
  columns: readonly Column<Activity>[];
  empty: ReactNode;
}

/** Threads or users, most recently active first, with counts in the range of the address. */
export function ActivityPage({ procedure, title, subtitle, searchLabel, columns, empty }: ActivityPageProps) {
  const { search, input, set } = useFilter();
  // Only the range of the filter applies here; the input's type is a union in which it has no common name.
  const { from, to }: { from?: number; to?: number } = typeof input === 'string' ? {} : input;
  const text = search.search === '' ? undefined : search.search;
  const filter = readActivityQuery(text ?? '');
  return (
    <Page
      title={title}
      subtitle={subtitle}
      actions={
        <>
          <SearchField
            label={searchLabel}
            value={text ?? ''}
            onSearch={(searched) => set({ search: searched })}
          />
          <RangeField search={search} onChange={set} />
          <ViewsMenu list={procedure === 'threads.list' ? 'threads' : 'users'} />
        </>
      }
    >
      {typeof filter === 'string' ? (
        <InvalidFilter problem={filter} />
      ) : (
        <ActivityTable
          procedure={procedure}
          caption={title}
          columns={columns}
          query={{ from, to, ...filter }}
          empty={
            <>
              {text === undefined ? empty : <NothingFound text={text} />}
              {(from !== undefined || to !== undefined) && (
                <p className="px-4 pb-8 text-center text-muted text-sm">
                  <NewestActivity procedure={procedure} search={filter.search} />
                </p>
              )}
            </>
          }
        />
      )}
    </Page>
  );
}

function NothingFound({ text }: { text: string }) {
  return (
    <p className="px-4 py-10 text-center text-muted text-sm">
      Nothing found for “<ShownText text={text} />
      ”.
    </p>
  );
}
