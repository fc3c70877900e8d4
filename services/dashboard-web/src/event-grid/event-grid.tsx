import { useVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useRef } from 'react';
import type { ListedEvent } from '../event/event-query.ts';
import { useSettings } from '../settings/settings.ts';
import { classes } from '../ui/classes.ts';
import { columns } from './columns.tsx';
import { GridHeader } from './grid-header.tsx';
import { useColumnWidths } from './use-column-widths.ts';

const rowHeight = 34;
const overscan = 8;

/** The list as a grid of which only the visible rows are in the page. */
export function EventGrid({
  label = 'Events',
  events,
  selectedId,
  hasMore,
  isLoadingMore,
  onLoadMore,
  onSelect,
  onOpen,
}: {
  /** Its name for screen readers. */
  label?: string;
  events: readonly ListedEvent[];
  selectedId: string | undefined;
  hasMore: boolean;
  isLoadingMore: boolean;
  onLoadMore: () => void;
  onSelect: (event: ListedEvent) => void;
  onOpen: (event: ListedEvent) => void;
}) {
  const scroller = useRef<HTMLDivElement>(null);
  const { widths, template, setWidth } = useColumnWidths('events', columns);
  const list = useVirtualizer({
    count: events.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    overscan,
  });
  const items = list.getVirtualItems();
  const last = items.at(-1)?.index ?? 0;
  useEffect(() => {
    if (hasMore && !isLoadingMore && last >= events.length - overscan - 1) onLoadMore();
  }, [hasMore, isLoadingMore, last, events.length, onLoadMore]);

  const selected = events.findIndex(({ id }) => id === selectedId);
  // biome-ignore lint/correctness/useExhaustiveDependencies: only a new selection scrolls.
  useEffect(() => {
    if (selected !== -1) list.scrollToIndex(selected);
  }, [selected]);

  return (
    <div
      ref={scroller}
      role="grid"
      aria-label={label}
      aria-rowcount={hasMore ? -1 : events.length + 1}
      aria-colcount={columns.length}
      tabIndex={0}
      className="min-h-0 flex-1 overflow-auto border-line border-t bg-surface focus-visible:outline-offset-[-2px]"
    >
      <div role="presentation" className="min-w-max">
        <GridHeader columns={columns} template={template} widths={widths} onWidth={setWidth} />
        <div role="presentation" className="relative" style={{ height: list.getTotalSize() }}>
          {items.map(({ index, start, key }) => {
            const event = events[index];
            if (event === undefined) return null;
            return (
              <GridRow
                key={key}
                event={event}
                index={index}
                top={start}
                template={template}
                isSelected={event.id === selectedId}
                onSelect={onSelect}
                onOpen={onOpen}
              />
            );
          })}
        </div>
        {isLoadingMore && (
          <p role="status" className="sticky left-0 w-screen max-w-full px-3 py-2 text-faint text-xs">
            Loading earlier events …
          </p>
        )}
      </div>
    </div>
  );
}

function GridRow({
  event,
  index,
  top,
  template,
  isSelected,
  onSelect,
  onOpen,
}: {
  event: ListedEvent;
  index: number;
  /** The position in the list, in pixels. */
  top: number;
  /** The widths of the columns. */
  template: string;
  isSelected: boolean;
  onSelect: (event: ListedEvent) => void;
  onOpen: (event: ListedEvent) => void;
}) {
  const { zone } = useSettings();
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: j, k and Enter do the same.
    // biome-ignore lint/a11y/useFocusableInteractive: the grid has the focus.
    <div
      role="row"
      aria-rowindex={index + 2}
      aria-selected={isSelected}
      onClick={() => onSelect(event)}
      onDoubleClick={() => onOpen(event)}
      className={classes(
        'absolute inset-x-0 grid h-[34px] cursor-default border-line border-b text-sm',
        isSelected ? 'bg-accent-soft' : 'hover:bg-hover',
      )}
      style={{ top, gridTemplateColumns: template }}
    >
      {columns.map(({ id, isNumber, cell }, column) => (
        // biome-ignore lint/a11y/useFocusableInteractive: the grid has the focus.
        <div
          key={id}
          role="gridcell"
          aria-colindex={column + 1}
          className={classes(
            'flex min-w-0 items-center overflow-hidden px-3 whitespace-nowrap first:pl-4 last:pr-4 md:last:pr-6 md:first:pl-6',
            isNumber && 'justify-end',
          )}
        >
          {cell(event, zone)}
        </div>
      ))}
    </div>
  );
}
