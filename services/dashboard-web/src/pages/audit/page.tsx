import { useInfiniteQuery } from '@tanstack/react-query';
import { Download, ScrollText } from 'lucide-react';
import type { Output } from '../../api/paths.ts';
import { callQuery } from '../../api/query.ts';
import { useFilter } from '../../filter/use-filter.ts';
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
import { AuditFilter, nameActor } from './audit-filter.tsx';

/** Who changed what in the space, and when. */
export function AuditPage() {
  const { id: spaceId, role } = useSpace();
  const { zone } = useSettings();
  const { search, set } = useFilter();
  const { action, actor } = search;
  const list = useInfiniteQuery({
    queryKey: ['audit.list', spaceId, action, actor],
    queryFn: ({ pageParam, signal }) =>
      callQuery(
        'audit.list',
        { spaceId, action, actor, ...(pageParam === '' ? {} : { cursor: pageParam }) },
        signal,
      ),
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
      <AuditFilter rows={rows} />
      <Card isFlush>
        {list.isError ? (
          <FailureNotice error={list.error} onRetry={() => void list.refetch()} isSmall />
        ) : list.isPending ? (
          <Loading />
        ) : rows.length === 0 ? (
          <Notice icon={ScrollText} title="No changes" isSmall>
            Every change of keys, members, prices and the space itself is kept here.
          </Notice>
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
                cell: (row) => (
                  <button
                    type="button"
                    title="Only changes by them"
                    className="min-h-6 whitespace-nowrap hover:underline"
                    onClick={() => set({ actor: row.actor })}
                  >
                    {nameActor(row)}
                  </button>
                ),
              },
              {
                title: 'Action',
                cell: (row) => (
                  <button
                    type="button"
                    title="Only changes of this kind"
                    className="min-h-6 hover:underline"
                    onClick={() => set({ action: row.action })}
                  >
                    <Badge>{row.action}</Badge>
                  </button>
                ),
              },
              {
                title: 'Details',
                className: 'min-w-64 max-w-96 font-mono text-xs text-muted [overflow-wrap:anywhere]',
                cell: (row) => <ShownText text={describeChange(row)} />,
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

type Row = Output<'audit.list'>['rows'][number];

/** What was changed, by its name where it is known, and how. Details that only repeat it are left out. */
function describeChange({ target, targetName, details }: Row): string {
  const name = targetName ?? '';
  const rest = Object.entries(details)
    .filter(([key, value]) => value !== null && (name === '' || (key !== 'userId' && value !== name)))
    .map(([key, value]) => `${key}: ${typeof value === 'string' ? value : JSON.stringify(value)}`);
  return [...(name === '' ? [] : [name]), ...rest].join(', ') || (target ?? '');
}
