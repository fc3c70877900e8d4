import type { KeyboardEvent, PointerEvent, ReactNode } from 'react';
import { SortTitle } from '../table/table.tsx';
import { classes } from '../ui/classes.ts';
import { type EventColumn, widthMin } from './columns.tsx';
import type { FittingColumns } from './use-columns.ts';

/** The largest first, or by time. */
export interface GridSort {
  by: EventColumn['sort'];
  onSort: (by: EventColumn['sort']) => void;
}

const widthMax = 900;
const keyStep = 16;

interface GridHeaderProps extends FittingColumns {
  sort: GridSort | undefined;
}

/** The line right of a title resizes the column, by pointer or arrow keys. */
export function GridHeader({ columns, missing, template, widthOf, setWidth, sort }: GridHeaderProps) {
  return (
    <div
      role="row"
      aria-rowindex={1}
      tabIndex={-1}
      className="sticky top-0 z-10 grid h-8 border-line border-b bg-sunken"
      style={{ gridTemplateColumns: template }}
    >
      <div role="columnheader" aria-colindex={1} tabIndex={-1}>
        <span className="sr-only">Compare</span>
      </div>
      {columns.map((column, index) => (
        <HeadCell key={column.id} column={column} index={index} sort={sort}>
          {index < columns.length - 1 && (
            <Resizer
              title={column.title}
              width={widthOf(column)}
              onWidth={(width) => setWidth(column, width)}
            />
          )}
        </HeadCell>
      ))}
      <div
        role="columnheader"
        aria-colindex={columns.length + 2}
        tabIndex={-1}
        className="sticky right-0 grid place-items-center bg-inherit"
      >
        {missing.length > 0 && (
          <span
            className="text-faint text-xs"
            title={`No room for ${missing.map(({ title }) => title).join(', ')}`}
          >
            +{missing.length}
          </span>
        )}
        <span className="sr-only">Actions</span>
      </div>
    </div>
  );
}

interface HeadCellProps {
  column: EventColumn;
  index: number;
  sort: GridSort | undefined;
  children: ReactNode;
}

function HeadCell({ column: { title, isNumber, sort: by }, index, sort, children }: HeadCellProps) {
  const isSorted = sort?.by === by;
  const canSort = by !== undefined && sort !== undefined;
  return (
    <div
      role="columnheader"
      tabIndex={-1}
      aria-colindex={index + 2}
      aria-sort={canSort ? (isSorted ? 'descending' : 'none') : undefined}
      className={classes('label relative flex min-w-0 items-center px-3', isNumber && 'justify-end')}
    >
      {canSort ? (
        <SortTitle
          title={title}
          sort={{
            by: isSorted ? title.toLowerCase() : undefined,
            onSort: () => sort.onSort(isSorted ? undefined : by),
          }}
        />
      ) : (
        <span className="truncate">{title}</span>
      )}
      {children}
    </div>
  );
}

interface ResizerProps {
  title: string;
  width: number;
  onWidth: (width: number) => void;
}

function Resizer({ title, width, onWidth }: ResizerProps) {
  const change = (next: number) => onWidth(Math.min(widthMax, Math.max(widthMin, next)));
  const onPointerDown = (down: PointerEvent<HTMLDivElement>) => {
    const handle = down.currentTarget;
    handle.setPointerCapture(down.pointerId);
    const onMove = (move: globalThis.PointerEvent) => change(width + move.clientX - down.clientX);
    handle.addEventListener('pointermove', onMove);
    handle.addEventListener('pointerup', () => handle.removeEventListener('pointermove', onMove), {
      once: true,
    });
  };
  const onKeyDown = ({ key }: KeyboardEvent) => {
    if (key === 'ArrowLeft') change(width - keyStep);
    if (key === 'ArrowRight') change(width + keyStep);
  };
  return (
    <div
      role="separator"
      aria-orientation="vertical"
      aria-label={`Width of ${title}`}
      aria-valuenow={width}
      aria-valuemin={widthMin}
      aria-valuemax={widthMax}
      tabIndex={0}
      onPointerDown={onPointerDown}
      onKeyDown={onKeyDown}
      className="absolute inset-y-0 -right-1 z-10 w-2 cursor-col-resize touch-none after:absolute after:inset-y-2 after:left-1 after:w-px after:bg-edge hover:after:inset-y-0 hover:after:bg-accent focus-visible:outline-offset-[-1px]"
    />
  );
}
