import { Link } from '@tanstack/react-router';
import { MessagesSquare } from 'lucide-react';
import { ActivityList } from '../../activity/activity-list.tsx';
import { useSpace } from '../../space/space.ts';
import { ShownText } from '../../text/shown-text.tsx';
import { Notice } from '../../ui/states.tsx';

/** The threads, by their last activity. */
export function ThreadsPage() {
  const { id: spaceId } = useSpace();
  return (
    <ActivityList
      procedure="threads.list"
      title="Threads"
      subtitle="Conversations, the last active first."
      what="Thread"
      name={({ id }) => (
        <Link
          to="/s/$spaceId/threads/$threadId"
          params={{ spaceId, threadId: id }}
          className="block truncate font-medium hover:underline"
        >
          <ShownText text={id} />
        </Link>
      )}
      empty={
        <Notice icon={MessagesSquare} title="No threads" isSmall>
          Events with a thread id in their context are shown here.
        </Notice>
      }
    />
  );
}
