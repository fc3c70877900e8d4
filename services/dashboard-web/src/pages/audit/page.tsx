import { useInfiniteQuery } from '@tanstack/react-query';
import { Download, ScrollText } from 'lucide-react';
import { callQuery } from '../../api/query.ts';
import { formatTime } from '../../format/time.ts';
import { useSettings } from '../../settings/settings.ts';
import { hasRole } from '../../space/role.ts';
import { useSpace } from '../../space/space.ts';
import { ShownText } from '../../text/shown-text.tsx';
import { Badge } from '../../ui/badge.tsx';
import { Button, buttonClasses } from '../../ui/button.tsx';
import { Card, Page } from '../../ui/page.tsx';
import { FailureNotice, Loading, Notice } from '../../ui/states.tsx';
import { Table } from '../../ui/table.tsx';

/** Who changed what in the space, and when. */
export function AuditPage() {
  const { id: spaceId, role } = useSpace();
  const { zone } = useSettings();
  const list = useInfiniteQuery({
    queryKey: ['audit.list', spaceId],
    queryFn: ({ pageParam, signal }) =>
      callQuery('audit.list', { spaceId, ...(pageParam === '' ? {} : { cursor: pageParam }) }, signal),
    initialPageParam: '',
    getNextPageParam: ({ nextCursor }) => nextCursor ?? undefined,
  });
  const rows = list.data?.pages.flatMap((page) => page.rows) ?? [];
  return (
    <Page
      title="Audit log"
      subtitle="Every change, written together with the change itself."
      actions={
        hasRole(role, 'admin') && (
          <a href={`/audit/${spaceId}`} download className={buttonClasses()}>
            <Download aria-hidden />
            Download
          </a>
        )
      }
    >
      <Card isFlush>
        {list.isError ? (
          <FailureNotice error={list.error} onRetry={() => void list.refetch()} isSmall />
        ) : list.isPending ? (
          <Loading />
        ) : rows.length === 0 ? (
          <Notice icon={ScrollText} title="Nothing has been changed yet" isSmall />
        ) : (
          <Table
            caption="Audit log"
            rows={rows}
            keyOf={({ id }) => id}
            columns={[
              {
                title: 'Time',
                cell: ({ at }) => (
                  <span className="whitespace-nowrap text-muted">{formatTime(Date.parse(at), zone)}</span>
                ),
              },
              {
                title: 'Who',
                cell: ({ actor, actorEmail }) => (
                  <span className="whitespace-nowrap">
                    {actorEmail ?? (actor === 'operator' ? 'operator' : 'a former user')}
                  </span>
                ),
              },
              { title: 'Action', cell: ({ action }) => <Badge>{action}</Badge> },
              {
                title: 'Details',
                className: 'min-w-64 max-w-96 font-mono text-xs text-muted [overflow-wrap:anywhere]',
                cell: ({ details, target }) => (
                  <ShownText text={describeDetails(details) || (target ?? '')} />
                ),
              },
              {
                title: 'Address',
                cell: ({ address }) => <span className="text-muted">{address ?? '–'}</span>,
              },
            ]}
          />
        )}
      </Card>
      {list.hasNextPage && (
        <div className="mt-3 flex justify-center">
          <Button disabled={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
            Show earlier changes
          </Button>
        </div>
      )}
    </Page>
  );
}

function describeDetails(details: Record<string, unknown>): string {
  return Object.entries(details)
    .map(([name, value]) => `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(', ');
}
