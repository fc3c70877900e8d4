import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useDeferredValue } from 'react';
import { describeFailure } from '../../api/failure.ts';
import { apiQuery } from '../../api/query.ts';
import { formatCounted } from '../../format/number.ts';
import { formatMinute } from '../../format/time.ts';
import { useSettings } from '../../settings/settings.ts';
import { useSpace } from '../../space/space.ts';
import { type Condition, formatAlertValue } from './alert-text.ts';

/** Times that are listed. */
const listedMax = 5;

/** When the alert would have fired in the last week. */
export function RulePreview({ condition }: { condition: Condition }) {
  const { id: spaceId } = useSpace();
  const { zone } = useSettings();
  const deferred = useDeferredValue(condition);
  const { data, error } = useQuery({
    ...apiQuery('alerts.preview', { spaceId, ...deferred }),
    placeholderData: keepPreviousData,
  });
  const box = 'rounded-md border border-line bg-sunken px-3 py-2 text-sm';
  if (error !== null) return <p className={`${box} text-bad`}>{describeFailure(error).message}</p>;
  if (data === undefined) return <p className={`${box} text-muted`}>Reading the last week …</p>;
  const { fired, value, sinceMs } = data;
  const now = value === null ? 'No value now.' : `Now: ${formatAlertValue(condition.kind, value)}.`;
  if (sinceMs === null) return <p className={box}>{now} This value has no history.</p>;
  const period = describePeriod(Date.now() - sinceMs);
  return (
    <div className={box} role="status">
      <p>
        {fired.length === 0
          ? `Would not have fired in the last ${period}.`
          : `Would have fired ${formatCounted(fired.length, 'time')} in the last ${period}.`}{' '}
        {now}
      </p>
      {fired.length > 0 && (
        <ul className="mt-1 text-muted text-xs">
          {fired.slice(-listedMax).map(({ fromMs, toMs, value: measured }) => (
            <li key={fromMs}>
              {formatMinute(fromMs, zone)} – {toMs === null ? 'now' : formatMinute(toMs, zone)} (
              {formatAlertValue(condition.kind, measured)})
            </li>
          ))}
          {fired.length > listedMax && <li>and {formatCounted(fired.length - listedMax, 'time')} before</li>}
        </ul>
      )}
    </div>
  );
}

/** An alert by an additional property is evaluated over less than a week if the space has many events. */
function describePeriod(ms: number): string {
  const hours = Math.floor(ms / 3_600_000);
  if (hours >= 7 * 24) return 'week';
  return hours <= 1 ? 'hour' : `${hours} hours`;
}
