import { Outlet, useParams } from '@tanstack/react-router';
import { Menu as MenuIcon } from 'lucide-react';
import { useState } from 'react';
import { CompareBar } from '../compare/compare-bar.tsx';
import { IconButton } from '../ui/button.tsx';
import { classes } from '../ui/classes.ts';
import { Logo } from '../ui/logo.tsx';
import { KeyboardHelp } from './keyboard-help.tsx';
import { PaletteKey } from './palette-key.tsx';
import { Sidebar } from './sidebar.tsx';
import { usePageKeys } from './use-page-keys.ts';

/** The frame of all pages of a space. On a narrow window the navigation opens over the page. */
export function Layout() {
  const [isOpen, setOpen] = useState(false);
  usePageKeys();
  const { spaceId } = useParams({ strict: false });
  return (
    <div className="flex h-full flex-col md:flex-row">
      <a
        href="#main"
        className="sr-only focus:not-sr-only focus:absolute focus:z-50 focus:m-2 focus:rounded-md focus:bg-raised focus:px-3 focus:py-2"
      >
        Skip to the content
      </a>
      <header className="flex h-12 shrink-0 items-center gap-2 border-line border-b bg-surface px-3 md:hidden">
        <IconButton
          label={isOpen ? 'Close navigation' : 'Open navigation'}
          aria-expanded={isOpen}
          aria-controls="navigation"
          onClick={() => setOpen(!isOpen)}
        >
          <MenuIcon aria-hidden />
        </IconButton>
        <Logo />
      </header>
      {isOpen && (
        <button
          type="button"
          aria-label="Close navigation"
          className="fixed inset-0 top-12 z-20 bg-[oklch(0.15_0.02_245/0.35)] md:hidden"
          onClick={() => setOpen(false)}
        />
      )}
      <aside
        id="navigation"
        aria-label="Navigation"
        className={classes(
          'w-56 shrink-0 border-line border-r bg-sunken max-md:fixed max-md:top-12 max-md:bottom-0 max-md:z-30 max-md:shadow-pop md:block',
          !isOpen && 'max-md:hidden',
        )}
      >
        <Sidebar onNavigate={() => setOpen(false)} />
      </aside>
      <div className="min-h-0 min-w-0 flex-1 overflow-y-auto">
        <Outlet />
      </div>
      {spaceId !== undefined && <CompareBar spaceId={spaceId} />}
      <KeyboardHelp />
      <PaletteKey />
    </div>
  );
}
