import type { Output } from '../../api/query.ts';
import { formatCount } from '../../format/number.ts';
import { formatTime } from '../../format/time.ts';
import { SpaceLink } from '../../space/space.tsx';
import { keepsData, useSpaceQuery } from '../../space/use-space-query.ts';
import { type Column, Table } from '../../table/table.tsx';
import { ShownText } from '../../text/shown-text.tsx';
import { QueryCard } from '../../ui/page.tsx';
import type { Search } from '../../url/search.ts';
import { constantPart } from './constant-part.ts';

const shownMax = 6;

/** A message opens the newest of its events, the number all of them. */
export function ErrorList({ from, to, range }: { from: number; to: number; range: Search }) {
  const query = useSpaceQuery('events.errors', { from, to }, keepsData);
  return (
    <QueryCard title="Errors by message" isFlush query={query}>
      {(data) =>
        data.groups.length === 0 ? (
          <p className="px-4 py-6 text-center text-muted text-sm">No errors in this range.</p>
        ) : (
          <>
            <Table
              caption="Errors by message"
              rows={data.groups.slice(0, shownMax)}
              keyOf={({ lastEventId }) => lastEventId}
              columns={errorColumns(range)}
            />
            {data.countedUntilMs !== null && (
              <p className="border-line border-t px-4 py-2 text-muted text-xs">
                The newest errors are counted, back to {formatTime(data.countedUntilMs)}.
              </p>
            )}
          </>
        )
      }
    </QueryCard>
  );
}

type ErrorGroup = Output<'events.errors'>['groups'][number];

function errorColumns(range: Search): Column<ErrorGroup>[] {
  return [
    {
      title: 'Message',
      className: 'md:w-full md:max-w-0',
      cell: ({ message, code, names, nameCount, lastEventId }) => (
        <div className="min-w-0 flex-1">
          <SpaceLink
            page="event"
            id={lastEventId}
            className="line-clamp-1 font-medium hover:underline"
            text={message || 'No message'}
          />
          <span className="line-clamp-1 text-faint text-xs">
            <ShownText text={[code, ...names].filter(Boolean).join(' · ')} />
            {nameCount > names.length && ` +${nameCount - names.length}`}
          </span>
        </div>
      ),
    },
    {
      title: 'Events',
      isNumber: true,
      cell: ({ message, code, events }) => (
        <SpaceLink
          page="events"
          search={{ ...range, ...filterOfErrors(message, code) }}
          className="text-bad hover:underline"
          text={formatCount(events)}
        />
      ),
    },
  ];
}

function filterOfErrors(message: string | null, code: string | null): Search {
  const text = constantPart(message ?? '');
  return {
    state: 'error',
    ...(code !== null && code !== '' && { errorCode: code }),
    ...(text !== '' && { text }),
  };
}
