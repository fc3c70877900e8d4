import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { eventQuery, type WholeEvent } from '../../event/event-query.ts';
import { useSpace } from '../../space/space.ts';
import { Page } from '../../ui/page.tsx';
import { FailureNotice, Loading } from '../../ui/states.tsx';
import { EventDetails } from './event-details.tsx';

/** The page of one event. */
export function EventPage() {
  const { eventId = '' } = useParams({ strict: false });
  const { id: spaceId } = useSpace();
  const { data, error, refetch } = useQuery(eventQuery(spaceId, eventId));
  if (error !== null) {
    return (
      <Page title="Event">
        <FailureNotice error={error} onRetry={() => void refetch()} />
      </Page>
    );
  }
  if (data === undefined) {
    return (
      <Page title="Event">
        <Loading rows={10} label="Loading the event" />
      </Page>
    );
  }
  return <EventDetails key={data.id} event={data satisfies WholeEvent} />;
}
