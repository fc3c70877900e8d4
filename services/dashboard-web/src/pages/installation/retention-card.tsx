import { useQuery } from '@tanstack/react-query';
import { apiQuery } from '../../api/query.ts';
import { formatCount, formatCounted, formatDuration } from '../../format/number.ts';
import { formatDay, formatTime, hourMs, minuteMs } from '../../format/time.ts';
import { useSettings } from '../../settings/settings.ts';
import { Table } from '../../ui/table.tsx';
import { followed, StateCard } from './state-card.tsx';

/** Writers begin a pass every five minutes. A pass that deletes much takes longer. */
const passAgeMsMax = 60 * minuteMs;

/** What writers delete: the last pass, and what expires next. */
export function RetentionCard() {
  const { zone } = useSettings();
  const query = useQuery({ ...apiQuery('operator.retention', undefined), ...followed });
  return (
    <StateCard title="Retention" query={query} isFlush>
      {({ lastPassAt, lagMs, policies, retentionDaysMax }) => {
        const isLate = lastPassAt === null || Date.now() - Date.parse(lastPassAt) > passAgeMsMax;
        return (
          <>
            <p className="px-4 py-3 text-sm">
              <span className={isLate ? 'text-warn' : undefined}>
                {lastPassAt === null
                  ? 'No writer has deleted expired data yet.'
                  : `The last deletion pass began ${formatTime(Date.parse(lastPassAt), zone).slice(0, 19)}.`}
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
              columns={[
                {
                  title: 'Kept for',
                  cell: ({ days }) => (days === null ? 'forever' : formatCounted(days, 'day')),
                },
                { title: 'Spaces', isNumber: true, cell: ({ spaces }) => formatCount(spaces) },
                {
                  title: 'Deleted before',
                  cell: ({ cutoff }) => (cutoff === null ? '–' : formatDay(Date.parse(cutoff), zone)),
                },
                {
                  title: 'Due in 7 days',
                  isNumber: true,
                  cell: ({ expiringEvents }) =>
                    expiringEvents === null ? '–' : formatCounted(expiringEvents, 'event'),
                },
              ]}
            />
          </>
        );
      }}
    </StateCard>
  );
}
