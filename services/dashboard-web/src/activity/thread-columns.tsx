import { Link } from '@tanstack/react-router';
import type { Space } from '../space/space.ts';
import { ShownText } from '../text/shown-text.tsx';
import type { Column } from '../ui/table.tsx';
import { type Activity, FirstInput, LastState } from './activity-columns.tsx';

/** What names a thread: its id, what it began with, and its user. */
export function threadColumns({ id: spaceId }: Space): Column<Activity>[] {
  return [
    {
      title: 'Thread',
      className: 'md:w-2/5 md:max-w-0',
      cell: ({ id, firstInput, lastState }) => (
        <div className="min-w-0 flex-1">
          <span className="flex min-w-0 items-center gap-1.5">
            <LastState state={lastState} />
            <Link
              to="/s/$spaceId/threads/$threadId"
              params={{ spaceId, threadId: id }}
              className="truncate font-medium hover:underline"
            >
              <ShownText text={id} />
            </Link>
          </span>
          <FirstInput text={firstInput} />
        </div>
      ),
    },
    {
      title: 'User',
      className: 'md:max-w-40',
      cell: ({ userId }) =>
        userId === null || userId === '' ? (
          <span className="text-faint">–</span>
        ) : (
          <Link
            to="/s/$spaceId/users/$userId"
            params={{ spaceId, userId }}
            className="block truncate text-muted hover:underline"
          >
            <ShownText text={userId} />
          </Link>
        ),
    },
  ];
}
