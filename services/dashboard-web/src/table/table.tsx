import { ArrowDown, ArrowUp, ChevronsUpDown } from 'lucide-react';
import { type ReactNode, type RefObject, useRef } from 'react';
import { formatTime } from '../format/time.ts';
import { useShortcuts } from '../settings/settings.ts';
import { classes } from '../ui/classes.ts';
import { SelectField } from '../ui/field.tsx';
import { Card } from '../ui/page.tsx';
import { nameOf, nextSort, sortRows, sortState, type TableSort } from './table-sort.ts';

export interface Column<Row> {
  title: string;
  cell: (row: Row) => ReactNode;
  /** Right-aligned. */
  isNumber?: boolean;
  className?: string;
  /** For buttons: at the end of a card. */
  isPinned?: boolean;
  /** Hidden in narrow windows, unless the rows are sorted by it. */
  isExtra?: boolean;
  /** The value that the rows can be sorted by. Rows without a value come last. */
  sortBy?: (row: Row) => number | string | null;
}

export interface TableProps<Row> {
  /** What the table holds, for screen readers. */
  caption: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  keyOf: (row: Row) => string;
  /** The order, where columns have `sortBy`. */
  sort?: TableSort;
  /** Only the first rows in this order are shown. */
  rowsMax?: number;
  /** Whether `j` and `k` move the focus to the link of the next and the previous row. */
  hasKeys?: boolean;
  /** Shown in place of a table without rows. */
  empty?: ReactNode;
}

/** Few rows, all of them in the page. In a narrow window each is a card, with the titles of the columns. */
export function Table<Row>({
  caption,
  columns,
  rows,
  keyOf,
  sort,
  rowsMax,
  hasKeys = false,
  empty,
}: TableProps<Row>) {
  const body = useRef<HTMLTableSectionElement>(null);
  const sorted = (sort === undefined ? rows : sortRows(rows, columns, sort.by)).slice(0, rowsMax);
  if (rows.length === 0 && empty !== undefined)
    return typeof empty === 'string' ? <p className="px-4 py-4 text-muted text-sm">{empty}</p> : empty;
  return (
    <>
      {sort !== undefined && <SortField columns={columns} sort={sort} />}
      {hasKeys && <RowKeys body={body} />}
      <table className="w-full border-collapse text-sm max-md:block">
        <caption className="sr-only">{caption}</caption>
        <thead className="max-md:sr-only">
          <tr className="border-line border-b">
            {columns.map((column) => (
              <HeadCell key={column.title} column={column} sort={sort} />
            ))}
          </tr>
        </thead>
        <tbody ref={body} className="max-md:block">
          {sorted.map((row) => (
            <tr
              key={keyOf(row)}
              className="border-line border-b last:border-0 hover:bg-hover max-md:flex max-md:flex-wrap max-md:items-baseline max-md:gap-x-4 max-md:gap-y-0.5 max-md:px-4 max-md:py-2.5"
            >
              {columns.map((column) => (
                <BodyCell key={column.title} column={column} row={row} sort={sort} />
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
}

/** A table in a card with its caption as title. */
export function TableCard<Row>({ actions, ...table }: TableProps<Row> & { actions?: ReactNode }) {
  return (
    <Card title={table.caption} actions={actions} isFlush>
      <Table {...table} />
    </Card>
  );
}

function RowKeys({ body }: { body: RefObject<HTMLTableSectionElement | null> }) {
  const move = (by: 1 | -1) => {
    const rows = [...(body.current?.rows ?? [])];
    const place = rows.findIndex((row) => row.contains(document.activeElement));
    const next = rows[place === -1 ? 0 : place + by];
    next?.querySelector('a')?.focus();
  };
  useShortcuts({ j: () => move(1), k: () => move(-1) });
  return null;
}

function HeadCell<Row>({ column, sort }: { column: Column<Row>; sort: TableSort | undefined }) {
  const { title, isNumber, isExtra, sortBy } = column;
  const isSortable = sort !== undefined && sortBy !== undefined;
  return (
    <th
      scope="col"
      aria-sort={isSortable ? directionOf(column, sort) : undefined}
      className={classes(
        'label h-8 whitespace-nowrap md:px-3 md:last:pr-4 md:first:pl-4',
        isNumber ? 'text-right' : 'text-left',
        isExtra && 'max-md:hidden',
      )}
    >
      {isSortable ? <SortTitle title={title} sort={sort} /> : title}
    </th>
  );
}

function directionOf<Row>({ title, isNumber = false }: Column<Row>, { by }: TableSort) {
  const state = sortState(title, by);
  if (state === undefined) return 'none';
  return (state === 'first') === isNumber ? 'descending' : 'ascending';
}

/** In a card a cell follows the title of its column; the first cell and the buttons need none. */
const inCard =
  'max-md:flex max-md:min-w-0 max-md:max-w-full max-md:flex-wrap max-md:items-baseline max-md:before:mr-1.5 max-md:before:text-faint max-md:before:text-xs max-md:before:content-[attr(data-title)] max-md:first:basis-full max-md:first:before:hidden';
const cardButtons = 'max-md:mt-1 max-md:flex max-md:basis-full max-md:justify-end max-md:empty:hidden';

interface BodyCellProps<Row> {
  column: Column<Row>;
  row: Row;
  sort: TableSort | undefined;
}

function BodyCell<Row>({ column, row, sort }: BodyCellProps<Row>) {
  const { title, cell, isNumber, className, isExtra, isPinned } = column;
  const isHidden = isExtra && sortState(title, sort?.by) === undefined;
  return (
    <td
      data-title={title}
      className={classes(
        'md:h-10 md:px-3 md:py-1.5 md:last:pr-4 md:first:pl-4',
        isNumber && 'whitespace-nowrap md:text-right',
        isHidden ? 'max-md:hidden' : isPinned ? cardButtons : inCard,
        className,
      )}
    >
      {cell(row)}
    </td>
  );
}

/** Buttons for a row; in a card they stand at its end. */
export function actionsColumn<Row>(cell: (row: Row) => ReactNode): Column<Row> {
  return { title: 'Actions', isPinned: true, isNumber: true, cell };
}

/** Numbers by which the rows can be sorted; a dash for rows without one. */
export function numberColumn<Row>(
  title: string,
  numberOf: (row: Row) => number | null,
  format: (value: number) => string,
): Column<Row> {
  const cell = (row: Row) => {
    const value = numberOf(row);
    return value === null ? <NoValue /> : format(value);
  };
  return { title, isNumber: true, sortBy: numberOf, cell };
}

export function Faded({ children }: { children: ReactNode }) {
  return <span className="whitespace-nowrap text-muted">{children}</span>;
}

/** A time of the API, in the zone of the settings. */
export function Time({ at, format = formatTime }: { at: string | number; format?: TimeFormat }) {
  return <Faded>{format(typeof at === 'string' ? Date.parse(at) : at)}</Faded>;
}

type TimeFormat = (ms: number) => string;

export function NoValue() {
  return <span className="text-faint">–</span>;
}

export function SortTitle({ title, sort }: { title: string; sort: TableSort }) {
  const state = sortState(title, sort.by);
  const Icon = state === undefined ? ChevronsUpDown : state === 'reverse' ? ArrowUp : ArrowDown;
  return (
    <button
      type="button"
      onClick={() => sort.onSort(nextSort(title, sort.by))}
      className={`inline-flex min-h-6 items-center gap-1 rounded-sm hover:text-ink ${state === undefined ? '' : 'text-accent'}`}
    >
      {title}
      <Icon aria-hidden className="size-3" />
    </button>
  );
}

const unsorted = 'none';

interface SortFieldProps {
  columns: readonly { title: string; sortBy?: unknown }[];
  sort: TableSort;
}

/** Chooses the order of rows where they are cards, which have no titles of columns. */
function SortField({ columns, sort }: SortFieldProps) {
  const options = columns.flatMap(({ title, sortBy }) =>
    sortBy === undefined ? [] : [{ value: nameOf(title), label: `Sort by ${title.toLowerCase()}` }],
  );
  const value = options.find((option) => option.value === sort.by?.replace(/^-/, ''))?.value ?? unsorted;
  return (
    <div className="flex justify-end border-line border-b px-4 py-1.5 md:hidden">
      <SelectField
        label="Order"
        isLabelHidden
        options={[{ value: unsorted, label: 'Default order' }, ...options]}
        value={value}
        onChange={(chosen) => sort.onSort(chosen === unsorted ? undefined : chosen)}
        className="w-44"
      />
    </div>
  );
}
