import type { KeyboardEvent, PointerEvent } from 'react';
import { classes } from '../ui/classes.ts';
import { type EventColumn, widthMin } from './columns.tsx';

const widthMax = 900;
/** Pixels of one press of an arrow key. */
const keyStep = 16;

/** The column titles. The line right of a title resizes the column, by pointer or arrow keys. */
export function GridHeader({
  columns,
  template,
  widths,
  onWidth,
}: {
  columns: readonly EventColumn[];
  template: string;
  widths: readonly number[];
  onWidth: (id: string, width: number) => void;
}) {
  return (
    <div
      role="row"
      aria-rowindex={1}
      tabIndex={-1}
      className="sticky top-0 z-10 grid h-8 border-line border-b bg-sunken"
      style={{ gridTemplateColumns: template }}
    >
      {columns.map(({ id, title, isNumber }, index) => (
        <div
          key={id}
          role="columnheader"
          tabIndex={-1}
          aria-colindex={index + 1}
          className={classes(
            'label relative flex min-w-0 items-center px-3 first:pl-4 last:pr-4 md:last:pr-6 md:first:pl-6',
            isNumber && 'justify-end',
          )}
        >
          <span className="truncate">{title}</span>
          {index < columns.length - 1 && (
            <Resizer
              title={title}
              width={widths[index] ?? widthMin}
              onWidth={(width) => onWidth(id, width)}
            />
          )}
        </div>
      ))}
    </div>
  );
}

function Resizer({
  title,
  width,
  onWidth,
}: {
  title: string;
  width: number;
  onWidth: (width: number) => void;
}) {
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
