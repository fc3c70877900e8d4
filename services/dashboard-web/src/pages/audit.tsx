import { ScrollText, X } from 'lucide-react';
import type { Output } from '../api/query.ts';
import { useFilter } from '../filter/use-filter.ts';
import { hasRole, useSpace } from '../space/space.tsx';
import { usePages } from '../space/use-space-query.ts';
import { PagedTable } from '../table/paged-table.tsx';
import { type Column, Time } from '../table/table.tsx';
import { ShownText } from '../text/shown-text.tsx';
import { Badge } from '../ui/badge.tsx';
import { Button, DownloadLink } from '../ui/button.tsx';
import { Notice } from '../ui/loaded.tsx';
import { Page } from '../ui/page.tsx';
import { basePath } from '../url/page-values.ts';

type Row = Output<'audit.list'>['rows'][number];

export function AuditPage() {
  const { id: spaceId, role } = useSpace();
  const { search, set } = useFilter();
  const { action, actor } = search;
  const pages = usePages('audit.list', { action, actor });
  const rows = pages.data?.pages.flatMap((page) => page.rows) ?? [];
  return (
    <Page
      title="Audit log"
      subtitle="Every change, recorded in the same transaction as the change."
      actions={hasRole(role, 'admin') && <DownloadLink href={`${basePath}/audit/${spaceId}`} size="normal" />}
    >
      <AuditFilter rows={rows} />
      <PagedTable
        pages={pages}
        caption="Audit log"
        rows={rows}
        keyOf={({ id }) => id}
        columns={auditColumns(set)}
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

function auditColumns(setFilter: (change: Record<string, string>) => void): Column<Row>[] {
  return [
    { title: 'Time', cell: ({ at }) => <Time at={at} /> },
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

/** Details that only repeat the name of what was changed are left out. */
function describeChange({ target, targetName, details }: Row): string {
  const name = targetName ?? '';
  const rest = Object.entries(details)
    .filter(([key, value]) => value !== null && (name === '' || (key !== 'userId' && value !== name)))
    .map(([key, value]) => `${key}: ${typeof value === 'string' ? value : JSON.stringify(value)}`);
  return [...(name === '' ? [] : [name]), ...rest].join(', ') || (target ?? '');
}

interface Actor {
  actor: string;
  actorEmail: string | null;
}

function AuditFilter({ rows }: { rows: readonly Actor[] }) {
  const { search, set } = useFilter();
  const { action, actor } = search;
  if (action === undefined && actor === undefined) return null;
  const chosen = rows.find((row) => row.actor === actor);
  return (
    <ul aria-label="Filters" className="mb-3 flex flex-wrap gap-2">
      {action !== undefined && (
        <FilterChip text={`Action: ${action}`} onRemove={() => set({ action: undefined })} />
      )}
      {actor !== undefined && (
        <FilterChip
          text={`Who: ${nameActor(chosen ?? { actor, actorEmail: null })}`}
          onRemove={() => set({ actor: undefined })}
        />
      )}
    </ul>
  );
}

/** The operator and removed accounts have no e-mail address. */
function nameActor({ actor, actorEmail }: Actor): string {
  return actorEmail ?? (actor === 'operator' ? 'operator' : 'removed user');
}

function FilterChip({ text, onRemove }: { text: string; onRemove: () => void }) {
  return (
    <li>
      <Button size="small" aria-label={`Remove filter ${text}`} onClick={onRemove}>
        <ShownText text={text} />
        <X aria-hidden />
      </Button>
    </li>
  );
}
