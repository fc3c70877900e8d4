import { Download } from 'lucide-react';
import { polled } from '../../api/failure.ts';
import type { Output } from '../../api/query.ts';
import { formatCount } from '../../format/number.ts';
import { formatToMinute } from '../../format/time.ts';
import { useSpaceQuery } from '../../space/use-space-query.ts';
import { type Column, TableCard, Time } from '../../table/table.tsx';
import { ShownText } from '../../text/shown-text.tsx';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { FailureNotice } from '../../ui/loaded.tsx';

type Listed = Output<'erasures.list'>;

const progressMs = 2_000;

const subjectNames = {
  user: 'a user',
  thread: 'a thread',
  before: 'before a time',
  space: 'the space',
} as const;

/** Erasures in progress, and the receipts of completed ones; nothing when there are none. */
export function ErasureList() {
  const { data, error } = useSpaceQuery(
    'erasures.list',
    {},
    polled((data) => data !== undefined && data.requests.length > 0 && progressMs),
  );
  if (error !== null) return <FailureNotice error={error} isSmall />;
  if (data === undefined) return null;
  const { requests, completed } = data;
  return (
    <>
      {requests.length > 0 && (
        <TableCard
          caption="Erasures in progress"
          rows={requests}
          keyOf={({ id }) => id}
          columns={requestColumns}
        />
      )}
      {completed.length > 0 && (
        <TableCard
          caption="Receipts of erasures"
          rows={completed}
          keyOf={({ id }) => id}
          columns={receiptColumns}
        />
      )}
    </>
  );
}

const requestColumns: readonly Column<Listed['requests'][number]>[] = [
  { title: 'Requested', cell: ({ createdAt }) => <Time at={createdAt} format={formatToMinute} /> },
  { title: 'Events of', cell: ({ subject }) => subjectNames[subject] },
  {
    title: 'Progress',
    cell: ({ startedAt, progress, failure, expectedEvents }) => (
      <span role="status">
        {failure !== null ? (
          <span className="text-bad">{failure} Retrying.</span>
        ) : startedAt === null ? (
          'Waiting for a writer'
        ) : (
          `${progress ?? 'Started'}${expectedEvents === null ? '' : `, of ${formatCount(expectedEvents)}`}`
        )}
      </span>
    ),
  },
  { title: 'By', isExtra: true, cell: ({ requestedBy }) => requestedBy ?? '–' },
  { title: 'Reason', isExtra: true, cell: ({ reason }) => <ShownText text={reason ?? '–'} /> },
];

const receiptColumns: readonly Column<Listed['completed'][number]>[] = [
  { title: 'Completed', cell: ({ completedAt }) => <Time at={completedAt} format={formatToMinute} /> },
  { title: 'Events of', cell: ({ subject }) => subjectNames[subject] },
  { title: 'Events', isNumber: true, cell: ({ events }) => formatCount(events) },
  {
    title: 'By',
    isExtra: true,
    cell: ({ requestedBy }) => requestedBy ?? <Badge>operator</Badge>,
  },
  { title: 'Reason', isExtra: true, cell: ({ reason }) => <ShownText text={reason ?? '–'} /> },
  {
    title: 'Receipt',
    isPinned: true,
    isNumber: true,
    cell: ({ id, receipt }) =>
      receipt === null ? (
        <span className="text-faint">none</span>
      ) : (
        <Button
          icon={Download}
          size="small"
          aria-label={`Download the receipt ${id}`}
          onClick={() => download(`erasure-${id}.json`, receipt)}
          text="Download"
        />
      ),
  },
];

function download(name: string, json: string): void {
  const url = URL.createObjectURL(new Blob([json], { type: 'application/json' }));
  const link = Object.assign(document.createElement('a'), { href: url, download: name });
  link.click();
  URL.revokeObjectURL(url);
}
