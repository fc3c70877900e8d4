import { useInfiniteQuery } from '@tanstack/react-query';
import { ShieldCheck } from 'lucide-react';
import { describeFailure } from '../../api/failure.ts';
import { callQuery, useApiMutation } from '../../api/query.ts';
import { formatCount } from '../../format/number.ts';
import { formatTime } from '../../format/time.ts';
import { useSettings } from '../../settings/settings.ts';
import { useSpace } from '../../space/space.ts';
import { ShownText } from '../../text/shown-text.tsx';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Card, Page } from '../../ui/page.tsx';
import { FailureNotice, Loading, Notice } from '../../ui/states.tsx';
import { Table } from '../../ui/table.tsx';
import { useToast } from '../../ui/toasts.tsx';

interface Cursor {
  quarantinedAt: string;
  id: string;
}

/** The API replays no more in one call. */
const replayedAtOnceMax = 100;

/** Events that were accepted, but that Postgres refused. They are kept whole, and can be stored again. */
export function QuarantinePage() {
  const { id: spaceId } = useSpace();
  const { zone } = useSettings();
  const toast = useToast();
  const list = useInfiniteQuery({
    queryKey: ['quarantine.list', spaceId],
    queryFn: ({ pageParam, signal }) =>
      callQuery(
        'quarantine.list',
        { spaceId, ...(pageParam === undefined ? {} : { cursor: pageParam }) },
        signal,
      ),
    initialPageParam: undefined as Cursor | undefined,
    getNextPageParam: ({ nextCursor }) => nextCursor ?? undefined,
  });
  const { mutateAsync, isPending } = useApiMutation('quarantine.replay', { reload: ['quarantine.list'] });
  const entries = list.data?.pages.flatMap((page) => page.entries) ?? [];
  const replay = async (ids: string[]) => {
    try {
      const { replayed, failed } = await mutateAsync({ spaceId, ids: ids.slice(0, replayedAtOnceMax) });
      toast(`${replayed.length} stored${failed.length > 0 ? `, ${failed.length} refused again` : ''}.`);
    } catch (error) {
      toast(describeFailure(error).message);
    }
  };
  return (
    <Page
      title="Quarantine"
      subtitle="Events that were accepted, and that the database refused. Nothing of them is lost."
      actions={
        entries.length > 1 && (
          <Button disabled={isPending} onClick={() => void replay(entries.map(({ id }) => id))}>
            Replay all {formatCount(Math.min(entries.length, replayedAtOnceMax))} shown
          </Button>
        )
      }
    >
      <Card isFlush>
        {list.isError ? (
          <FailureNotice error={list.error} onRetry={() => void list.refetch()} isSmall />
        ) : list.isPending ? (
          <Loading />
        ) : entries.length === 0 ? (
          <Notice icon={ShieldCheck} title="Nothing is in quarantine" isSmall>
            Every accepted event was stored.
          </Notice>
        ) : (
          <Table
            caption="Events in quarantine"
            rows={entries}
            keyOf={({ id }) => id}
            columns={[
              {
                title: 'Since',
                cell: ({ quarantinedAt }) => (
                  <span className="whitespace-nowrap text-muted">
                    {formatTime(Date.parse(quarantinedAt), zone)}
                  </span>
                ),
              },
              {
                title: 'Event',
                cell: ({ id }) => <code className="whitespace-nowrap font-mono text-xs">{id}</code>,
              },
              {
                title: 'Why',
                className: 'min-w-72',
                cell: ({ sqlstate, message }) => (
                  <span className="flex flex-wrap items-center gap-2">
                    <Badge tone="bad">{sqlstate}</Badge>
                    <span className="text-muted">
                      <ShownText text={message} />
                    </span>
                  </span>
                ),
              },
              {
                title: 'Actions',
                isPinned: true,
                isNumber: true,
                cell: ({ id }) => (
                  <Button
                    size="small"
                    disabled={isPending}
                    aria-label={`Replay ${id}`}
                    onClick={() => void replay([id])}
                  >
                    Replay
                  </Button>
                ),
              },
            ]}
          />
        )}
      </Card>
      {list.hasNextPage && (
        <div className="mt-3 flex justify-center">
          <Button onClick={() => void list.fetchNextPage()}>Show more</Button>
        </div>
      )}
    </Page>
  );
}
