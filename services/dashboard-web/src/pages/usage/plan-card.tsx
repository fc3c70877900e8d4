import { CircleCheck, OctagonAlert, TriangleAlert } from 'lucide-react';
import type { Output } from '../../api/query.ts';
import { formatCount, formatShare } from '../../format/number.ts';
import { formatMinute } from '../../format/time.ts';
import { classes } from '../../ui/classes.ts';
import { Card, Figure } from '../../ui/page.tsx';

type Usage = Output<'usage.current'>;

/** The share of the limit from which the page warns. */
const warnShare = 0.8;

export function PlanCard({ usage }: { usage: Usage }) {
  const { events, monthlyEventLimit: limit, month, resetsAt, plan } = usage;
  const resetsAtMs = Date.parse(resetsAt);
  return (
    <div className="flex flex-col gap-4">
      <StatusBanner usage={usage} />
      <dl className="grid gap-4 sm:grid-cols-3">
        <Figure
          label={`Events in ${month}`}
          value={events === null ? '–' : formatCount(events)}
          note={events === null ? 'The database node of this space cannot be reached.' : undefined}
        />
        <Figure
          label={plan === null ? 'Monthly limit' : `Monthly limit of ${plan}`}
          value={limit === null ? 'None' : formatCount(limit)}
        />
        <Figure
          label="Forecast for the month"
          value={usage.forecast === null ? '–' : formatCount(usage.forecast)}
          note={usage.forecast === null && events !== null ? 'Available after a day of data.' : undefined}
        />
      </dl>
      {limit !== null && events !== null && (
        <Card title="This month">
          <Bar share={limit === 0 ? 1 : events / limit} />
          <p className="mt-2 text-muted text-sm">
            {formatShare(limit === 0 ? 1 : events / limit)} of the limit is used. The count restarts at 0 on{' '}
            {formatMinute(resetsAtMs)}.
          </p>
        </Card>
      )}
    </div>
  );
}

function StatusBanner({ usage }: { usage: Usage }) {
  const { events, monthlyEventLimit: limit, billingState, resetsAt, limitReachedAt, forecast } = usage;
  const rejected = <Code>402 usage_limit_exceeded</Code>;
  if (billingState !== 'active')
    return (
      <Banner tone="bad">
        Billing is not active: new batches are rejected with <Code>402 billing_not_active</Code>. Accepted
        events are kept.
      </Banner>
    );
  if (limit === null) return <Banner tone="good">No limit: all batches are accepted.</Banner>;
  if (events === null) return <Banner tone="warn">How much of the limit is used cannot be read now.</Banner>;
  if (events >= limit)
    return (
      <Banner tone="bad">
        The monthly limit is reached: new batches are rejected with {rejected} until{' '}
        {formatMinute(Date.parse(resetsAt))}. Retries of stored events are not counted.
      </Banner>
    );
  if (limitReachedAt !== null || events / limit >= warnShare)
    return (
      <Banner tone="warn">
        {limitReachedAt === null
          ? 'The monthly limit is nearly reached. Batches above it'
          : `At this rate the monthly limit is reached on ${formatMinute(Date.parse(limitReachedAt))}. Later batches`}{' '}
        are rejected with {rejected}.
      </Banner>
    );
  return (
    <Banner tone="good">
      Batches are accepted.{forecast !== null && ' At this rate the limit is not reached this month.'}
    </Banner>
  );
}

const tones = {
  good: { icon: CircleCheck, className: 'bg-good-soft text-good' },
  warn: { icon: TriangleAlert, className: 'bg-warn-soft text-warn' },
  bad: { icon: OctagonAlert, className: 'bg-bad-soft text-bad' },
};

function Banner({ tone, children }: { tone: keyof typeof tones; children: React.ReactNode }) {
  const { icon: Icon, className } = tones[tone];
  return (
    <div className={classes('flex items-start gap-2.5 rounded-lg px-4 py-3 text-sm', className)}>
      <Icon aria-hidden className="mt-0.5 size-4 shrink-0" />
      <p>{children}</p>
    </div>
  );
}

function Code({ children }: { children: string }) {
  return <code className="font-mono text-xs">{children}</code>;
}

function Bar({ share }: { share: number }) {
  const percent = Math.min(100, share * 100);
  return (
    <div
      role="meter"
      aria-label="Share of the monthly limit"
      aria-valuenow={Math.round(percent)}
      aria-valuemin={0}
      aria-valuemax={100}
      className="h-2.5 overflow-hidden rounded-full bg-sunken"
    >
      <div
        className={classes(
          'h-full rounded-full',
          share >= 1 ? 'bg-bad-line' : share >= warnShare ? 'bg-warn' : 'bg-accent',
        )}
        style={{ width: `${percent}%` }}
      />
    </div>
  );
}
