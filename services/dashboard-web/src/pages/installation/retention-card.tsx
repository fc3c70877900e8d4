import { useQuery } from '@tanstack/react-query';
import { apiQuery, type Output } from '../../api/query.ts';
import { formatCount, formatCounted, formatDuration } from '../../format/number.ts';
import { formatDay, formatToSecond, hourMs, minuteMs } from '../../format/time.ts';
import { type Column, Table, Time } from '../../table/table.tsx';
import { Badge } from '../../ui/badge.tsx';
import { QueryCard } from '../../ui/page.tsx';
import { followed } from './followed.ts';

/** Writers begin a pass every five minutes. A pass that deletes much takes longer. */
const passAgeMsMax = 60 * minuteMs;

export function RetentionCard() {
  const query = useQuery({ ...apiQuery('operator.retention', undefined), ...followed });
  return (
    <QueryCard title="Retention" query={query} isFlush>
      {({ lastPassAt, lagMs, policies, retentionDaysMax }) => {
        const isLate = lastPassAt === null || Date.now() - Date.parse(lastPassAt) > passAgeMsMax;
        return (
          <>
            <p className="px-4 py-3 text-sm">
              <span className={isLate ? 'text-warn' : undefined}>
                {lastPassAt === null
                  ? 'No writer has deleted expired data yet.'
                  : `The last deletion pass began ${formatToSecond(Date.parse(lastPassAt))}.`}
              </span>{' '}
              {lagMs !== null && lagMs > hourMs && (
                <span className="text-warn">Retention is {formatDuration(lagMs)} behind. </span>
              )}
              <span className="text-muted">
                {retentionDaysMax === null
                  ? 'RETENTION_DAYS_MAX is not set here.'
                  : `RETENTION_DAYS_MAX is ${formatCount(retentionDaysMax)}.`}
              </span>
            </p>
            <Table
              caption="Retentions in use"
              rows={policies}
              keyOf={({ days }) => String(days)}
              columns={policyColumns}
            />
          </>
        );
      }}
    </QueryCard>
  );
}

type Policy = Output<'operator.retention'>['policies'][number];

const policyColumns: readonly Column<Policy>[] = [
  {
    title: 'Kept for',
    cell: ({ days }) => (days === null ? 'forever' : formatCounted(days, 'day')),
  },
  { title: 'Spaces', isNumber: true, cell: ({ spaces }) => formatCount(spaces) },
  {
    title: 'Deleted before',
    cell: ({ cutoff }) => (cutoff === null ? '–' : <Time at={cutoff} format={formatDay} />),
  },
  {
    title: 'Due in 7 days',
    isNumber: true,
    cell: ({ expiringEvents }) => (expiringEvents === null ? '–' : formatCounted(expiringEvents, 'event')),
  },
];

/** Classes of SQLSTATEs: their first two characters. */
const classes: Record<string, string> = {
  '21': 'cardinality violation',
  '22': 'invalid value',
  '23': 'constraint violation',
  '42': 'missing object or privilege',
  '53': 'insufficient resources',
  '54': 'Postgres limit exceeded',
  XX: 'internal Postgres error',
};

export function QuarantineCard() {
  const query = useQuery({ ...apiQuery('operator.quarantine', undefined), ...followed });
  const day = (text: string) => formatDay(Date.parse(text));
  return (
    <QueryCard title="Quarantine" query={query} isFlush>
      {(reasons) =>
        reasons.length === 0 ? (
          <p className="p-4 text-muted text-sm">Empty: every accepted event was stored.</p>
        ) : (
          <>
            <Table
              caption="Rejected events by reason"
              rows={reasons}
              keyOf={({ sqlstate }) => sqlstate}
              columns={[
                {
                  title: 'Reason',
                  cell: ({ sqlstate }) => (
                    <span className="flex flex-wrap items-center gap-2">
                      <Badge tone="bad">{sqlstate}</Badge>
                      <span className="text-muted">{classes[sqlstate.slice(0, 2)]}</span>
                    </span>
                  ),
                },
                { title: 'Events', isNumber: true, cell: ({ entries }) => formatCount(entries) },
                { title: 'Spaces', isNumber: true, cell: ({ spaces }) => formatCount(spaces) },
                { title: 'Since', cell: ({ oldestAt, newestAt }) => `${day(oldestAt)} – ${day(newestAt)}` },
              ]}
            />
            <p className="px-4 py-2.5 text-faint text-xs">
              <code className="font-mono">weir quarantine list</code> lists each event with its error message;{' '}
              <code className="font-mono">weir quarantine replay</code> stores them once the cause is fixed.
            </p>
          </>
        )
      }
    </QueryCard>
  );
}
