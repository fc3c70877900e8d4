import { MessagesSquare } from 'lucide-react';
import { ActivityPage } from '../activity/activity-list.tsx';
import { threadColumns } from '../activity/thread-columns.tsx';
import { Notice } from '../ui/loaded.tsx';

/** Threads, most recently active first. */
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
