import { Link } from '@tanstack/react-router';
import type { Output } from '../../api/paths.ts';
import { formatCompact, formatDuration, formatShare } from '../../format/number.ts';
import { useSpace } from '../../space/space.ts';
import { ShownText } from '../../text/shown-text.tsx';
import { Card } from '../../ui/page.tsx';
import { Table } from '../../ui/table.tsx';

type Series = Output<'charts.events'>['series'];

/** The models or tools with the most events. A name links to its events. */
export function TopList({ title, series }: { title: string; series: Series }) {
  const { id: spaceId } = useSpace();
  const named = series.filter(({ group }) => group !== null && group !== '');
  const max = Math.max(1, ...named.map(({ total }) => total.events));
  return (
    <Card title={title} isFlush>
      {named.length === 0 ? (
        <p className="px-4 py-6 text-center text-muted text-sm">None in this range.</p>
      ) : (
        <Table
          caption={title}
          rows={named}
          keyOf={({ group }) => group ?? ''}
          columns={[
            {
              title: 'Name',
              className: 'w-1/2',
              cell: ({ group, total }) => (
                <div className="relative">
                  <div
                    aria-hidden
                    className="absolute inset-y-0 -left-2 rounded-sm bg-accent-soft"
                    style={{ width: `${(total.events / max) * 100}%` }}
                  />
                  <Link
                    to="/s/$spaceId/events"
                    params={{ spaceId }}
                    search={{ name: group ?? '' }}
                    className="relative font-medium hover:underline"
                  >
                    <ShownText text={group ?? ''} />
                  </Link>
                </div>
              ),
            },
            { title: 'Events', isNumber: true, cell: ({ total }) => formatCompact(total.events) },
            {
              title: 'Errors',
              isNumber: true,
              cell: ({ total }) => (
                <span className={total.errors > 0 ? 'text-bad' : 'text-faint'}>
                  {formatShare(total.errors / Math.max(1, total.events))}
                </span>
              ),
            },
            {
              title: 'p95',
              isNumber: true,
              cell: ({ total }) => (total.p95Ms === null ? '–' : formatDuration(total.p95Ms)),
            },
          ]}
        />
      )}
    </Card>
  );
}
