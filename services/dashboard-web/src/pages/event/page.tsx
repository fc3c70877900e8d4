import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { eventQuery } from '../../event/event-query.ts';
import { useSpace } from '../../space/space.tsx';
import { Loaded } from '../../ui/loaded.tsx';
import { Page } from '../../ui/page.tsx';
import { EventDetails } from './event-details.tsx';

export function EventPage() {
  const { eventId = '' } = useParams({ strict: false });
  const { id: spaceId } = useSpace();
  return (
    <Loaded
      query={useQuery(eventQuery(spaceId, eventId))}
      rows={10}
      label="Loading the event"
      frame={(state) => <Page title="Event">{state}</Page>}
    >
      {(event) => <EventDetails key={event.id} event={event} />}
    </Loaded>
  );
}
