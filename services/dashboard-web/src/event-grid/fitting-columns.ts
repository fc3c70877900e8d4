import { type RefObject, useLayoutEffect, useState } from 'react';

/** Columns that are left out where they do not fit, the least important one first. */
const givingWay = ['thread', 'user', 'tokens', 'cost', 'duration'];

/**
 * Leaves out columns until the others fit into the room, in pixels. The tail of a row is always in view, and
 * what still does not fit scrolls.
 * @param kept the id of a column that stays: the list is sorted by it.
 */
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
export function useWidth(element: RefObject<HTMLElement | null>): number | undefined {
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
