import { useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { Check, CircleUser, LogOut, Monitor, Moon, Server, Settings2, Sun } from 'lucide-react';
import type { ReactNode } from 'react';
import { useApiMutation } from '../api/query.ts';
import { nameZone } from '../format/time.ts';
import { changeSettings, themes, useSettings } from '../settings/settings.ts';
import { spacePages, useMe, useSpace } from '../space/space.tsx';
import { IconButton } from '../ui/button.tsx';
import { Logo } from '../ui/logo.tsx';
import { Menu, MenuItem, MenuLabel } from '../ui/menu.tsx';
import { useToast } from '../ui/toasts.tsx';
import { navigationOf } from './navigation.ts';
import { SpaceSwitcher } from './space-switcher.tsx';

const entry =
  'flex h-8 items-center gap-2.5 [@media(height<56rem)]:h-7 rounded-md px-2.5 text-sm text-muted hover:bg-hover hover:text-ink [&_svg]:size-4';
const current = 'bg-surface text-ink font-medium shadow-card [&_svg]:text-accent';

export function Sidebar({ onNavigate }: { onNavigate: () => void }) {
  const { id: spaceId, role, deleteAt } = useSpace();
  // All pages of a deleted space lead to the one that restores it.
  const groups = deleteAt === null ? navigationOf(role) : [];
  return (
    <div className="flex h-full flex-col gap-4 p-3">
      <div className="hidden h-8 items-center px-1.5 md:flex">
        <Logo />
      </div>
      <SpaceSwitcher />
      <nav
        aria-label="Pages"
        className="-mx-1 flex min-h-0 flex-1 flex-col gap-4 overflow-y-auto px-1 [@media(height<56rem)]:gap-3"
      >
        {groups.map(({ title, entries }) => (
          <div key={title}>
            <h2 className="label px-2.5 pb-1">{title}</h2>
            <ul className="flex flex-col gap-px">
              {entries.map(({ page, label, icon: Icon }) => (
                <li key={page}>
                  <Link
                    to={spacePages[page]}
                    params={{ spaceId }}
                    className={entry}
                    activeProps={{ className: current }}
                    activeOptions={{ exact: page === 'overview', includeSearch: false }}
                    onClick={onNavigate}
                  >
                    <Icon aria-hidden />
                    {label}
                  </Link>
                </li>
              ))}
            </ul>
          </div>
        ))}
        <InstallationLink onNavigate={onNavigate} />
      </nav>
      <ZoneLine />
      <UserBar spaceId={spaceId} onNavigate={onNavigate} />
    </div>
  );
}

/** For operators of the installation only: the API refuses others. */
function InstallationLink({ onNavigate }: { onNavigate: () => void }) {
  const { user } = useMe();
  if (!user.isOperator) return null;
  return (
    <div>
      <h2 className="label px-2.5 pb-1">Operate</h2>
      <Link to="/installation" className={entry} onClick={onNavigate}>
        <Server aria-hidden />
        Installation
      </Link>
    </div>
  );
}

/** All times of all pages are in this zone. */
function ZoneLine() {
  return <p className="mb-2 px-2 text-faint text-xs">Times in {nameZone()}</p>;
}

function UserBar({ spaceId, onNavigate }: { spaceId: string; onNavigate: () => void }) {
  const { user } = useMe();
  const signOut = useSignOut();
  return (
    <div className="flex items-center gap-1 border-line border-t pt-2">
      <Link
        to="/s/$spaceId/profile"
        params={{ spaceId }}
        title={user.email}
        className={`${entry} min-w-0 flex-1`}
        activeProps={{ className: current }}
        onClick={onNavigate}
      >
        <CircleUser aria-hidden className="shrink-0" />
        <span className="truncate">{user.email}</span>
      </Link>
      <ThemeMenu>
        <MenuItem icon={LogOut} onSelect={() => void signOut()} text="Sign out" />
      </ThemeMenu>
    </div>
  );
}

/** Clears all loaded data, so that the next user of this browser does not see it. */
function useSignOut(): () => Promise<void> {
  const { mutateAsync } = useApiMutation('auth.signOut');
  const queries = useQueryClient();
  const navigate = useNavigate();
  const toast = useToast();
  return async () => {
    try {
      await mutateAsync();
    } catch {
      toast('Sign-out failed because Weir cannot be reached. You are still signed in.');
      return;
    }
    await navigate({ to: '/sign-in' });
    queries.clear();
  };
}

const themeIcons = { system: Monitor, light: Sun, dark: Moon };

function ThemeMenu({ children }: { children: ReactNode }) {
  const { theme: chosen } = useSettings();
  return (
    <Menu align="end" trigger={<IconButton icon={Settings2} label="Theme and sign out" />}>
      <MenuLabel>Theme</MenuLabel>
      {themes.map(({ value: theme, label }) => (
        <MenuItem icon={themeIcons[theme]} key={theme} onSelect={() => changeSettings({ theme })}>
          <span className="flex-1">{label}</span>
          {theme === chosen && <Check aria-label="chosen" />}
        </MenuItem>
      ))}
      <div className="my-1 border-line border-t" />
      {children}
    </Menu>
  );
}
