import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { apiQuery, type Output, useApiMutation } from '../../api/query.ts';
import { browserZone, formatAgo, formatToMinute, nameZone } from '../../format/time.ts';
import { Factors } from '../../second-factor/factors.tsx';
import { changeSettings, themes, useSettings } from '../../settings/settings.ts';
import { useMe } from '../../space/space.tsx';
import { actionsColumn, type Column, Faded, Table, Time } from '../../table/table.tsx';
import { ShownText } from '../../text/shown-text.tsx';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Form } from '../../ui/dialog.tsx';
import { PasswordField, SelectField } from '../../ui/field.tsx';
import { Card, Page, QueryCard } from '../../ui/page.tsx';
import { useAttempt, useToast } from '../../ui/toasts.tsx';
import { nameBrowser } from './browser-name.ts';

export function ProfilePage() {
  const { user } = useMe();
  return (
    <Page title="Profile" subtitle={user.email}>
      <div className="grid items-start gap-4 lg:grid-cols-2">
        <Appearance />
        {user.hasPassword && <PasswordCard />}
        {user.hasPassword && (
          <Card title="Second factor" className="lg:col-span-2">
            <Factors />
          </Card>
        )}
        <SessionsCard />
      </div>
    </Page>
  );
}

const followed = 'browser';

function Appearance() {
  const { theme, zone, hasShortcuts } = useSettings();
  const zones = [
    { value: followed, label: `Browser: ${nameZone(browserZone())}` },
    { value: 'UTC', label: 'UTC' },
    ...Intl.supportedValuesOf('timeZone').map((name) => ({ value: name, label: name })),
  ];
  return (
    <Card title="This browser">
      <div className="flex flex-col gap-4">
        <SelectField
          label="Theme"
          options={themes}
          value={theme}
          onChange={(value) => changeSettings({ theme: value })}
        />
        <SelectField
          label="Time zone"
          hint={`All times are shown in this zone. The time is now ${formatToMinute(Date.now())}.`}
          options={zones}
          value={zone ?? followed}
          onChange={(value) => changeSettings({ zone: value === followed ? undefined : value })}
        />
        <label className="flex items-center gap-2.5 text-sm">
          <input
            type="checkbox"
            className="size-4 accent-accent"
            checked={hasShortcuts}
            onChange={(event) => changeSettings({ hasShortcuts: event.target.checked })}
          />
          Single-key shortcuts, such as <kbd>j</kbd> and <kbd>k</kbd>
        </label>
      </div>
    </Card>
  );
}

function PasswordCard() {
  const toast = useToast();
  const [current, setCurrent] = useState('');
  const [next, setNext] = useState('');
  const { mutateAsync } = useApiMutation('auth.changePassword', { reload: ['sessions.list'] });
  const onSubmit = async () => {
    await mutateAsync({ currentPassword: current, newPassword: next });
    setCurrent('');
    setNext('');
    toast('Password changed. All other sessions have ended.');
  };
  return (
    <Card title="Password">
      <Form action="Change password" look="plain" className="[&_button]:self-start" onSubmit={onSubmit}>
        <PasswordField label="Current password" value={current} onText={setCurrent} />
        <PasswordField label="New password" isNew value={next} onText={setNext} />
      </Form>
    </Card>
  );
}

function SessionsCard() {
  const attempt = useAttempt();
  const query = useQuery(apiQuery('sessions.list', undefined));
  const revoke = useApiMutation('sessions.revoke', { reload: ['sessions.list'] });
  const revokeOthers = useApiMutation('sessions.revokeOthers', { reload: ['sessions.list'] });
  return (
    <QueryCard
      title="Sessions"
      isFlush
      className="lg:col-span-2"
      actions={
        (query.data?.length ?? 0) > 1 && (
          <Button
            look="danger"
            size="small"
            onClick={() => attempt(revokeOthers.mutateAsync())}
            text="End all others"
          />
        )
      }
      query={query}
    >
      {(data) => (
        <Table
          caption="Sessions"
          rows={data}
          keyOf={({ id }) => id}
          columns={[...sessionColumns, endColumn((id) => attempt(revoke.mutateAsync({ id })))]}
        />
      )}
    </QueryCard>
  );
}

type Session = Output<'sessions.list'>[number];

const sessionColumns: readonly Column<Session>[] = [
  {
    title: 'Browser',
    cell: ({ userAgent, isCurrent }) => (
      <span className="flex max-w-80 items-center gap-2">
        <ShownText text={nameBrowser(userAgent)} className="truncate" title={userAgent ?? ''} />
        {isCurrent && <Badge tone="accent">this one</Badge>}
      </span>
    ),
  },
  { title: 'IP address', cell: ({ address }) => <span className="text-muted">{address ?? '–'}</span> },
  {
    title: 'Signed in',
    cell: ({ createdAt }) => <Time at={createdAt} format={formatToMinute} />,
  },
  {
    title: 'Last used',
    cell: ({ lastUsedAt }) => <Faded>{formatAgo(Date.parse(lastUsedAt), Date.now())}</Faded>,
  },
];

function endColumn(onEnd: (id: string) => void): Column<Session> {
  return actionsColumn(
    ({ id, isCurrent }) =>
      !isCurrent && (
        <Button size="small" aria-label="End this session" onClick={() => onEnd(id)} text="End" />
      ),
  );
}
