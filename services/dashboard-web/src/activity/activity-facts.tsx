import type { Output } from '../api/paths.ts';
import { formatCompact, formatCounted, formatDuration, formatMoney, formatShare } from '../format/number.ts';
import { SpaceLink } from '../space/space-link.tsx';
import { describeText } from '../text/marks.ts';
import { ShownText } from '../text/shown-text.tsx';

/** The totals of a thread or user in a line. `showsUser` is for threads. */
export function ActivityFacts({
  activity: { events, errors, inputTokens, outputTokens, cost, firstStartMs, lastStartMs, userId, ...others },
  showsUser = false,
}: {
  activity: Output<'threads.get'>;
  showsUser?: boolean;
}) {
  const tokens = inputTokens + outputTokens;
  return (
    <span className="flex flex-wrap items-center gap-x-3 gap-y-0.5">
      {showsUser && userId !== null && userId !== '' && (
        <SpaceLink
          page="user"
          id={userId}
          aria-label={`Open user ${describeText(userId)}`}
          className="max-w-48 truncate font-medium text-accent hover:underline"
        >
          <ShownText text={userId} />
        </SpaceLink>
      )}
      <span>{formatCounted(events, 'event')}</span>
      {errors > 0 && <span className="text-bad">{formatCounted(errors, 'error')}</span>}
      {tokens > 0 && <span>{formatCompact(tokens)} tokens</span>}
      {cost.cost !== null && (
        <span>
          {formatMoney(Number(cost.cost))}
          {cost.pricedTokens < cost.tokens &&
            ` for ${formatShare(cost.pricedTokens / cost.tokens)} of the tokens`}
        </span>
      )}
      <span title="From the first to the last start">{formatDuration(lastStartMs - firstStartMs)}</span>
      {!others.areCountsComplete && <span className="text-warn">of the newest 400 requests</span>}
    </span>
  );
}
