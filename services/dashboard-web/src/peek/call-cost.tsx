import { useQuery } from '@tanstack/react-query';
import { apiQuery } from '../api/query.ts';
import type { WholeEvent } from '../event/event-query.ts';
import type { Usage } from '../event/event-text.ts';
import { formatMoney, formatShare } from '../format/number.ts';
import { useSpace } from '../space/space.ts';
import { SpaceLink } from '../space/space-link.tsx';

/** How long a cost is not loaded again, in milliseconds: prices change rarely. */
const freshMs = 60_000;

/** The cost of a call by the price table, or a note that its model has no price. */
export function CallCost({ event, usage }: { event: WholeEvent; usage: Usage }) {
  const { id: spaceId } = useSpace();
  const { name, startTimeMs } = event;
  const { input = 0, output = 0, cacheRead = 0, cacheWrite = 0 } = usage;
  const counts = {
    inputTokens: input,
    outputTokens: output,
    cacheReadTokens: cacheRead,
    cacheWriteTokens: cacheWrite,
  };
  const { data, isLoading } = useQuery({
    ...apiQuery('charts.callCost', { spaceId, model: name ?? '', atMs: startTimeMs, ...counts }),
    enabled: input + output > 0 && Object.values(counts).every(Number.isFinite),
    staleTime: freshMs,
  });
  // Reserves the height, so that nothing moves when the cost arrives.
  if (data === undefined) return isLoading && <p className="mt-2 h-4" />;
  const { cost, pricedTokens, listPricedTokens, tokens } = data;
  return (
    <dl className="mt-2 flex flex-wrap items-center gap-x-1.5 text-xs">
      <dt className="text-muted">Cost</dt>
      <dd>
        {cost !== null && <span className="font-medium">{formatMoney(Number(cost))}</span>}
        {listPricedTokens > 0 && <span className="text-muted"> at the list price</span>}
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
