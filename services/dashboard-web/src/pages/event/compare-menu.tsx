import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { GitCompareArrows, History } from 'lucide-react';
import { apiQuery } from '../../api/query.ts';
import type { WholeEvent } from '../../event/event-query.ts';
import { useSpace } from '../../space/space.ts';
import { Button } from '../../ui/button.tsx';
import { Menu, MenuItem } from '../../ui/menu.tsx';

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
