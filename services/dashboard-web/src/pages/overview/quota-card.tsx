import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { ArrowRight } from 'lucide-react';
import { apiQuery } from '../../api/query.ts';
import { formatCount, formatCounted, formatShare } from '../../format/number.ts';
import { formatMinute } from '../../format/time.ts';
import { useSettings } from '../../settings/settings.ts';
import { useSpace } from '../../space/space.ts';
import { classes } from '../../ui/classes.ts';

const warnShare = 0.8;

/** The month's usage and limit. `place` is where it is shown: at the top when the limit is near, otherwise at the bottom. */
export function QuotaCard({ place }: { place: 'first' | 'last' }) {
  const { id: spaceId } = useSpace();
  const { zone } = useSettings();
  const { data } = useQuery(apiQuery('usage.current', { spaceId }));
  if (data === undefined) return null;
  const { events, monthlyEventLimit: limit, limitReachedAt, billingState } = data;
  const isBad = billingState !== 'active' || (limit !== null && events >= limit);
  const isNear = limitReachedAt !== null || (limit !== null && events >= limit * warnShare);
  if ((isBad || isNear) !== (place === 'first')) return null;
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
          ? 'New batches are rejected with 402.'
          : isNear
            ? limitReachedAt === null
              ? 'The monthly limit is nearly reached. Batches above it are rejected with 402.'
              : `At this rate the monthly limit is reached on ${formatMinute(Date.parse(limitReachedAt), zone)}. Later batches are rejected with 402.`
            : 'Usage this month'}
      </span>
      <span className="flex items-center gap-1.5">
        {limit === null
          ? `${formatCounted(events, 'event')}, no limit`
          : `${formatCount(events)} of ${formatCounted(limit, 'event')}, ${formatShare(limit === 0 ? 1 : events / limit)}`}
        <ArrowRight aria-label="Usage and plan" className="size-3.5" />
      </span>
    </Link>
  );
}
