import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { ChevronLeft, ChevronRight, GitCompareArrows, History } from 'lucide-react';
import { apiQuery } from '../../api/query.ts';
import type { WholeEvent } from '../../event/event-query.ts';
import { useFilter } from '../../filter/use-filter.ts';
import { useShortcuts } from '../../settings/shortcuts.ts';
import { useSpace } from '../../space/space.ts';
import { Button, IconButton } from '../../ui/button.tsx';
import { Menu, MenuItem } from '../../ui/menu.tsx';

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

/** Menu to compare this event with another one. */
export function CompareMenu({ event }: { event: WholeEvent }) {
  const { id: spaceId } = useSpace();
  const navigate = useNavigate();
  const { id, threadId, type } = event;
  // Only events of the same type: a prompt and a tool call have nothing in common.
  const { data } = useQuery({
    ...apiQuery('events.neighbours', { spaceId, id, type, threadId: threadId ?? '' }),
    enabled: threadId !== null && threadId !== '',
  });
  const previous = data?.inList.older?.id;
  const open = (search: Record<string, string>) =>
    void navigate({ to: '/s/$spaceId/compare', params: { spaceId }, search });
  return (
    <Menu
      align="end"
      trigger={
        <Button size="small">
          <GitCompareArrows aria-hidden />
          Compare
        </Button>
      }
    >
      {previous !== undefined && (
        <MenuItem onSelect={() => open({ a: previous, b: id })}>
          <History aria-hidden />
          With the previous event of the thread
        </MenuItem>
      )}
      <MenuItem onSelect={() => open({ b: id })}>
        <GitCompareArrows aria-hidden />
        With another event by id
      </MenuItem>
    </Menu>
  );
}
