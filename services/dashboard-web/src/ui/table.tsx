import type { ReactNode } from 'react';
import { classes } from './classes.ts';

export interface Column<Row> {
  title: string;
  cell: (row: Row) => ReactNode;
  /** Right-aligned. */
  isNumber?: boolean;
  className?: string;
  /** For buttons: stays visible where the table is wider than the window. */
  isPinned?: boolean;
  /** Hidden in narrow windows. */
  isExtra?: boolean;
}

const pinned = 'max-md:sticky max-md:right-0 max-md:border-line max-md:border-l max-md:bg-surface';

/** A table of few rows, all of them in the page. */
export function Table<Row>({
  caption,
  columns,
  rows,
  keyOf,
}: {
  /** What the table holds, for screen readers. */
  caption: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  keyOf: (row: Row) => string;
}) {
  return (
    <table className="w-full border-collapse text-sm">
      <caption className="sr-only">{caption}</caption>
      <thead>
        <tr className="border-line border-b">
          {columns.map(({ title, isNumber, isExtra, isPinned }) => (
            <th
              key={title}
              scope="col"
              className={classes(
                'label h-8 px-2 whitespace-nowrap first:pl-4 last:pr-4 md:px-4',
                isNumber ? 'text-right' : 'text-left',
                isExtra && 'max-md:hidden',
                isPinned && pinned,
              )}
            >
              {title}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={keyOf(row)} className="border-line border-b last:border-0 hover:bg-hover">
            {columns.map(({ title, cell, isNumber, className, isExtra, isPinned }) => (
              <td
                key={title}
                className={classes(
                  'h-10 px-2 py-1.5 first:pl-4 last:pr-4 md:px-4',
                  isNumber && 'text-right whitespace-nowrap',
                  isExtra && 'max-md:hidden',
                  isPinned && pinned,
                  className,
                )}
              >
                {cell(row)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
