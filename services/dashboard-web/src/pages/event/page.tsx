import { useParams } from '@tanstack/react-router';
import { useEvent } from '../../event/event-query.ts';
import { Loaded } from '../../ui/loaded.tsx';
import { Page } from '../../ui/page.tsx';
import { EventDetails } from './event-details.tsx';

export function EventPage() {
  const { eventId = '' } = useParams({ strict: false });
  return (
    <Loaded
      query={useEvent(eventId)}
      rows={10}
      label="Loading the event"
      frame={(state) => <Page title="Event">{state}</Page>}
    >
      {(event) => <EventDetails key={event.id} event={event} />}
    </Loaded>
  );
}
