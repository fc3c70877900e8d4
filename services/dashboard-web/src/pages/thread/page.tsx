import { useParams } from '@tanstack/react-router';
import { MessagesSquare } from 'lucide-react';
import { useState } from 'react';
import { describeText } from '../../text/marks.ts';
import { CopyButton } from '../../ui/copy-button.tsx';
import { Page } from '../../ui/page.tsx';
import { FailureNotice, Loading, Notice } from '../../ui/states.tsx';
import { FindField } from './find-field.tsx';
import { TurnList } from './turn-list.tsx';
import { keyOf, useThread } from './use-thread.ts';

/** A conversation in turns. It opens at its end, where the newest are. */
export function ThreadPage() {
  const { threadId = '' } = useParams({ strict: false });
  return <Thread key={threadId} threadId={threadId} />;
}

function Thread({ threadId }: { threadId: string }) {
  const thread = useThread(threadId);
  const { turns } = thread;
  const [currentKey, setCurrentKey] = useState<string>();
  const show = async (eventId: string) => {
    const place = await thread.load(eventId);
    if (place !== undefined) setCurrentKey(eventId);
    return place !== undefined;
  };
  // What was found is an event of a turn; the turn is what is shown.
  const current = turns.findIndex(
    (turn) => keyOf(turn) === currentKey || turn.events.some(({ id }) => id === currentKey),
  );
  return (
    <Page
      title={describeText(threadId)}
      subtitle="Thread"
      isWide
      actions={
        <>
          {turns.length > 0 && <FindField threadId={threadId} onFound={show} />}
          <CopyButton label="Copy the thread id" text={threadId} />
        </>
      }
    >
      {thread.isPending ? (
        <Loading rows={8} />
      ) : thread.isError && turns.length === 0 ? (
        <FailureNotice error={thread.error} onRetry={() => void thread.refetch()} />
      ) : turns.length === 0 ? (
        <Notice icon={MessagesSquare} title="No events of this thread" />
      ) : (
        <TurnList
          turns={turns}
          current={current === -1 ? undefined : current}
          onCurrent={(place) => setCurrentKey(turns[place] && keyOf(turns[place]))}
          hasEarlier={thread.hasNextPage}
          isLoading={thread.isFetchingNextPage}
          failure={thread.isFetchNextPageError ? thread.error : undefined}
          onLoadEarlier={() => void thread.fetchNextPage()}
        />
      )}
    </Page>
  );
}
