import { useParams } from '@tanstack/react-router';
import { MessagesSquare, UserRound } from 'lucide-react';
import { ActivityFacts, LastState } from '../activity/activity-columns.tsx';
import { ActivityPage, ActivityTable } from '../activity/activity-list.tsx';
import { isTransient } from '../api/failure.ts';
import { rangeOf } from '../filter/conditions.ts';
import { RangeField } from '../filter/range-field.tsx';
import { useFilter } from '../filter/use-filter.ts';
import { SpaceButton, SpaceLink } from '../space/space.tsx';
import { useSpaceQuery } from '../space/use-space-query.ts';
import { describeText } from '../text/shown-text.tsx';
import { CopyButton } from '../ui/copy-button.tsx';
import { FailureNotice, Notice } from '../ui/loaded.tsx';
import { Page } from '../ui/page.tsx';
import { useSearchTexts } from '../url/use-search.ts';
import { threadColumns } from './threads.tsx';

/** Totals of all time, and the threads of a range. */
export function UserPage() {
  const { userId = '' } = useParams({ strict: false });
  const { search, input, set } = useFilter();
  const { from, to }: { from?: number; to?: number } = typeof input === 'string' ? {} : input;
  const { data, error, refetch } = useSpaceQuery('users.get', { userId });
  // While the API is away the totals stay.
  if (error !== null && (data === undefined || !isTransient(error)))
    return (
      <Page title="User">
        <FailureNotice error={error} onRetry={() => void refetch()} />
      </Page>
    );
  return (
    <Page
      title={describeText(userId)}
      // Reserves the line, so that nothing moves when the totals arrive.
      subtitle={data === undefined ? <span className="block h-5" /> : <ActivityFacts activity={data} />}
      actions={
        <>
          <RangeField search={search} onChange={set} />
          <CopyButton label="Copy the user id" text={userId} />
          <SpaceButton page="events" search={{ ...rangeOf(search), userId }} text="Show events" />
        </>
      }
    >
      <ActivityTable
        procedure="threads.list"
        caption={`Threads of ${describeText(userId)}`}
        columns={threadColumns.filter(({ title }) => title !== 'User')}
        query={{ userId, from, to }}
        empty={
          <Notice icon={MessagesSquare} title="No threads" isSmall>
            Events of this user with a thread id appear here.
          </Notice>
        }
      />
    </Page>
  );
}

/** A user's page has the same range of time. */
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
                text={id}
              />
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
