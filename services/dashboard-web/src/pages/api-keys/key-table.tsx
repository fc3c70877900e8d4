import { RefreshCw, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { useApiMutation } from '../../api/query.ts';
import { formatCount } from '../../format/number.ts';
import { dayMs, formatAgo, formatDay, formatMinute, type Zone } from '../../format/time.ts';
import { useSettings } from '../../settings/settings.ts';
import { useSpace } from '../../space/space.tsx';
import { actionsColumn, type Column, Table } from '../../table/table.tsx';
import { ShownText } from '../../text/shown-text.tsx';
import { Badge, type Tone } from '../../ui/badge.tsx';
import { IconButton } from '../../ui/button.tsx';
import { ConfirmDialog, Dialog, Form } from '../../ui/dialog.tsx';
import { SelectField } from '../../ui/field.tsx';
import type { ApiKey } from './api-key.ts';
import { NewKey } from './new-key.tsx';

const tones: Record<ApiKey['state'], Tone> = { active: 'good', expired: 'neutral', revoked: 'bad' };

/** Active keys first, newest first. */
export function KeyTable({ keys }: { keys: readonly ApiKey[] }) {
  const { zone } = useSettings();
  const [rolled, setRolled] = useState<ApiKey>();
  const [revoked, setRevoked] = useState<ApiKey>();
  const rows = keys.toSorted(
    (a, b) =>
      Number(b.state === 'active') - Number(a.state === 'active') || b.createdAt.localeCompare(a.createdAt),
  );
  return (
    <>
      <Table
        caption="API keys"
        rows={rows}
        keyOf={({ id }) => id}
        columns={[
          ...keyColumns(zone),
          actionsColumn(
            (key: ApiKey) =>
              key.state === 'active' && (
                <span className="inline-flex">
                  {key.replacedBy === null && (
                    <IconButton
                      icon={RefreshCw}
                      label={`Roll ${nameKey(key)}`}
                      onClick={() => setRolled(key)}
                    />
                  )}
                  <IconButton
                    icon={Trash2}
                    label={`Revoke ${nameKey(key)}`}
                    onClick={() => setRevoked(key)}
                  />
                </span>
              ),
          ),
        ]}
      />
      <RollKeyDialog apiKey={rolled} onClose={() => setRolled(undefined)} />
      <RevokeKeyDialog apiKey={revoked} keys={keys} onClose={() => setRevoked(undefined)} />
    </>
  );
}

/** Several keys may have one name; after a roll two have. */
function nameKey({ name, lastFour }: ApiKey): string {
  return `${name} …${lastFour}`;
}

function keyColumns(zone: Zone): Column<ApiKey>[] {
  return [
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
            <div className="text-muted text-xs">
              {scope === 'annotation' ? 'adds notes' : `reads ${scope}`}
            </div>
          )}
        </div>
      ),
    },
    { title: 'State', cell: (key) => <State apiKey={key} /> },
    {
      title: 'Created',
      cell: ({ createdAt, createdBy }) => (
        <div className="whitespace-nowrap text-muted">
          <div>{formatDay(Date.parse(createdAt), zone)}</div>
          <div className="text-faint text-xs">{createdBy ?? 'operator'}</div>
        </div>
      ),
    },
    {
      title: 'Last used',
      cell: ({ lastUsedAt, days }) => (
        <span
          className="whitespace-nowrap text-muted"
          title={lastUsedAt === null ? '' : formatMinute(Date.parse(lastUsedAt), zone)}
        >
          {nameLastUse({ lastUsedAt, days })}
        </span>
      ),
    },
    {
      title: 'Events, 30 days',
      cell: ({ scope, days }) => (scope === 'ingest' && days !== null ? <KeyDays days={days} /> : '—'),
    },
  ];
}

/** The time of the last use is written with a delay; until then the day is known from the stored events. */
function nameLastUse({ lastUsedAt, days }: Pick<ApiKey, 'lastUsedAt' | 'days'>): string {
  if (lastUsedAt !== null) return formatAgo(Date.parse(lastUsedAt), Date.now());
  return days?.findLast(({ events }) => events > 0)?.day ?? (days === null ? 'unknown' : 'never');
}

function State({ apiKey: { state, expiresAt, replacedBy } }: { apiKey: ApiKey }) {
  const { zone } = useSettings();
  return (
    <div className="whitespace-nowrap">
      <Badge tone={tones[state]}>{state}</Badge>
      {state === 'active' && expiresAt !== null ? (
        <div className="mt-0.5 text-warn text-xs">
          {replacedBy === null ? 'expires' : 'rolled, ends'} {formatMinute(Date.parse(expiresAt), zone)}
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

/** The last characters are typed, which tell the key from others of its name. */
function RevokeKeyDialog({
  apiKey,
  keys,
  onClose,
}: {
  apiKey: ApiKey | undefined;
  keys: readonly ApiKey[];
  onClose: () => void;
}) {
  const { id: spaceId } = useSpace();
  const { mutateAsync } = useApiMutation('apiKeys.revoke', { reload: ['apiKeys.list'] });
  return (
    <ConfirmDialog
      isOpen={apiKey !== undefined}
      onClose={onClose}
      title="Revoke API key"
      action="Revoke"
      typed={apiKey?.lastFour ?? ''}
      onConfirm={() => mutateAsync({ spaceId, keyId: apiKey?.id ?? '' })}
    >
      {apiKey !== undefined && <KeyFacts apiKey={apiKey} keys={keys} />}
      Clients that use this key get 401 within a second. This cannot be undone. Events that were sent are
      kept.
    </ConfirmDialog>
  );
}

function KeyFacts({ apiKey, keys }: { apiKey: ApiKey; keys: readonly ApiKey[] }) {
  const { zone } = useSettings();
  const lastFourOf = (id: string | null) => keys.find((key) => key.id === id)?.lastFour ?? '';
  const { name, prefix, lastFour, createdAt, createdBy, replaces, replacedBy } = apiKey;
  return (
    <div className="mb-3">
      <div className="font-medium text-ink">
        <ShownText text={name} />{' '}
        <code className="font-mono text-xs">
          {prefix}…{lastFour}
        </code>
      </div>
      <div>
        Created {formatMinute(Date.parse(createdAt), zone)} by {createdBy ?? 'the operator'}. Last used:{' '}
        {nameLastUse(apiKey)}.
      </div>
      {replacedBy !== null && (
        <div>This is the old key: it was rolled, and …{lastFourOf(replacedBy)} takes its place.</div>
      )}
      {replaces !== null && <div>This is the new key, which takes the place of …{lastFourOf(replaces)}.</div>}
    </div>
  );
}

const overlaps = [
  { value: '0', label: 'Immediately' },
  { value: '1', label: 'After an hour' },
  { value: '24', label: 'After a day' },
  { value: '168', label: 'After a week' },
] as const;

/** Creates a replacement key. Both work until the old key ends. */
function RollKeyDialog({ apiKey, onClose }: { apiKey: ApiKey | undefined; onClose: () => void }) {
  return (
    <Dialog
      isOpen={apiKey !== undefined}
      onClose={onClose}
      title={`Roll ${apiKey === undefined ? '' : nameKey(apiKey)}`}
      description="A new key takes its place. Both work until the old one ends, so that nothing is refused meanwhile."
    >
      {apiKey !== undefined && <RollKeyForm apiKey={apiKey} onClose={onClose} />}
    </Dialog>
  );
}

function RollKeyForm({ apiKey, onClose }: { apiKey: ApiKey; onClose: () => void }) {
  const { id: spaceId } = useSpace();
  const [overlap, setOverlap] = useState<(typeof overlaps)[number]['value']>('24');
  const { mutateAsync, data } = useApiMutation('apiKeys.roll', { reload: ['apiKeys.list'] });
  if (data !== undefined) return <NewKey apiKey={data.apiKey} onDone={onClose} />;
  const roll = () => mutateAsync({ spaceId, keyId: apiKey.id, overlapHours: Number(overlap) });
  return (
    <Form action="Roll the key" onSubmit={roll} onCancel={onClose}>
      <SelectField label="The old key ends" options={overlaps} value={overlap} onChange={setOverlap} />
    </Form>
  );
}
