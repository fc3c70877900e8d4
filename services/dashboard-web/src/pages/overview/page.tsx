import { polled } from '../../api/failure.ts';
import type { ListedEvent } from '../../event/event-query.ts';
import { RangeField } from '../../filter/range-field.tsx';
import { useFilter } from '../../filter/use-filter.ts';
import { formatDuration } from '../../format/number.ts';
import { SpaceButton, SpaceLink, useSpace } from '../../space/space.tsx';
import { useSpaceQuery } from '../../space/use-space-query.ts';
import { TableCard, Time } from '../../table/table.tsx';
import { StateBadge, TypeBadge } from '../../ui/badge.tsx';
import { Loaded } from '../../ui/loaded.tsx';
import { Page } from '../../ui/page.tsx';
import { Dashboard } from './dashboard.tsx';
import { FirstEvent } from './first-event.tsx';

/** Poll interval of a space without events, in milliseconds. */
const waitingPollMs = 1_000;
const recentEvents = 8;

/** The overview of a space; before its first event, instructions for sending one. */
export function OverviewPage() {
  const { name } = useSpace();
  const { search, set } = useFilter();
  const query = useSpaceQuery(
    'events.list',
    { limit: recentEvents },
    polled((data) => data?.events.length === 0 && waitingPollMs),
  );
  if (query.error === null && query.data?.events.length === 0) return <FirstEvent />;
  return (
    <Page
      title="Overview"
      subtitle={name}
      actions={<RangeField search={search} fallback="24h" onChange={set} />}
    >
      <Loaded query={query}>
        {(data) => (
          <div className="flex flex-col gap-4">
            <Dashboard isAway={query.error !== null} />
            <Recent events={data.events} />
          </div>
        )}
      </Loaded>
    </Page>
  );
}

function Recent({ events }: { events: readonly ListedEvent[] }) {
  return (
    <TableCard
      actions={<SpaceButton page="events" look="quiet" size="small" text="All events" />}
      caption="Recent events"
      rows={events}
      keyOf={({ id }) => id}
      columns={[
        { title: 'Time', cell: ({ startTimeMs }) => <Time at={startTimeMs} /> },
        { title: 'Type', cell: ({ type }) => <TypeBadge type={type} /> },
        {
          title: 'Model or tool',
          cell: ({ id, name }) => (
            <SpaceLink
              page="event"
              id={id}
              className="font-medium hover:underline"
              text={name ?? 'unnamed'}
            />
          ),
        },
        { title: 'State', cell: ({ state }) => <StateBadge state={state} /> },
        { title: 'Duration', isNumber: true, cell: ({ durationMs }) => formatDuration(durationMs) },
      ]}
    />
  );
}
