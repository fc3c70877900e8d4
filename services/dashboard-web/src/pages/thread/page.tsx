import { useInfiniteQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { MessagesSquare } from 'lucide-react';
import { callQuery } from '../../api/query.ts';
import { useSpace } from '../../space/space.ts';
import { describeText } from '../../text/marks.ts';
import { Button } from '../../ui/button.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { Page } from '../../ui/page.tsx';
import { FailureNotice, Loading, Notice } from '../../ui/states.tsx';
import { TurnCard } from './turn-card.tsx';

const pageTurns = 20;

/** A conversation in turns, the oldest of those that are loaded first. */
export function ThreadPage() {
  const { threadId = '' } = useParams({ strict: false });
  const { id: spaceId } = useSpace();
  const list = useInfiniteQuery({
    queryKey: ['threads.turns', spaceId, threadId],
    queryFn: ({ pageParam, signal }) =>
      callQuery(
        'threads.turns',
        { spaceId, threadId, limit: pageTurns, ...(pageParam === '' ? {} : { cursor: pageParam }) },
        signal,
      ),
    initialPageParam: '',
    getNextPageParam: ({ nextCursor }) => nextCursor ?? undefined,
  });
  const turns = (list.data?.pages.flatMap((page) => page.turns) ?? []).toReversed();
  return (
    <Page
      title={describeText(threadId)}
      subtitle="Thread"
      actions={<CopyButton label="Copy the thread id" text={threadId} />}
    >
      {list.isError ? (
        <FailureNotice error={list.error} onRetry={() => void list.refetch()} />
      ) : list.isPending ? (
        <Loading rows={8} />
      ) : turns.length === 0 ? (
        <Notice icon={MessagesSquare} title="No events of this thread" />
      ) : (
        <div className="flex flex-col gap-3">
          {list.hasNextPage && (
            <div className="flex justify-center">
              <Button disabled={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
                Show earlier turns
              </Button>
            </div>
          )}
          <ol className="flex flex-col gap-3">
            {turns.map((turn, index) => (
              <li key={turn.events[0]?.id}>
                <TurnCard turn={turn} before={turns[index - 1]} />
              </li>
            ))}
          </ol>
        </div>
      )}
    </Page>
  );
}
