import { useParams } from '@tanstack/react-router';
import { MessagesSquare } from 'lucide-react';
import { useEffect, useEffectEvent, useRef, useState } from 'react';
import { MarkdownToggle } from '../../event/prose.tsx';
import { describeText } from '../../text/marks.ts';
import { CopyButton } from '../../ui/copy-button.tsx';
import { Page } from '../../ui/page.tsx';
import { FailureNotice, Loading, Notice } from '../../ui/states.tsx';
import { useSearchTexts } from '../../url/use-search.ts';
import { FindField } from './find-field.tsx';
import { ThreadHead } from './thread-head.tsx';
import { TurnList } from './turn-list.tsx';
import { keyOf, useThread } from './use-thread.ts';

/** A conversation in turns. It opens at the turn of the event that the address names, or at its end. */
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
  const { at } = useSearchTexts();
  const isLoaded = turns.length > 0;
  const isOpened = useRef(false);
  const openAt = useEffectEvent(() => {
    if (at !== undefined && !isOpened.current) void show(at);
    isOpened.current = true;
  });
  useEffect(() => {
    if (isLoaded) openAt();
  }, [isLoaded]);
  // `currentKey` may be any event of a turn.
  const current = turns.findIndex(
    (turn) => keyOf(turn) === currentKey || turn.events.some(({ id }) => id === currentKey),
  );
  return (
    <Page
      title={describeText(threadId)}
      subtitle={<ThreadHead threadId={threadId} turns={turns} />}
      isWide
      actions={
        <>
          <MarkdownToggle place="thread" />
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
        <Notice icon={MessagesSquare} title="This thread has no events" />
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
