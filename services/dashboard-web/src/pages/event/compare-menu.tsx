import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { GitCompareArrows, History } from 'lucide-react';
import { apiQuery } from '../../api/query.ts';
import type { WholeEvent } from '../../event/event-query.ts';
import { useSpace } from '../../space/space.ts';
import { Button } from '../../ui/button.tsx';
import { Menu, MenuItem } from '../../ui/menu.tsx';

/** Ways to another event to compare this one with. */
export function CompareMenu({ event }: { event: WholeEvent }) {
  const { id: spaceId } = useSpace();
  const navigate = useNavigate();
  const { id, threadId, type } = event;
  // Of the same type: a prompt has nothing in common with the call of a tool.
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
          With the one before in the thread
        </MenuItem>
      )}
      <MenuItem onSelect={() => open({ b: id })}>
        <GitCompareArrows aria-hidden />
        With an event by its id
      </MenuItem>
    </Menu>
  );
}
