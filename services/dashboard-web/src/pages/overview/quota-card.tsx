import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { apiQuery } from '../../api/query.ts';
import { formatCount, formatShare } from '../../format/number.ts';
import { useSpace } from '../../space/space.ts';
import { classes } from '../../ui/classes.ts';

const warnShare = 0.8;

/** A line for the month's limit: a 402 should surprise nobody. */
export function QuotaCard() {
  const { id: spaceId } = useSpace();
  const { data } = useQuery(apiQuery('usage.current', { spaceId }));
  if (data === undefined) return null;
  const { events, monthlyEventLimit: limit, limitReachedAt, billingState } = data;
  const isBad = billingState !== 'active' || (limit !== null && events >= limit);
  const isNear = limitReachedAt !== null || (limit !== null && events >= limit * warnShare);
  return (
    <Link
      to="/s/$spaceId/usage"
      params={{ spaceId }}
      className={classes(
        'flex flex-wrap items-center justify-between gap-2 rounded-lg px-4 py-3 text-sm hover:underline',
        isBad ? 'bg-bad-soft text-bad' : isNear ? 'bg-warn-soft text-warn' : 'bg-sunken text-muted',
      )}
    >
      <span>
        {isBad
          ? 'New batches are refused with 402.'
          : isNear
            ? 'The month’s limit is near.'
            : 'Usage this month'}
      </span>
      <span>
        {formatCount(events)} events
        {limit === null
          ? ', no limit'
          : `, ${formatShare(limit === 0 ? 1 : events / limit)} of ${formatCount(limit)}`}
      </span>
    </Link>
  );
}
