import { Link } from '@tanstack/react-router';
import { MessagesSquare } from 'lucide-react';
import { ActivityList } from '../../activity/activity-list.tsx';
import { useSpace } from '../../space/space.ts';
import { ShownText } from '../../text/shown-text.tsx';
import { Notice } from '../../ui/states.tsx';

/** Threads, most recently active first. */
export function ThreadsPage() {
  const { id: spaceId } = useSpace();
  return (
    <ActivityList
      procedure="threads.list"
      title="Threads"
      subtitle="Conversations, most recently active first."
      nameTitle="Thread"
      nameCell={({ id }) => (
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
          Events whose context has a thread id appear here.
        </Notice>
      }
    />
  );
}
