import { formatCount } from '../../format/number.ts';
import { dayMs, formatDay, formatMinute } from '../../format/time.ts';
import { actionsColumn, type Column, Table, Time } from '../../table/table.tsx';
import { ShownText } from '../../text/shown-text.tsx';
import { Badge, type Tone } from '../../ui/badge.tsx';
import { type ApiKey, nameLastUse } from './api-key.ts';
import { RevokeButton, RollButton } from './key-dialogs.tsx';

const tones: Record<ApiKey['state'], Tone> = { active: 'good', expired: 'neutral', revoked: 'bad' };

/** Active keys first, newest first. */
export function KeyTable({ keys }: { keys: readonly ApiKey[] }) {
  const rows = keys.toSorted(
    (a, b) =>
      Number(b.state === 'active') - Number(a.state === 'active') || b.createdAt.localeCompare(a.createdAt),
  );
  return (
    <Table
      caption="API keys"
      rows={rows}
      keyOf={({ id }) => id}
      columns={[
        ...keyColumns,
        actionsColumn((key: ApiKey) => (
          <>
            <RollButton apiKey={key} />
            {key.state === 'active' && <RevokeButton apiKey={key} keys={keys} />}
          </>
        )),
      ]}
    />
  );
}

const keyColumns: readonly Column<ApiKey>[] = [
  {
    title: 'Name',
    cell: ({ name, prefix, lastFour, scope }) => (
      <div className="min-w-36">
        <div className="font-medium">
          <ShownText text={name} />
        </div>
        <code className="font-mono text-faint text-xs">
          {prefix}…{lastFour}
        </code>
        {scope !== 'ingest' && (
          <div className="text-muted text-xs">{scope === 'annotation' ? 'adds notes' : `reads ${scope}`}</div>
        )}
      </div>
    ),
  },
  { title: 'State', cell: (key) => <State apiKey={key} /> },
  {
    title: 'Created',
    cell: ({ createdAt, createdBy }) => (
      <div className="min-w-0 text-muted max-md:flex max-md:flex-wrap max-md:items-baseline max-md:gap-x-1.5 md:whitespace-nowrap">
        <div>
          <Time at={createdAt} format={formatDay} />
        </div>
        <div className="text-faint text-xs">{createdBy ?? 'operator'}</div>
      </div>
    ),
  },
  { title: 'Last used', cell: (key) => <LastUse {...key} /> },
  {
    title: 'Events, 30 days',
    cell: ({ scope, days }) => (scope === 'ingest' && days !== null ? <KeyDays days={days} /> : '—'),
  },
];

function LastUse({ lastUsedAt, days }: ApiKey) {
  return (
    <span
      className="whitespace-nowrap text-muted"
      title={lastUsedAt === null ? '' : formatMinute(Date.parse(lastUsedAt))}
    >
      {nameLastUse({ lastUsedAt, days })}
    </span>
  );
}

function State({ apiKey: { state, expiresAt, replacedBy } }: { apiKey: ApiKey }) {
  return (
    <div className="whitespace-nowrap">
      <Badge tone={tones[state]}>{state}</Badge>
      {state === 'active' && expiresAt !== null ? (
        <div className="mt-0.5 text-warn text-xs">
          {replacedBy === null ? 'expires' : 'rolled, ends'} {formatMinute(Date.parse(expiresAt))}
        </div>
      ) : (
        replacedBy !== null && <div className="mt-0.5 text-muted text-xs">rolled</div>
      )}
    </div>
  );
}

const shownDays = 30;

/** Days are UTC. */
function KeyDays({ days }: { days: readonly { day: string; events: number }[] }) {
  const sum = days.reduce((total, { events }) => total + events, 0);
  const max = Math.max(1, ...days.map(({ events }) => events));
  const byDay = new Map(days.map(({ day, events }) => [day, events]));
  const today = Date.now();
  const bars = Array.from({ length: shownDays }, (_, index) => {
    const day = new Date(today - (shownDays - 1 - index) * dayMs).toISOString().slice(0, 10);
    return { day, events: byDay.get(day) ?? 0 };
  });
  return (
    <div className="flex items-end gap-2">
      <div aria-hidden className="flex h-5 w-24 items-end gap-px">
        {bars.map(({ day, events }) => (
          <div
            key={day}
            title={`${day}: ${formatCount(events)}`}
            className={events > 0 ? 'min-h-[2px] flex-1 rounded-t-xs bg-accent' : 'h-px flex-1 bg-line'}
            style={events > 0 ? { height: `${(events / max) * 100}%` } : undefined}
          />
        ))}
      </div>
      <span className="text-muted text-xs">{formatCount(sum)}</span>
    </div>
  );
}
