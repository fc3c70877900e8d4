import { Check, Monitor, Moon, Settings2, Sun } from 'lucide-react';
import type { ReactNode } from 'react';
import { changeSettings, type Theme, useSettings } from '../settings/settings.ts';
import { IconButton } from '../ui/button.tsx';
import { Menu, MenuItem, MenuLabel } from '../ui/menu.tsx';

const themes: { theme: Theme; label: string; icon: typeof Sun }[] = [
  { theme: 'system', label: 'System', icon: Monitor },
  { theme: 'light', label: 'Light', icon: Sun },
  { theme: 'dark', label: 'Dark', icon: Moon },
];

/** The menu beside the user: the theme, and further entries. */
export function ThemeMenu({ children }: { children: ReactNode }) {
  const { theme: chosen } = useSettings();
  return (
    <Menu
      align="end"
      trigger={
        <IconButton label="Theme and sign out">
          <Settings2 aria-hidden />
        </IconButton>
      }
    >
      <MenuLabel>Theme</MenuLabel>
      {themes.map(({ theme, label, icon: Icon }) => (
        <MenuItem key={theme} onSelect={() => changeSettings({ theme })}>
          <Icon aria-hidden />
          <span className="flex-1">{label}</span>
          {theme === chosen && <Check aria-label="chosen" />}
        </MenuItem>
      ))}
      <div className="my-1 border-line border-t" />
      {children}
    </Menu>
  );
}
