import { CircleCheck, CircleX } from 'lucide-react';
import type { Output } from '../api/query.ts';
import { showPreview } from '../event/event-query.ts';
import { formatCompact, formatCount, formatCounted, formatDuration, formatShare } from '../format/number.ts';
import { describeCost, formatCost } from '../format/priced.ts';
import { formatToSecond } from '../format/time.ts';
import { SpaceLink } from '../space/space.tsx';
import { type Column, NoValue, numberColumn, Time } from '../table/table.tsx';
import { describeText, ShownText } from '../text/shown-text.tsx';

export type Activity = Output<'threads.list'>['items'][number];

export function LastState({ state }: { state: 'ok' | 'error' }) {
  return state === 'error' ? (
    <CircleX aria-label="The last event is an error" className="size-3.5 shrink-0 text-bad" />
  ) : (
    <CircleCheck aria-label="The last event is OK" className="size-3.5 shrink-0 text-good" />
  );
}

export function FirstInput({ text }: { text: string | null }) {
  if (text === null) return <NoValue />;
  return <ShownText text={showPreview(text)} dir="auto" className="line-clamp-1 text-muted" />;
}

function Models({ models, modelCount }: Pick<Activity, 'models' | 'modelCount'>) {
  const [first] = models;
  const isCut = modelCount > models.length;
  if (first === undefined) return <NoValue />;
  return (
    <span
      className="flex items-baseline gap-1"
      title={`${models.map(describeText).join(', ')}${isCut ? ', …' : ''}`}
    >
      <ShownText text={first} className="max-w-36 truncate" />
      {modelCount > 1 && <span className="text-faint text-xs">+{modelCount - 1}</span>}
    </span>
  );
}

export function Cost({ cost: { cost, bound } }: Pick<Activity, 'cost'>) {
  return (
    <span title={bound === 'exact' ? undefined : 'Some of the tokens, or their kind or tier, have no price'}>
      {cost === null ? <NoValue /> : formatCost({ cost, bound })}
    </span>
  );
}

export const activityColumns: readonly Column<Activity>[] = [
  { title: 'Models', isExtra: true, cell: (item) => <Models {...item} /> },
  {
    title: 'Last active',
    sortBy: ({ lastStartMs }) => lastStartMs,
    cell: ({ lastStartMs }) => <Time at={lastStartMs} format={formatToSecond} />,
  },
  {
    ...numberColumn('Lasted', ({ firstStartMs, lastStartMs }) => lastStartMs - firstStartMs, formatDuration),
    isExtra: true,
  },
  numberColumn('Events', ({ events }) => events, formatCount),
  {
    title: 'Errors',
    isNumber: true,
    sortBy: ({ errors }) => errors,
    cell: ({ errors }) => (
      <span className={errors > 0 ? 'text-bad' : 'text-faint'}>{formatCount(errors)}</span>
    ),
  },
  numberColumn('Tokens', ({ inputTokens, outputTokens }) => inputTokens + outputTokens, formatCompact),
  {
    title: 'Cost',
    isNumber: true,
    sortBy: ({ cost: { cost } }) => (cost === null ? null : Number(cost)),
    cell: ({ cost }) => <Cost cost={cost} />,
  },
];

/** `showsUser` is for threads. */
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
          text={userId}
        />
      )}
      <span>{formatCounted(events, 'event')}</span>
      {errors > 0 && <span className="text-bad">{formatCounted(errors, 'error')}</span>}
      {tokens > 0 && <span>{formatCompact(tokens)} tokens</span>}
      {cost.cost !== null && (
        <span>
          {describeCost({ ...cost, cost: cost.cost })}
          {cost.pricedTokens < cost.tokens &&
            ` for ${formatShare(cost.pricedTokens / cost.tokens)} of the tokens`}
        </span>
      )}
      <span title="From the first to the last start">{formatDuration(lastStartMs - firstStartMs)}</span>
      {!others.areCountsComplete && <span className="text-warn">of the newest 400 requests</span>}
    </span>
  );
}
