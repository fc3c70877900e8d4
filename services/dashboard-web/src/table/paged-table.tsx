import type { ReactNode } from 'react';
import { Button } from '../ui/button.tsx';
import { type Loadable, Loaded } from '../ui/loaded.tsx';
import { Card } from '../ui/page.tsx';
import { Table, type TableProps } from './table.tsx';

interface Pages extends Loadable<unknown> {
  hasNextPage: boolean;
  isFetchingNextPage: boolean;
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
        <Loaded query={pages} isSmall>
          {() => ((isEmpty ?? table.rows.length === 0) ? empty : <Table {...table} hasKeys />)}
        </Loaded>
      </Card>
      {note}
      {pages.hasNextPage && (
        <div className="mt-3 flex justify-center">
          <Button
            disabled={pages.isFetchingNextPage}
            onClick={() => void pages.fetchNextPage()}
            text={more}
          />
        </div>
      )}
    </>
  );
}
