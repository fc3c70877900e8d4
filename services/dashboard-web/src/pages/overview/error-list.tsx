import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { apiQuery } from '../../api/query.ts';
import { formatCount } from '../../format/number.ts';
import { formatTime } from '../../format/time.ts';
import { useSettings } from '../../settings/settings.ts';
import { useSpace } from '../../space/space.ts';
import { ShownText } from '../../text/shown-text.tsx';
import { Card } from '../../ui/page.tsx';
import { FailureNotice, Loading } from '../../ui/states.tsx';
import { Table } from '../../ui/table.tsx';
import type { Search } from '../../url/search.ts';
import { constantPart } from './constant-part.ts';

const shownMax = 6;

/** The errors of a range by message. A message opens the newest of its events, the number all of them. */
export function ErrorList({ from, to, range }: { from: number; to: number; range: Search }) {
  const { id: spaceId } = useSpace();
  const { zone } = useSettings();
  const { data, error, refetch } = useQuery({
    ...apiQuery('events.errors', { spaceId, from, to }),
    placeholderData: keepPreviousData,
  });
  return (
    <Card title="Errors by message" isFlush>
      {error !== null ? (
        <FailureNotice error={error} onRetry={() => void refetch()} isSmall />
      ) : data === undefined ? (
        <Loading />
      ) : data.groups.length === 0 ? (
        <p className="px-4 py-6 text-center text-muted text-sm">No errors in this range.</p>
      ) : (
        <>
          <Table
            caption="Errors by message"
            rows={data.groups.slice(0, shownMax)}
            keyOf={({ lastEventId }) => lastEventId}
            columns={[
              {
                title: 'Message',
                className: 'md:w-full md:max-w-0',
                cell: ({ message, code, names, lastEventId }) => (
                  <div className="min-w-0 flex-1">
                    <Link
                      to="/s/$spaceId/events/$eventId"
                      params={{ spaceId, eventId: lastEventId }}
                      className="line-clamp-1 font-medium hover:underline"
                    >
                      <ShownText text={message || 'No message'} />
                    </Link>
                    <span className="line-clamp-1 text-faint text-xs">
                      <ShownText text={[code, ...names].filter(Boolean).join(' · ')} />
                    </span>
                  </div>
                ),
              },
              {
                title: 'Events',
                isNumber: true,
                cell: ({ message, code, events }) => (
                  <Link
                    to="/s/$spaceId/events"
                    params={{ spaceId }}
                    search={{ ...range, ...filterOfErrors(message, code) }}
                    className="text-bad hover:underline"
                  >
                    {formatCount(events)}
                  </Link>
                ),
              },
            ]}
          />
          {data.countedUntilMs !== null && (
            <p className="border-line border-t px-4 py-2 text-muted text-xs">
              The newest errors are counted, back to {formatTime(data.countedUntilMs, zone)}.
            </p>
          )}
        </>
      )}
    </Card>
  );
}

function filterOfErrors(message: string | null, code: string | null): Search {
  const text = constantPart(message ?? '');
  return {
    state: 'error',
    ...(code !== null && code !== '' && { errorCode: code }),
    ...(text !== '' && { text }),
  };
}
