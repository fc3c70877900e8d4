import { ArrowRight } from 'lucide-react';
import type { Output } from '../../api/query.ts';
import {
  formatCompact,
  formatCount,
  formatCounted,
  formatDuration,
  formatShare,
} from '../../format/number.ts';
import { describePriced, formatCost } from '../../format/priced.ts';
import { formatMinute } from '../../format/time.ts';
import { SpaceLink } from '../../space/space.tsx';
import { classes } from '../../ui/classes.ts';
import { Figure } from '../../ui/page.tsx';

type Total = Output<'charts.events'>['series'][number]['total'];
type Cost = Output<'charts.costs'>['total'];
type Delays = Output<'charts.delays'>;

interface FiguresProps {
  total: Total | undefined;
  costs: Cost | undefined;
  delays: Delays | undefined;
}

export function Figures({ total, costs, delays }: FiguresProps) {
  const events = total?.events ?? 0;
  const errors = total?.errors ?? 0;
  return (
    <dl className="grid grid-cols-2 gap-3 md:grid-cols-4 2xl:grid-cols-7 max-2xl:[&>:last-child]:col-span-2">
      <Figure label="Events" value={formatCompact(events)} title={formatCount(events)} />
      <Figure
        label="Errors"
        value={events === 0 ? '–' : formatShare(errors / events)}
        note={formatCounted(errors, 'event')}
        isBad={errors > 0}
      />
      <Figure
        label="Tokens"
        value={formatCompact((total?.inputTokens ?? 0) + (total?.outputTokens ?? 0))}
        note={`${formatCompact(total?.inputTokens ?? 0)} in, ${formatCompact(total?.outputTokens ?? 0)} out`}
      />
      <Figure
        label="Cost"
        value={costs?.cost == null ? '–' : formatCost({ ...costs, cost: costs.cost })}
        note={costs !== undefined && <PricedShare costs={costs} />}
      />
      <Figure label="Duration, median" value={durationOf(total?.p50Ms)} note="p50" />
      <Figure
        label="Duration, 95th percentile"
        value={durationOf(total?.p95Ms)}
        note={total?.p99Ms == null ? 'p95' : `p95; p99 is ${formatDuration(total.p99Ms)}`}
      />
      <Figure
        label="Accepted to visible"
        value={durationOf(delays?.p50Ms)}
        note={delays?.p99Ms == null ? 'p50' : `p50; p99 is ${formatDuration(delays.p99Ms)}`}
        title="From the receipt of events until they were stored and could be shown, for events stored in this range"
      />
    </dl>
  );
}

const durationOf = (ms: number | null | undefined) => (ms == null ? '–' : formatDuration(ms));

/** The share of tokens that the cost includes, so that a partial sum is not taken for the whole. */
function PricedShare({ costs }: { costs: Cost }) {
  if (costs.tokens === 0) return 'No tokens';
  return (
    <SpaceLink
      page="prices"
      title={describePriced(costs)}
      className="underline decoration-line hover:decoration-current"
      text={describePriced(costs)}
    />
  );
}

const warnShare = 0.8;

/** `place` is where it is shown: at the top when the limit is near, otherwise at the bottom. */
export function QuotaCard({ usage, place }: { usage: Output<'usage.current'>; place: 'first' | 'last' }) {
  const { events, monthlyEventLimit: limit, limitReachedAt, billingState } = usage;
  if (events === null) return null;
  const isBad = billingState !== 'active' || (limit !== null && events >= limit);
  const isNear = limitReachedAt !== null || (limit !== null && events >= limit * warnShare);
  if ((isBad || isNear) !== (place === 'first')) return null;
  return (
    <SpaceLink
      page="usage"
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
              : `At this rate the monthly limit is reached on ${formatMinute(Date.parse(limitReachedAt))}. Later batches are rejected with 402.`
            : 'Usage this month'}
      </span>
      <span className="flex items-center gap-1.5">
        {limit === null
          ? `${formatCounted(events, 'event')}, no limit`
          : `${formatCount(events)} of ${formatCounted(limit, 'event')}, ${formatShare(limit === 0 ? 1 : events / limit)}`}
        <ArrowRight aria-label="Usage and plan" className="size-3.5" />
      </span>
    </SpaceLink>
  );
}
