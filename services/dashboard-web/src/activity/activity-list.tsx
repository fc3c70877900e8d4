import { useInfiniteQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { Output } from '../api/paths.ts';
import { callQuery } from '../api/query.ts';
import { RangeField } from '../filter/range-field.tsx';
import { useFilter } from '../filter/use-filter.ts';
import { formatCompact, formatCount, formatDuration } from '../format/number.ts';
import { formatTime } from '../format/time.ts';
import { useSettings } from '../settings/settings.ts';
import { useSpace } from '../space/space.ts';
import { Button } from '../ui/button.tsx';
import { Card, Page } from '../ui/page.tsx';
import { FailureNotice, Loading } from '../ui/states.tsx';
import { Table } from '../ui/table.tsx';

export type Activity = Output<'threads.list'>['items'][number];

/** Threads or users, the last active first, with counts of their events in the range of the address. */
export function ActivityList({
  procedure,
  title,
  subtitle,
  what,
  name,
  empty,
}: {
  procedure: 'threads.list' | 'users.list';
  title: string;
  subtitle: string;
  /** The title of the first column. */
  what: string;
  /** The first column: a link to the one. */
  name: (activity: Activity) => ReactNode;
  /** Shown when there are none. */
  empty: ReactNode;
}) {
  const { id: spaceId } = useSpace();
  const { zone } = useSettings();
  const { search, input, set } = useFilter();
  // Of a filter only the range counts here, which the type of the list's input hides behind its other shapes.
  const { from, to }: { from?: number; to?: number } = typeof input === 'string' ? {} : input;
  const list = useInfiniteQuery({
    queryKey: [procedure, spaceId, from, to],
    queryFn: ({ pageParam, signal }) =>
      callQuery(procedure, { spaceId, from, to, ...(pageParam !== '' && { cursor: pageParam }) }, signal),
    initialPageParam: '',
    getNextPageParam: ({ nextCursor }) => nextCursor ?? undefined,
  });
  const pages = list.data?.pages ?? [];
  const items = pages.flatMap((page) => page.items);
  const areCountsComplete = pages.every((page) => page.areCountsComplete);
  return (
    <Page title={title} subtitle={subtitle} actions={<RangeField search={search} onChange={set} />}>
      <Card isFlush>
        {list.isError ? (
          <FailureNotice error={list.error} onRetry={() => void list.refetch()} isSmall />
        ) : list.isPending ? (
          <Loading />
        ) : items.length === 0 ? (
          empty
        ) : (
          <Table
            caption={title}
            rows={items}
            keyOf={({ id }) => id}
            columns={[
              { title: what, className: 'min-w-28 max-w-72', cell: name },
              {
                title: 'Last active',
                cell: ({ lastStartMs }) => (
                  <span className="whitespace-nowrap text-muted">{formatTime(lastStartMs, zone)}</span>
                ),
              },
              {
                title: 'First to last',
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
      {!areCountsComplete && (
        <p className="mt-2 text-muted text-xs">
          Some counts are lower bounds: these events are in too many requests. A shorter range has them all.
        </p>
      )}
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
