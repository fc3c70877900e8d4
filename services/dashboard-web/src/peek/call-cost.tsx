import { useQuery } from '@tanstack/react-query';
import { apiQuery } from '../api/query.ts';
import type { WholeEvent } from '../event/event-query.ts';
import { formatMoney, formatShare } from '../format/number.ts';
import { useSpace } from '../space/space.ts';
import { SpaceLink } from '../space/space-link.tsx';

/** How long a cost is not loaded again, in milliseconds: prices change rarely. */
const freshMs = 60_000;

/** The cost of a call by the price table, or a note that its model has no price. */
export function CallCost({ event }: { event: WholeEvent }) {
  const { id: spaceId } = useSpace();
  const { name, startTimeMs, priceClass, usageParts, reportedCost } = event;
  // Counted by Weir: senders count cached tokens within the input or beside it.
  const counts = {
    inputTokens: event.inputTokens ?? 0,
    outputTokens: event.outputTokens ?? 0,
    cacheReadTokens: event.cacheReadTokens ?? 0,
    cacheWriteTokens: event.cacheWriteTokens ?? 0,
  };
  const { data, isLoading } = useQuery({
    ...apiQuery('charts.callCost', {
      spaceId,
      model: name ?? '',
      atMs: startTimeMs,
      ...counts,
      ...{ priceClass, usageParts, reportedCost },
    }),
    enabled: counts.inputTokens + counts.outputTokens > 0 || reportedCost !== null,
    staleTime: freshMs,
  });
  // Reserves the height, so that nothing moves when the cost arrives.
  if (data === undefined) return isLoading && <p className="mt-2 h-4" />;
  const { cost, pricedTokens, listPricedTokens, assumedTokens, tokens } = data;
  return (
    <dl className="mt-2 flex flex-wrap items-center gap-x-1.5 text-xs">
      <dt className="text-muted">Cost</dt>
      <dd>
        {cost !== null && <span className="font-medium">{formatMoney(Number(cost))}</span>}
        {reportedCost !== null && <span className="text-muted"> as the sender reported it</span>}
        {listPricedTokens > 0 && <span className="text-muted"> at the list price</span>}
        {priceClass !== null && reportedCost === null && <span className="text-muted">: {priceClass}</span>}
        {assumedTokens > 0 && <span className="text-muted">, a kind or tier has no price of its own</span>}
        {pricedTokens < tokens && (
          <SpaceLink page="prices" className="text-muted underline decoration-line hover:decoration-current">
            {cost === null
              ? 'no price'
              : ` for ${formatShare(pricedTokens / tokens)} of the tokens; the others have no price`}
          </SpaceLink>
        )}
      </dd>
    </dl>
  );
}
