import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { polled } from '../../api/failure.ts';
import { apiQuery } from '../../api/query.ts';
import { formatBytes, formatCompact, formatShare } from '../../format/number.ts';
import { Table } from '../../table/table.tsx';
import { Button } from '../../ui/button.tsx';
import { QueryCard } from '../../ui/page.tsx';

/** Sizes change slowly. */
const storageReloadMs = 60_000;
const shownMax = 8;

interface StoredPart {
  name: string;
  bytes: number;
  events: number | null;
}

export function StorageCard() {
  const [isAll, setAll] = useState(false);
  const query = useQuery({
    ...apiQuery('operator.storage', undefined),
    ...polled<unknown>(storageReloadMs),
    retry: false,
  });
  const rowsMax = isAll ? Number.POSITIVE_INFINITY : shownMax;
  return (
    <QueryCard
      title={query.data === undefined ? 'Storage' : `Storage, ${formatBytes(query.data.totalBytes)}`}
      query={query}
      isFlush
      actions={
        <Button
          size="small"
          aria-pressed={isAll}
          onClick={() => setAll(!isAll)}
          text="All weeks and tables"
        />
      }
    >
      {({ weeks, tables, defaultBytes, totalBytes }) => {
        const parts = weeks.toReversed().map(({ fromMs, toMs, eventBytes, segmentBytes, events }) => ({
          name: `${utcDay(fromMs)} – ${utcDay(toMs - 1)}`,
          bytes: eventBytes + segmentBytes,
          events,
        }));
        const others = [...tables, { name: 'default partitions', bytes: defaultBytes }];
        return (
          <div className="grid items-start lg:grid-cols-2 lg:divide-x lg:divide-line">
            <Parts
              title="Events by week of receipt, UTC"
              rows={parts.slice(0, rowsMax)}
              totalBytes={totalBytes}
              hasEvents
            />
            <Parts
              title="Everything else"
              rows={others
                .toSorted((a, b) => b.bytes - a.bytes)
                .slice(0, rowsMax)
                .map((one) => ({ ...one, events: null }))}
              totalBytes={totalBytes}
            />
          </div>
        );
      }}
    </QueryCard>
  );
}

interface PartsProps {
  title: string;
  rows: readonly StoredPart[];
  totalBytes: number;
  hasEvents?: boolean;
}

function Parts({ title, rows, totalBytes, hasEvents = false }: PartsProps) {
  return (
    <Table
      caption={title}
      rows={rows}
      keyOf={({ name }) => name}
      columns={[
        { title, cell: ({ name }) => <span className="whitespace-nowrap">{name}</span> },
        ...(hasEvents
          ? [
              {
                title: 'Events (estimate)',
                isNumber: true,
                cell: ({ events }: StoredPart) => (events === null ? '–' : formatCompact(events)),
              },
            ]
          : []),
        { title: 'Size', isNumber: true, cell: ({ bytes }) => formatBytes(bytes) },
        {
          title: 'Share',
          isNumber: true,
          cell: ({ bytes }) => formatShare(totalBytes === 0 ? 0 : bytes / totalBytes),
        },
      ]}
    />
  );
}

const utcDay = (ms: number) => new Date(ms).toISOString().slice(0, 10);
