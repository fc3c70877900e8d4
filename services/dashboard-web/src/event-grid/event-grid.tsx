import type { VirtualItem } from '@tanstack/react-virtual';
import { useEffect, useRef, useState } from 'react';
import type { ListedEvent } from '../event/event-query.ts';
import { useVirtualRows } from '../text/use-virtual-rows.ts';
import { columns as allColumns, columnsBeside, type EventColumn } from './columns.tsx';
import { GridHeader, type GridSort } from './grid-header.tsx';
import { EventCard, EventRow } from './grid-row.tsx';
import { type OpenMenu, RowMenu } from './row-menu.tsx';
import { useColumns } from './use-columns.ts';
import { useIsNarrow } from './use-is-narrow.ts';

const rowHeight = 34;
const cardHeight = 64;
const overscan = 8;

export interface EventRows {
  events: readonly ListedEvent[];
  selectedId: string | undefined;
  hasMore?: boolean;
  isLoadingMore?: boolean;
  onLoadMore?: () => void;
}

interface EventGridProps extends EventRows {
  label?: string;
  /** Beside an open event there are fewer. */
  columns?: readonly EventColumn[];
  onSelect: (event: ListedEvent) => void;
  onOpen: (event: ListedEvent) => void;
  /** Without it the order is fixed. */
  sort?: GridSort;
}

/** Draws visible rows only; in a narrow window, rows are cards of two lines. */
export function EventGrid({
  label = 'Events',
  columns: chosen = allColumns,
  onSelect,
  onOpen,
  sort,
  ...rows
}: EventGridProps) {
  const { events, selectedId, hasMore, isLoadingMore } = rows;
  const isNarrow = useIsNarrow();
  const { list, scroller } = useRows({ ...rows, isNarrow });
  const isBeside = selectedId !== undefined && selectedId !== '';
  const table = isBeside ? 'events-beside' : 'events';
  const shown = useColumns(scroller, isBeside ? columnsBeside : chosen, { table, kept: sort?.by });
  const [menu, setMenu] = useState<OpenMenu>();
  const beginDoubleClick = useDoubleClick(onOpen);
  const select = (clicked: ListedEvent) => {
    beginDoubleClick(clicked);
    onSelect(clicked);
  };
  const drawRow = ({ index, start, key }: VirtualItem) => {
    const event = events[index];
    if (event === undefined) return null;
    const onMenu = (anchor: Element) => setMenu({ event, anchor });
    const row = { event, index, top: start, isSelected: event.id === selectedId, onSelect: select, onMenu };
    if (isNarrow) return <EventCard key={key} {...row} />;
    return <EventRow key={key} columns={shown.columns} template={shown.template} {...row} />;
  };
  return (
    <div
      ref={scroller}
      role="grid"
      aria-label={label}
      aria-rowcount={hasMore ? -1 : events.length + 1}
      aria-colcount={isNarrow ? undefined : shown.columns.length + 2}
      tabIndex={0}
      className="min-h-0 flex-1 overflow-auto border-line border-t bg-surface focus-visible:outline-offset-[-2px]"
    >
      <div role="presentation" className="md:min-w-max">
        {!isNarrow && <GridHeader {...shown} sort={sort} />}
        <div role="presentation" className="relative" style={{ height: list.getTotalSize() }}>
          {list.getVirtualItems().map(drawRow)}
        </div>
        {isLoadingMore && <LoadingMore />}
      </div>
      <RowMenu menu={menu} onClose={() => setMenu(undefined)} onOpen={onOpen} />
    </div>
  );
}

function LoadingMore() {
  return (
    <p role="status" className="sticky left-0 w-screen max-w-full px-3 py-2 text-faint text-xs">
      Loading earlier events …
    </p>
  );
}

/** Loads more near the end, and scrolls to a new selection. */
function useRows({ isNarrow, events, hasMore, isLoadingMore, ...rows }: EventRows & { isNarrow: boolean }) {
  const { selectedId, onLoadMore } = rows;
  const selected = events.findIndex(({ id }) => id === selectedId);
  const height = isNarrow ? cardHeight : rowHeight;
  const { list, scroller } = useVirtualRows({ count: events.length, height, overscan, selected });
  // biome-ignore lint/correctness/useExhaustiveDependencies: cards have another height than rows.
  useEffect(() => list.measure(), [isNarrow]);
  const last = list.getVirtualItems().at(-1)?.index ?? 0;
  useEffect(() => {
    if (hasMore && !isLoadingMore && last >= events.length - overscan - 1) onLoadMore?.();
  }, [hasMore, isLoadingMore, last, events.length, onLoadMore]);
  return { list, scroller };
}

/**
 * Opens the row of a double click, although the first click opens the peek, which may cover the row.
 * @param onOpen called with the row at the second click, which then does nothing else.
 * @returns to be called with the row at each click on one.
 */
function useDoubleClick<T>(onOpen: (row: T) => void): (row: T) => void {
  const first = useRef<T>(undefined);
  useEffect(() => {
    const onClick = (click: MouseEvent) => {
      const row = first.current;
      first.current = undefined;
      if (click.detail !== 2 || row === undefined) return;
      click.preventDefault();
      click.stopPropagation();
      onOpen(row);
    };
    // Before the handlers of the page: that of a row sets the first click afterwards.
    addEventListener('click', onClick, true);
    return () => removeEventListener('click', onClick, true);
  }, [onOpen]);
  return (row) => {
    first.current = row;
  };
}
