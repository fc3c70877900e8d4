import { Link } from '@tanstack/react-router';
import { UserRound } from 'lucide-react';
import { ActivityList } from '../../activity/activity-list.tsx';
import { useSpace } from '../../space/space.ts';
import { ShownText } from '../../text/shown-text.tsx';
import { Notice } from '../../ui/states.tsx';
import { useSearchTexts } from '../../url/use-search.ts';

/** End users, most recently active first. A user links to their events in the same range of time. */
export function UsersPage() {
  const { id: spaceId } = useSpace();
  const search = useSearchTexts();
  return (
    <ActivityList
      procedure="users.list"
      title="Users"
      subtitle="End users, most recently active first."
      nameTitle="User"
      nameCell={({ id }) => (
        <Link
          to="/s/$spaceId/events"
          params={{ spaceId }}
          search={{ ...search, userId: id }}
          className="block truncate font-medium hover:underline"
        >
          <ShownText text={id} />
        </Link>
      )}
      empty={
        <Notice icon={UserRound} title="No users" isSmall>
          Events whose context has a user id appear here.
        </Notice>
      }
    />
  );
}
