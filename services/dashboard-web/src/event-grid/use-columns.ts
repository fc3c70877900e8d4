import { type RefObject, useLayoutEffect, useState } from 'react';
import { changeSettings, useSettings } from '../settings/settings.ts';
import type { EventColumn } from './columns.tsx';
import { fittingColumns } from './fitting-columns.ts';

/** Before the columns is the box to tick, after them the menu. */
const edgeWidth = 40;

/** The columns that fit, with their widths, which are kept in this browser under the name of the table. */
export interface FittingColumns {
  columns: readonly EventColumn[];
  /** The others. */
  missing: readonly EventColumn[];
  /** The widths for the style of each row. The last column takes the rest. */
  template: string;
  widthOf: (column: EventColumn) => number;
  setWidth: (column: EventColumn, width: number) => void;
}

/** @param options `kept` is the id of a column that is never left out: the list is sorted by it. */
export function useColumns(
  scroller: RefObject<HTMLElement | null>,
  chosen: readonly EventColumn[],
  { table, kept }: { table: string; kept: string | undefined },
): FittingColumns {
  const { columnWidths } = useSettings();
  const keyOf = ({ id }: EventColumn) => `${table}.${id}`;
  const widthOf = (column: EventColumn) => columnWidths[keyOf(column)] ?? column.width;
  const setWidth = (column: EventColumn, width: number) =>
    changeSettings({ columnWidths: { ...columnWidths, [keyOf(column)]: Math.round(width) } });
  const room = (useWidth(scroller) ?? Number.POSITIVE_INFINITY) - 2 * edgeWidth;
  const columns = fittingColumns(chosen, widthOf, { room, kept });
  const missing = chosen.filter((column) => !columns.includes(column));
  const widths = columns.map((column) => `${widthOf(column)}px`);
  const template = [
    `${edgeWidth}px`,
    ...widths.slice(0, -1),
    `minmax(${widths.at(-1)}, 1fr)`,
    `${edgeWidth}px`,
  ].join(' ');
  return { columns, missing, template, widthOf, setWidth };
}

/** The inner width of an element; undefined before it is drawn. */
function useWidth(element: RefObject<HTMLElement | null>): number | undefined {
  const [width, setWidth] = useState<number>();
  useLayoutEffect(() => {
    const measured = element.current;
    if (measured === null) return;
    const measure = () => setWidth(measured.clientWidth);
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(measured);
    return () => observer.disconnect();
  }, [element]);
  return width;
}
