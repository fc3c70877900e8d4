import type { ReactNode } from 'react';
import { Button } from '../ui/button.tsx';
import { FailureNotice, Loading } from '../ui/loaded.tsx';
import { Card } from '../ui/page.tsx';
import { Table, type TableProps } from './table.tsx';

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
  empty,
  isEmpty,
  note,
  more = 'Show more',
  ...table
}: TableProps<Row> & {
  pages: Pages;
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
        ) : (isEmpty ?? table.rows.length === 0) ? (
          empty
        ) : (
          <Table {...table} hasKeys />
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
