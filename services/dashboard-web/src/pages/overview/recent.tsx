import { Link } from '@tanstack/react-router';
import type { ListedEvent } from '../../event/event-query.ts';
import { formatDuration } from '../../format/number.ts';
import { formatTime } from '../../format/time.ts';
import { useSettings } from '../../settings/settings.ts';
import { useSpace } from '../../space/space.ts';
import { ShownText } from '../../text/shown-text.tsx';
import { StateBadge, TypeBadge } from '../../ui/badge.tsx';
import { buttonClasses } from '../../ui/button.tsx';
import { Card } from '../../ui/page.tsx';
import { Table } from '../../ui/table.tsx';

/** The newest events. */
export function Recent({ events }: { events: readonly ListedEvent[] }) {
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
