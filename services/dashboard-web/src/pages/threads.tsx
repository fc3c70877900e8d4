import { MessagesSquare } from 'lucide-react';
import { type Activity, Cost, FirstInput, LastState } from '../activity/activity-columns.tsx';
import { ActivityPage } from '../activity/activity-list.tsx';
import { formatCounted } from '../format/number.ts';
import { formatInCard } from '../format/time.ts';
import { SpaceLink } from '../space/space.tsx';
import { type Column, NoValue } from '../table/table.tsx';
import { Notice } from '../ui/loaded.tsx';

export function ThreadsPage() {
  return (
    <ActivityPage
      procedure="threads.list"
      title="Threads"
      subtitle="Conversations, most recently active first."
      searchLabel="Thread, user, text, errors:>0, model:…"
      columns={threadColumns}
      empty={
        <Notice icon={MessagesSquare} title="No threads" isSmall>
          Events whose context has a thread id appear here.
        </Notice>
      }
    />
  );
}

export const threadColumns: readonly Column<Activity>[] = [
  {
    title: 'Thread',
    className: 'md:w-2/5 md:max-w-0',
    cell: (thread) => <ThreadCell thread={thread} />,
  },
  {
    title: 'User',
    isExtra: true,
    className: 'md:max-w-40',
    cell: ({ userId }) =>
      userId === null || userId === '' ? (
        <NoValue />
      ) : (
        <SpaceLink
          page="user"
          id={userId}
          className="block truncate text-muted hover:underline"
          text={userId}
        />
      ),
  },
];

/** A thread's cell; in a card it has two lines with errors, cost and last time. */
function ThreadCell({ thread }: { thread: Activity }) {
  const { id, firstInput, lastState, lastStartMs, errors, cost } = thread;
  return (
    <div className="min-w-0 flex-1">
      <span className="flex min-w-0 items-center gap-1.5">
        <LastState state={lastState} />
        <SpaceLink page="thread" id={id} className="truncate font-medium hover:underline" text={id} />
        <span className="ml-auto flex shrink-0 gap-2 text-muted md:hidden">
          {errors > 0 && <span className="text-bad">{formatCounted(errors, 'error')}</span>}
          <Cost cost={cost} />
        </span>
      </span>
      <span className="flex items-baseline gap-2">
        <span className="shrink-0 text-faint text-xs md:hidden">{formatInCard(lastStartMs, Date.now())}</span>
        <FirstInput text={firstInput} />
      </span>
    </div>
  );
}
