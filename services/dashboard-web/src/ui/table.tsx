import type { ReactNode } from 'react';
import { classes } from './classes.ts';

export interface Column<Row> {
  title: string;
  cell: (row: Row) => ReactNode;
  /** Numbers stand at the right. */
  isNumber?: boolean;
  className?: string;
  /** Left out in narrow windows: the other columns say what matters. */
  isExtra?: boolean;
}

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
          {columns.map(({ title, isNumber, isExtra }) => (
            <th
              key={title}
              scope="col"
              className={classes(
                'label h-8 px-4 whitespace-nowrap',
                isNumber ? 'text-right' : 'text-left',
                isExtra && 'max-md:hidden',
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
            {columns.map(({ title, cell, isNumber, className, isExtra }) => (
              <td
                key={title}
                className={classes(
                  'h-10 px-4 py-1.5',
                  isNumber && 'text-right whitespace-nowrap',
                  isExtra && 'max-md:hidden',
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
