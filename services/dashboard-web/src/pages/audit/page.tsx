import { Download, ScrollText } from 'lucide-react';
import type { Output } from '../../api/paths.ts';
import { usePages } from '../../api/use-pages.ts';
import { useFilter } from '../../filter/use-filter.ts';
import { formatTime, type Zone } from '../../format/time.ts';
import { useSettings } from '../../settings/settings.ts';
import { hasRole } from '../../space/role.ts';
import { useSpace } from '../../space/space.ts';
import { ShownText } from '../../text/shown-text.tsx';
import { Badge } from '../../ui/badge.tsx';
import { buttonClasses } from '../../ui/button.tsx';
import { Page } from '../../ui/page.tsx';
import { PagedTable } from '../../ui/paged-table.tsx';
import { Notice } from '../../ui/states.tsx';
import type { Column } from '../../ui/table.tsx';
import { AuditFilter, nameActor } from './audit-filter.tsx';

type Row = Output<'audit.list'>['rows'][number];

/** Who changed what in the space, and when. */
export function AuditPage() {
  const { id: spaceId, role } = useSpace();
  const { zone } = useSettings();
  const { search, set } = useFilter();
  const { action, actor } = search;
  const pages = usePages('audit.list', { spaceId, action, actor });
  const rows = pages.data?.pages.flatMap((page) => page.rows) ?? [];
  return (
    <Page
      title="Audit log"
      subtitle="Every change, recorded in the same transaction as the change."
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
      <PagedTable
        pages={pages}
        caption="Audit log"
        rows={rows}
        keyOf={({ id }) => id}
        columns={auditColumns(zone, set)}
        more="Show earlier changes"
        empty={
          <Notice icon={ScrollText} title="No changes" isSmall>
            Changes of keys, members, prices and the space itself appear here.
          </Notice>
        }
      />
    </Page>
  );
}

function auditColumns(zone: Zone, setFilter: (change: Record<string, string>) => void): Column<Row>[] {
  return [
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
          title="Show only changes by this user"
          className="min-h-6 whitespace-nowrap hover:underline"
          onClick={() => setFilter({ actor: row.actor })}
        >
          {nameActor(row)}
        </button>
      ),
    },
    {
      title: 'Action',
      cell: ({ action }) => (
        <button
          type="button"
          title="Show only changes of this kind"
          className="min-h-6 hover:underline"
          onClick={() => setFilter({ action })}
        >
          <Badge>{action}</Badge>
        </button>
      ),
    },
    {
      title: 'Details',
      className: 'min-w-64 max-w-96 font-mono text-xs text-muted [overflow-wrap:anywhere]',
      cell: (row) => <ShownText text={describeChange(row)} />,
    },
    {
      title: 'IP address',
      cell: ({ address }) => <span className="text-muted">{address ?? '–'}</span>,
    },
  ];
}

/** The name of what was changed, where it is known, and the details. Details that only repeat the name are left out. */
function describeChange({ target, targetName, details }: Row): string {
  const name = targetName ?? '';
  const rest = Object.entries(details)
    .filter(([key, value]) => value !== null && (name === '' || (key !== 'userId' && value !== name)))
    .map(([key, value]) => `${key}: ${typeof value === 'string' ? value : JSON.stringify(value)}`);
  return [...(name === '' ? [] : [name]), ...rest].join(', ') || (target ?? '');
}
