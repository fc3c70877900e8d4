import { type RefObject, useLayoutEffect, useState } from 'react';
import { changeSettings, useSettings } from '../settings/settings.ts';
import type { EventColumn } from './columns.tsx';

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

/** Columns that are left out where they do not fit, the least important one first. */
const givingWay = ['thread', 'user', 'tokens', 'cost', 'duration'];

/** Leaves out columns until the others fit into the room, in pixels, or only important ones are left. */
export function fittingColumns<Column extends { id: string }>(
  columns: readonly Column[],
  widthOf: (column: Column) => number,
  { room, kept }: { room: number; kept?: string | undefined },
): readonly Column[] {
  let left = columns.reduce((sum, column) => sum + widthOf(column), 0);
  const out = new Set<Column>();
  for (const id of givingWay) {
    const column = columns.find((one) => one.id === id && id !== kept);
    if (left <= room) break;
    if (column === undefined) continue;
    out.add(column);
    left -= widthOf(column);
  }
  return columns.filter((column) => !out.has(column));
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
