import { type Host, printJson, printLine } from '../host.ts';

export interface TableColumn<Row> {
  readonly title: string;
  /** Characters; undefined for the last column, which takes the rest of the line. */
  readonly width?: number;
  readonly isNumber?: boolean;
  cell(row: Row): string | number | null;
}

/** The width of a terminal that does not tell its own. */
const terminalColumns = 100;

/** A table on a terminal, one JSON object per line in a pipe. */
export async function printRows<Row>(
  host: Host,
  columns: readonly TableColumn<Row>[],
  rows: AsyncIterable<Row> | Iterable<Row>,
): Promise<void> {
  const { isTTY = false, columns: width = terminalColumns } = host.stdout;
  if (isTTY)
    await printLine(
      host,
      toLine(columns, (column) => column.title, width),
    );
  for await (const row of rows) {
    if (isTTY)
      await printLine(
        host,
        toLine(columns, (column) => column.cell(row), width),
      );
    else await printJson(host, row);
  }
}

function toLine<Row>(
  columns: readonly TableColumn<Row>[],
  textOf: (column: TableColumn<Row>) => string | number | null,
  lineChars: number,
): string {
  let left = lineChars;
  const cells = columns.map((column) => {
    const width = column.width ?? Math.max(left, 10);
    left -= width + 2;
    const text = cut(String(textOf(column) ?? ''), width);
    return column.isNumber ? text.padStart(width) : text.padEnd(width);
  });
  return cells.join('  ').trimEnd();
}

/** Replaces control characters: recorded text must not control the terminal. */
export function withoutControls(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ');
}

function cut(text: string, width: number): string {
  const shown = withoutControls(text);
  return shown.length > width ? `${shown.slice(0, width - 1)}…` : shown;
}
