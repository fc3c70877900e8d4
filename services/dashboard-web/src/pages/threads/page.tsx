import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { MessagesSquare } from 'lucide-react';
import { callQuery } from '../../api/query.ts';
import { formatCompact, formatCount, formatDuration } from '../../format/number.ts';
import { formatTime } from '../../format/time.ts';
import { useSettings } from '../../settings/settings.ts';
import { useSpace } from '../../space/space.ts';
import { ShownText } from '../../text/shown-text.tsx';
import { Button } from '../../ui/button.tsx';
import { Card, Page } from '../../ui/page.tsx';
import { FailureNotice, Loading, Notice } from '../../ui/states.tsx';
import { Table } from '../../ui/table.tsx';

/** The threads, by their last activity. */
export function ThreadsPage() {
  const { id: spaceId } = useSpace();
  const { zone } = useSettings();
  const list = useInfiniteQuery({
    queryKey: ['threads.list', spaceId],
    queryFn: ({ pageParam, signal }) =>
      callQuery('threads.list', { spaceId, ...(pageParam === '' ? {} : { cursor: pageParam }) }, signal),
    initialPageParam: '',
    getNextPageParam: ({ nextCursor }) => nextCursor ?? undefined,
  });
  const threads = list.data?.pages.flatMap(({ items }) => items) ?? [];
  return (
    <Page title="Threads" subtitle="Conversations, the last active first.">
      <Card isFlush>
        {list.isError ? (
          <FailureNotice error={list.error} onRetry={() => void list.refetch()} isSmall />
        ) : list.isPending ? (
          <Loading />
        ) : threads.length === 0 ? (
          <Notice icon={MessagesSquare} title="No threads yet" isSmall>
            Events with a thread id in their context are shown here.
          </Notice>
        ) : (
          <Table
            caption="Threads"
            rows={threads}
            keyOf={({ id }) => id}
            columns={[
              {
                title: 'Thread',
                cell: ({ id }) => (
                  <Link
                    to="/s/$spaceId/threads/$threadId"
                    params={{ spaceId, threadId: id }}
                    className="block max-w-72 min-w-28 truncate font-medium hover:underline"
                  >
                    <ShownText text={id} />
                  </Link>
                ),
              },
              {
                title: 'Last active',
                cell: ({ lastStartMs }) => (
                  <span className="whitespace-nowrap text-muted">{formatTime(lastStartMs, zone)}</span>
                ),
              },
              {
                title: 'Lasted',
                isNumber: true,
                cell: ({ firstStartMs, lastStartMs }) => formatDuration(lastStartMs - firstStartMs),
              },
              { title: 'Events', isNumber: true, cell: ({ events }) => formatCount(events) },
              {
                title: 'Errors',
                isNumber: true,
                cell: ({ errors }) => (
                  <span className={errors > 0 ? 'text-bad' : 'text-faint'}>{formatCount(errors)}</span>
                ),
              },
              {
                title: 'Tokens',
                isNumber: true,
                cell: ({ inputTokens, outputTokens }) => formatCompact(inputTokens + outputTokens),
              },
            ]}
          />
        )}
      </Card>
      {list.hasNextPage && (
        <div className="mt-3 flex justify-center">
          <Button disabled={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
            Show more
          </Button>
        </div>
      )}
    </Page>
  );
}
