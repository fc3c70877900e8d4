import { useQuery } from '@tanstack/react-query';
import { apiQuery } from '../api/query.ts';
import type { WholeEvent } from '../event/event-query.ts';
import type { Usage } from '../event/event-text.ts';
import { formatCount, formatMoney, formatShare } from '../format/number.ts';
import { SpaceLink, useSpace } from '../space/space.tsx';
import { classes } from '../ui/classes.ts';

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

interface Part {
  label: string;
  tokens: number;
  color: string;
}

export function TokenBar({ usage }: { usage: Usage }) {
  const parts = partsOf(usage).filter(({ tokens }) => tokens > 0);
  const sum = parts.reduce((total, { tokens }) => total + tokens, 0);
  if (sum === 0) return null;
  return (
    <div>
      <div className="flex h-2 gap-px overflow-hidden rounded-full" aria-hidden>
        {parts.map(({ label, tokens, color }) => (
          <div key={label} className={classes('h-full min-w-1', color)} style={{ flexGrow: tokens }} />
        ))}
      </div>
      <dl className="mt-2 flex flex-wrap gap-x-4 gap-y-1 text-xs">
        {parts.map(({ label, tokens, color }) => (
          <div key={label} className="flex items-center gap-1.5">
            <span aria-hidden className={classes('size-2 rounded-xs', color)} />
            <dt className="text-muted">{label}</dt>
            <dd className="font-medium">{formatCount(tokens)}</dd>
          </div>
        ))}
        {usage.total !== undefined && (
          <div className="flex items-center gap-1.5">
            <dt className="text-muted">Total</dt>
            <dd className="font-medium">{formatCount(usage.total)}</dd>
          </div>
        )}
      </dl>
    </div>
  );
}

/** Cached tokens are a part of the input, reasoning tokens one of the output. */
function partsOf({ input = 0, cacheRead = 0, cacheWrite = 0, output = 0, reasoning = 0 }: Usage): Part[] {
  return [
    { label: 'Input', tokens: Math.max(0, input - cacheRead - cacheWrite), color: 'bg-accent' },
    { label: 'Cache read', tokens: cacheRead, color: 'bg-tool-line' },
    { label: 'Cache write', tokens: cacheWrite, color: 'bg-good' },
    { label: 'Output', tokens: Math.max(0, output - reasoning), color: 'bg-llm-line' },
    { label: 'Reasoning', tokens: reasoning, color: 'bg-warn' },
  ];
}
