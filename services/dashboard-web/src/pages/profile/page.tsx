import { formatTime, nameZone } from '../../format/time.ts';
import { Factors } from '../../second-factor/factors.tsx';
import { changeSettings, type Theme, useSettings } from '../../settings/settings.ts';
import { useMe } from '../../space/me.ts';
import { SelectField } from '../../ui/field.tsx';
import { Card, Page } from '../../ui/page.tsx';
import { PasswordCard } from './password-card.tsx';
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
