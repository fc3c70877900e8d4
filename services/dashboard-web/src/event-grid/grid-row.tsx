import { EllipsisVertical } from 'lucide-react';
import { TickBox } from '../compare/ticked-events.tsx';
import type { ListedEvent } from '../event/event-query.ts';
import { formatDuration } from '../format/number.ts';
import { formatCost } from '../format/priced.ts';
import { formatInCard } from '../format/time.ts';
import { ShownText } from '../text/shown-text.tsx';
import { ErrorIcon, TypeIcon } from '../ui/badge.tsx';
import { IconButton } from '../ui/button.tsx';
import { classes } from '../ui/classes.ts';
import { GridCell, GridRow } from '../ui/grid-cell.tsx';
import { type EventColumn, Preview } from './columns.tsx';

export interface RowProps {
  event: ListedEvent;
  index: number;
  top: number;
  isSelected: boolean;
  onSelect: (event: ListedEvent) => void;
  onMenu: (anchor: Element) => void;
}

const cellClasses = 'flex min-w-0 items-center overflow-hidden px-3 whitespace-nowrap';

/** @param props `template` has the widths of the columns. */
export function EventRow({
  event,
  index,
  top,
  isSelected,
  onSelect,
  onMenu,
  columns,
  template,
}: RowProps & { columns: readonly EventColumn[]; template: string }) {
  return (
    <GridRow
      index={index + 2}
      isSelected={isSelected}
      onClick={() => onSelect(event)}
      className={classes(
        'absolute inset-x-0 grid h-[34px] cursor-pointer border-line border-b text-sm',
        isSelected ? 'bg-accent-soft' : 'bg-surface hover:bg-hover',
      )}
      style={{ top, gridTemplateColumns: template }}
    >
      <GridCell aria-colindex={1} className="grid place-items-center">
        <TickBox event={event} />
      </GridCell>
      {columns.map(({ id, isNumber, cell }, column) => (
        <GridCell
          key={id}
          aria-colindex={column + 2}
          className={classes(cellClasses, isNumber && 'justify-end')}
        >
          {cell(event)}
        </GridCell>
      ))}
      <GridCell
        aria-colindex={columns.length + 2}
        className="sticky right-0 grid place-items-center bg-inherit"
      >
        <MenuButton onMenu={onMenu} />
      </GridCell>
    </GridRow>
  );
}

function MenuButton({ onMenu }: { onMenu: (anchor: Element) => void }) {
  return (
    <IconButton
      icon={EllipsisVertical}
      label="Actions"
      aria-haspopup="menu"
      onClick={(click) => {
        click.stopPropagation();
        onMenu(click.currentTarget);
      }}
    />
  );
}

/** A card of two lines: what was called, when, how long and for what; then the preview. */
export function EventCard({ event, index, top, isSelected, onSelect, onMenu }: RowProps) {
  const { type, state, name, cost, durationMs, startTimeMs } = event;
  return (
    <GridRow
      index={index + 2}
      isSelected={isSelected}
      onClick={() => onSelect(event)}
      className={classes(
        'absolute inset-x-0 grid h-16 cursor-pointer grid-cols-[minmax(0,1fr)_auto] grid-rows-2 items-center gap-x-2 border-line border-b py-1.5 pr-2 pl-4 text-sm',
        isSelected && 'bg-accent-soft',
      )}
      style={{ top }}
    >
      <GridCell className="flex min-w-0 items-center gap-1.5">
        <TypeIcon type={type} />
        <ShownText text={name ?? 'unnamed'} className="truncate font-medium" />
        {state === 'error' && <ErrorIcon />}
        <span className="ml-auto shrink-0 text-muted">{formatDuration(durationMs)}</span>
        {cost !== null && (
          <span className="shrink-0 text-muted">{formatCost({ cost, bound: event.costBound })}</span>
        )}
      </GridCell>
      <GridCell className="row-span-2">
        <MenuButton onMenu={onMenu} />
      </GridCell>
      <GridCell className="flex min-w-0 items-baseline gap-2 whitespace-nowrap">
        <span className="shrink-0 text-faint text-xs">{formatInCard(startTimeMs, Date.now())}</span>
        <Preview event={event} />
      </GridCell>
    </GridRow>
  );
}
