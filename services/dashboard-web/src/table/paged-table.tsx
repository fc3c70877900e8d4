import type { ReactNode } from 'react';
import { Button } from '../ui/button.tsx';
import { FailureNotice, Loading } from '../ui/loaded.tsx';
import { Card } from '../ui/page.tsx';
import { type Column, Table } from './table.tsx';
import type { TableSort } from './table-sort.ts';

interface Pages {
  error: unknown;
  isError: boolean;
  isPending: boolean;
  hasNextPage: boolean;
  isFetchingNextPage: boolean;
  refetch: () => unknown;
  fetchNextPage: () => unknown;
}

/** A table in a card, with loading, failed and empty states, and a button for the next page. */
export function PagedTable<Row>({
  pages,
  caption,
  columns,
  rows,
  keyOf,
  sort,
  empty,
  isEmpty = rows.length === 0,
  note,
  more = 'Show more',
}: {
  pages: Pages;
  /** What the table holds, for screen readers. */
  caption: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  keyOf: (row: Row) => string;
  /** The order, where columns have `sortBy`. */
  sort?: TableSort;
  empty: ReactNode;
  /** A search may have no rows yet, but further pages. */
  isEmpty?: boolean;
  note?: ReactNode;
  /** The text of the button for the next page. */
  more?: string;
}) {
  return (
    <>
      <Card isFlush>
        {pages.isError ? (
          <FailureNotice error={pages.error} onRetry={() => void pages.refetch()} isSmall />
        ) : pages.isPending ? (
          <Loading />
        ) : isEmpty ? (
          empty
        ) : (
          <Table
            caption={caption}
            rows={rows}
            keyOf={keyOf}
            columns={columns}
            hasKeys
            {...(sort && { sort })}
          />
        )}
      </Card>
      {note}
      {pages.hasNextPage && (
        <div className="mt-3 flex justify-center">
          <Button disabled={pages.isFetchingNextPage} onClick={() => void pages.fetchNextPage()}>
            {more}
          </Button>
        </div>
      )}
    </>
  );
}
