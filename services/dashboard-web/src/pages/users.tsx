import { UserRound } from 'lucide-react';
import { LastState } from '../activity/activity-columns.tsx';
import { ActivityPage } from '../activity/activity-list.tsx';
import { rangeOf } from '../filter/conditions.ts';
import { SpaceLink } from '../space/space.tsx';
import { ShownText } from '../text/shown-text.tsx';
import { Notice } from '../ui/loaded.tsx';
import { useSearchTexts } from '../url/use-search.ts';

/** End users, most recently active first. A user's page has the same range of time. */
export function UsersPage() {
  const search = useSearchTexts();
  return (
    <ActivityPage
      procedure="users.list"
      title="Users"
      subtitle="End users, most recently active first."
      searchLabel="User, cost:>1, model:…"
      columns={[
        {
          title: 'User',
          className: 'md:min-w-28 md:max-w-72',
          cell: ({ id, lastState }) => (
            <span className="flex min-w-0 items-center gap-1.5">
              <LastState state={lastState} />
              <SpaceLink
                page="user"
                id={id}
                search={rangeOf(search)}
                className="truncate font-medium hover:underline"
              >
                <ShownText text={id} />
              </SpaceLink>
            </span>
          ),
        },
      ]}
      empty={
        <Notice icon={UserRound} title="No users" isSmall>
          Events whose context has a user id appear here.
        </Notice>
      }
    />
  );
}
