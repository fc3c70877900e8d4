import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { apiQuery } from '../../api/query.ts';
import type { ListedEvent } from '../../event/event-query.ts';
import { formatDuration } from '../../format/number.ts';
import { formatTime } from '../../format/time.ts';
import { useSettings } from '../../settings/settings.ts';
import { useSpace } from '../../space/space.ts';
import { ShownText } from '../../text/shown-text.tsx';
import { StateBadge, TypeBadge } from '../../ui/badge.tsx';
import { buttonClasses } from '../../ui/button.tsx';
import { Card, Page } from '../../ui/page.tsx';
import { FailureNotice, Loading } from '../../ui/states.tsx';
import { Table } from '../../ui/table.tsx';
import { Dashboard } from './dashboard.tsx';
import { FirstEvent } from './first-event.tsx';

/** Poll interval of a space without events, in milliseconds. */
const waitingPollMs = 1_000;
const recentEvents = 8;

/** The overview of a space; before its first event, instructions for sending one. */
export function OverviewPage() {
  const { id: spaceId, name } = useSpace();
  const { data, error, refetch } = useQuery({
    ...apiQuery('events.list', { spaceId, limit: recentEvents }),
    // Any stored event ends the wait.
    refetchInterval: ({ state }) => (state.data?.events.length === 0 ? waitingPollMs : false),
  });
  if (error === null && data?.events.length === 0) return <FirstEvent />;
  return (
    <Page title="Overview" subtitle={name}>
      {error !== null ? (
        <FailureNotice error={error} onRetry={() => void refetch()} />
      ) : data === undefined ? (
        <Loading />
      ) : (
        <div className="flex flex-col gap-4">
          <Dashboard />
          <Recent events={data.events} />
        </div>
      )}
    </Page>
  );
}

/** The newest events. */
function Recent({ events }: { events: readonly ListedEvent[] }) {
  const { id: spaceId } = useSpace();
  const { zone } = useSettings();
  return (
    <Card
      title="Recent events"
      isFlush
      actions={
        <Link to="/s/$spaceId/events" params={{ spaceId }} className={buttonClasses('quiet', 'small')}>
          All events
        </Link>
      }
    >
      <Table
        caption="Recent events"
        rows={events}
        keyOf={({ id }) => id}
        columns={[
          {
            title: 'Time',
            cell: ({ startTimeMs }) => (
              <span className="whitespace-nowrap text-muted">{formatTime(startTimeMs, zone)}</span>
            ),
          },
          { title: 'Type', cell: ({ type }) => <TypeBadge type={type} /> },
          {
            title: 'Model or tool',
            cell: ({ id, name }) => (
              <Link
                to="/s/$spaceId/events/$eventId"
                params={{ spaceId, eventId: id }}
                className="font-medium hover:underline"
              >
                <ShownText text={name ?? 'unnamed'} />
              </Link>
            ),
          },
          { title: 'State', cell: ({ state }) => <StateBadge state={state} /> },
          { title: 'Duration', isNumber: true, cell: ({ durationMs }) => formatDuration(durationMs) },
        ]}
      />
    </Card>
  );
}
