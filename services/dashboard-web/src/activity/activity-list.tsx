import type { ReactNode } from 'react';
import type { Output } from '../api/paths.ts';
import { usePages } from '../api/use-pages.ts';
import { RangeField } from '../filter/range-field.tsx';
import { useFilter } from '../filter/use-filter.ts';
import { formatCompact, formatCount, formatDuration } from '../format/number.ts';
import { formatTime, type Zone } from '../format/time.ts';
import { useSettings } from '../settings/settings.ts';
import { useSpace } from '../space/space.ts';
import { Page } from '../ui/page.tsx';
import { PagedTable } from '../ui/paged-table.tsx';
import type { Column } from '../ui/table.tsx';

export type Activity = Output<'threads.list'>['items'][number];

/** Threads or users, most recently active first, with counts of their events in the range of the address. */
export function ActivityList({
  procedure,
  title,
  subtitle,
  nameTitle,
  nameCell,
  empty,
}: {
  procedure: 'threads.list' | 'users.list';
  title: string;
  subtitle: string;
  /** The title of the first column. */
  nameTitle: string;
  /** A cell of the first column: a link to the thread or user. */
  nameCell: (activity: Activity) => ReactNode;
  /** Shown when there are no rows. */
  empty: ReactNode;
}) {
  const { id: spaceId } = useSpace();
  const { zone } = useSettings();
  const { search, input, set } = useFilter();
  // Only the range of the filter applies here; the input's type is a union in which it has no common name.
  const { from, to }: { from?: number; to?: number } = typeof input === 'string' ? {} : input;
  const pages = usePages(procedure, { spaceId, from, to });
  const loaded = pages.data?.pages ?? [];
  const areCountsComplete = loaded.every((page) => page.areCountsComplete);
  return (
    <Page title={title} subtitle={subtitle} actions={<RangeField search={search} onChange={set} />}>
      <PagedTable
        pages={pages}
        caption={title}
        rows={loaded.flatMap((page) => page.items)}
        keyOf={({ id }) => id}
        columns={[
          { title: nameTitle, className: 'min-w-28 max-w-72', cell: nameCell },
          ...activityColumns(zone),
        ]}
        empty={empty}
        note={
          !areCountsComplete && (
            <p className="mt-2 text-muted text-xs">
              Counts cover the newest 400 requests. Choose a shorter range for complete counts.
            </p>
          )
        }
      />
    </Page>
  );
}

function activityColumns(zone: Zone): Column<Activity>[] {
  return [
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
  ];
}
