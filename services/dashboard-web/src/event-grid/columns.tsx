import { TriangleAlert } from 'lucide-react';
import type { ReactNode } from 'react';
import { type ListedEvent, showPreview, tokensOf } from '../event/event-query.ts';
import { FoundExcerpt, oneLine } from '../event/excerpt.tsx';
import { type NamedField, NamedValue } from '../filter/named-value.tsx';
import { formatCount, formatDuration } from '../format/number.ts';
import { formatCost } from '../format/priced.ts';
import { formatInCard, formatTime } from '../format/time.ts';
import { NoValue } from '../table/table.tsx';
import { ShownText } from '../text/shown-text.tsx';
import { ErrorIcon, TypeIcon } from '../ui/badge.tsx';
import { classes } from '../ui/classes.ts';

export interface EventColumn {
  id: string;
  title: string;
  width: number;
  isNumber?: boolean;
  /** The parameter of the address that sorts by the column, the largest first. */
  sort?: 'duration' | 'tokens' | 'cost';
  cell: (event: ListedEvent) => ReactNode;
}

export const widthMin = 56;

const time: EventColumn = {
  id: 'time',
  title: 'Time',
  width: 178,
  cell: (event) => <span className="text-muted">{formatTime(event.startTimeMs)}</span>,
};
const name: EventColumn = {
  id: 'name',
  title: 'Model or tool',
  width: 160,
  cell: (event) => <Name event={event} />,
};
const preview: EventColumn = {
  id: 'preview',
  title: 'Input → output',
  width: 290,
  cell: (event) => <Preview event={event} />,
};

/** The last column takes the rest of the window. */
export const columns: readonly EventColumn[] = [
  time,
  name,
  {
    id: 'duration',
    title: 'Duration',
    width: 84,
    isNumber: true,
    sort: 'duration',
    cell: ({ durationMs }) => formatDuration(durationMs),
  },
  {
    id: 'tokens',
    title: 'Tokens',
    width: 78,
    isNumber: true,
    sort: 'tokens',
    cell: (event) => {
      const tokens = tokensOf(event);
      return tokens === null ? <NoValue /> : formatCount(tokens);
    },
  },
  {
    id: 'cost',
    title: 'Cost',
    width: 96,
    isNumber: true,
    sort: 'cost',
    cell: ({ cost, costBound }) => (cost === null ? <NoValue /> : formatCost({ cost, bound: costBound })),
  },
  { id: 'user', title: 'User', width: 110, cell: (event) => <Value field="userId" event={event} /> },
  {
    id: 'thread',
    title: 'Thread',
    width: 110,
    cell: (event) => <Value field="threadId" event={event} />,
  },
  preview,
];

/** Beside an open event, where there is little room: the errors and outputs stay. */
export const columnsBeside: readonly EventColumn[] = [
  {
    ...time,
    width: 84,
    cell: ({ startTimeMs }) => <span className="text-muted">{formatInCard(startTimeMs, Date.now())}</span>,
  },
  { ...name, width: 150 },
  { ...preview, width: 110 },
];

function Name({ event }: { event: ListedEvent }) {
  const { type, state, name, flags } = event;
  return (
    <span className="flex min-w-0 items-center gap-1.5">
      <TypeIcon type={type} />
      {name === null ? (
        <span className="text-faint">unnamed</span>
      ) : (
        <NamedValue field="name" value={name} event={event} isFloating className="font-medium" />
      )}
      {state === 'error' && <ErrorIcon />}
      {flags.length > 0 && (
        <TriangleAlert aria-label="Inconsistent data" className="size-3.5 shrink-0 text-warn" />
      )}
    </span>
  );
}

function Value({ field, event }: { field: Exclude<NamedField, 'name'>; event: ListedEvent }) {
  const value = event[field];
  if (value === null || value === '') return <NoValue />;
  return <NamedValue field={field} value={value} event={event} isFloating className="text-muted" />;
}

/** The hit of a search, otherwise an error's message before the input, behind which it would be cut off. */
export function Preview({ event }: { event: ListedEvent }) {
  const { inputPreview, outputPreview, errorMessage, state, excerpt } = event;
  if (excerpt !== undefined) return <FoundExcerpt excerpt={excerpt} />;
  const input = inputPreview === null ? undefined : oneLine(showPreview(inputPreview));
  if (state === 'error')
    return (
      <span dir="auto" className="truncate">
        <ShownText text={oneLine(errorMessage ?? 'Error without a message')} className="text-bad" />
        {input !== undefined && (
          <span className="text-muted">
            <span aria-hidden> ← </span>
            <ShownText text={input} />
          </span>
        )}
      </span>
    );
  return (
    <span className="flex min-w-0 flex-1">
      {input !== undefined && (
        <ShownText
          text={input}
          dir="auto"
          className={classes('truncate text-muted', outputPreview !== null && 'max-w-[45%] shrink-0')}
        />
      )}
      {outputPreview !== null && (
        <span dir="auto" className="min-w-0 flex-1 truncate">
          <span aria-hidden className="text-faint">
            {' '}
            →{' '}
          </span>
          <ShownText text={oneLine(showPreview(outputPreview))} />
        </span>
      )}
    </span>
  );
}
