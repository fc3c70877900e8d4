import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { ChevronLeft, ChevronRight } from 'lucide-react';
import { apiQuery } from '../../api/query.ts';
import type { WholeEvent } from '../../event/event-query.ts';
import { useFilter } from '../../filter/use-filter.ts';
import { useShortcuts } from '../../settings/shortcuts.ts';
import { useSpace } from '../../space/space.ts';
import { IconButton } from '../../ui/button.tsx';

/** Buttons for the previous and next event of the list in the address, also on `[` and `]`. */
export function Neighbours({ event }: { event: WholeEvent }) {
  const { id: spaceId } = useSpace();
  const { input, search } = useFilter();
  const navigate = useNavigate();
  const filter = typeof input === 'string' ? {} : input;
  const { data } = useQuery(apiQuery('events.neighbours', { ...filter, spaceId, id: event.id }));
  const open = (id: string | undefined) => {
    if (id === undefined) return;
    void navigate({ to: '/s/$spaceId/events/$eventId', params: { spaceId, eventId: id }, search });
  };
  const [earlier, later] = [data?.inList.older?.id, data?.inList.newer?.id];
  useShortcuts({ '[': () => open(earlier), ']': () => open(later) });
  return (
    <div className="flex">
      <IconButton label="Earlier event ([)" disabled={earlier === undefined} onClick={() => open(earlier)}>
        <ChevronLeft aria-hidden />
      </IconButton>
      <IconButton label="Later event (])" disabled={later === undefined} onClick={() => open(later)}>
        <ChevronRight aria-hidden />
      </IconButton>
    </div>
  );
}
