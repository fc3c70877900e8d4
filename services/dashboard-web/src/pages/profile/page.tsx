import { type FormEvent, useState } from 'react';
import { useApiMutation } from '../../api/query.ts';
import { formatTime, nameZone } from '../../format/time.ts';
import { Factors } from '../../second-factor/factors.tsx';
import { changeSettings, type Theme, useSettings } from '../../settings/settings.ts';
import { useMe } from '../../space/me.ts';
import { Button } from '../../ui/button.tsx';
import { FormFailure } from '../../ui/confirm-dialog.tsx';
import { SelectField, TextField } from '../../ui/field.tsx';
import { Card, Page } from '../../ui/page.tsx';
import { useToast } from '../../ui/toasts.tsx';
import { SessionsCard } from './sessions-card.tsx';

/** Settings of this browser, and the account. */
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

const browserZone = 'browser';
const themes: { value: Theme; label: string }[] = [
  { value: 'system', label: 'System' },
  { value: 'light', label: 'Light' },
  { value: 'dark', label: 'Dark' },
];

function Appearance() {
  const { theme, zone, hasShortcuts } = useSettings();
  const zones = [
    { value: browserZone, label: `Browser: ${nameZone(undefined)}` },
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
          hint={`All times are shown in this zone. The time is now ${formatTime(Date.now(), zone).slice(0, 16)}.`}
          options={zones}
          value={zone ?? browserZone}
          onChange={(value) => changeSettings({ zone: value === browserZone ? undefined : value })}
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

/** Changes the password, which ends all other sessions. */
function PasswordCard() {
  const toast = useToast();
  const [current, setCurrent] = useState('');
  const [next, setNext] = useState('');
  const { mutateAsync, error, isPending } = useApiMutation('auth.changePassword', {
    reload: ['sessions.list'],
  });
  const onSubmit = async (event: FormEvent) => {
    event.preventDefault();
    const isDone = await mutateAsync({ currentPassword: current, newPassword: next }).then(
      () => true,
      () => false,
    );
    if (!isDone) return;
    setCurrent('');
    setNext('');
    toast('Password changed. All other sessions have ended.');
  };
  return (
    <Card title="Password">
      <form onSubmit={onSubmit} className="flex flex-col gap-4">
        <TextField
          label="Current password"
          type="password"
          autoComplete="current-password"
          required
          value={current}
          onChange={(event) => setCurrent(event.target.value)}
        />
        <TextField
          label="New password"
          type="password"
          autoComplete="new-password"
          required
          hint="At least 8 characters."
          value={next}
          onChange={(event) => setNext(event.target.value)}
        />
        <FormFailure error={error} />
        <div>
          <Button type="submit" disabled={isPending}>
            Change password
          </Button>
        </div>
      </form>
    </Card>
  );
}
