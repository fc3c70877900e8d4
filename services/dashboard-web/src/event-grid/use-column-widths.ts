import { changeSettings, useSettings } from '../settings/settings.ts';

/** The widths of a table's columns, which are kept in this browser. The last column takes the rest. */
export function useColumnWidths(table: string, columns: readonly { id: string; width: number }[]) {
  const { columnWidths } = useSettings();
  const widths = columns.map(({ id, width }) => columnWidths[`${table}.${id}`] ?? width);
  const template = widths
    .map((width, index) => (index === widths.length - 1 ? `minmax(${width}px, 1fr)` : `${width}px`))
    .join(' ');
  const setWidth = (id: string, width: number) =>
    changeSettings({ columnWidths: { ...columnWidths, [`${table}.${id}`]: Math.round(width) } });
  return { widths, template, setWidth };
}
