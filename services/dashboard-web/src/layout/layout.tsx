import { Outlet, useParams } from '@tanstack/react-router';
import { GitCompareArrows, Menu as MenuIcon, X } from 'lucide-react';
import { lazy, Suspense, useEffect, useEffectEvent, useRef, useState } from 'react';
import { clearTicked, useTicked } from '../compare/ticked-events.tsx';
import { isForPage, useSettings, useZone } from '../settings/settings.ts';
import { SpaceButton, useOpen, useSpace } from '../space/space.tsx';
import { IconButton } from '../ui/button.tsx';
import { classes } from '../ui/classes.ts';
import { Logo } from '../ui/logo.tsx';
import { KeyboardHelp } from './keyboard-help.tsx';
import { navigationOf } from './navigation.ts';
import { Sidebar } from './sidebar.tsx';

/** The frame of all pages of a space. On a narrow window the navigation opens over the page. */
export function Layout() {
  const [isOpen, setOpen] = useState(false);
  usePageKeys();
  useZone();
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
          icon={MenuIcon}
          label={isOpen ? 'Close navigation' : 'Open navigation'}
          aria-expanded={isOpen}
          aria-controls="navigation"
          onClick={() => setOpen(!isOpen)}
        />
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

/** The ticked events, and the link that compares them, the earlier one first. */
function CompareBar({ spaceId }: { spaceId: string }) {
  const ticked = useTicked();
  // biome-ignore lint/correctness/useExhaustiveDependencies: events of two spaces cannot be compared.
  useEffect(() => clearTicked, [spaceId]);
  const [a, b] = ticked.toSorted((one, other) => one.startTimeMs - other.startTimeMs);
  if (a === undefined) return null;
  return (
    <section
      aria-label="Events to compare"
      className="fixed bottom-4 left-1/2 z-40 flex w-max max-w-[calc(100vw-2rem)] -translate-x-1/2 animate-appear items-center gap-2 rounded-lg border border-line bg-raised py-1.5 pr-1.5 pl-4 shadow-pop"
    >
      <p role="status" className="text-sm">
        {b === undefined ? 'Tick another event' : '2 events ticked'}
      </p>
      {b !== undefined && (
        <SpaceButton
          page="compare"
          search={{ a: a.id, b: b.id }}
          onClick={clearTicked}
          look="primary"
          size="small"
          icon={GitCompareArrows}
          text="Compare"
        />
      )}
      {a.traceId && b?.traceId && a.traceId !== b.traceId && (
        <SpaceButton
          page="compare"
          search={{ of: 'trace', a: a.traceId, b: b.traceId }}
          onClick={clearTicked}
          size="small"
          text="Compare their traces"
        />
      )}
      <IconButton icon={X} label="Untick all" onClick={clearTicked} />
    </section>
  );
}

const Palette = lazy(async () => ({ default: (await import('./palette.tsx')).Palette }));

/** Opens the palette on Ctrl-K or ⌘K. Its code is loaded when it is first opened. */
function PaletteKey() {
  const [isOpen, setOpen] = useState(false);
  const [wasOpened, setWasOpened] = useState(false);
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      const hasModifier = event.ctrlKey || event.metaKey;
      if (event.key.toLowerCase() !== 'k' || !hasModifier || event.altKey || event.shiftKey) return;
      event.preventDefault();
      setWasOpened(true);
      setOpen((open) => !open);
    };
    document.addEventListener('keydown', onKeyDown);
    return () => document.removeEventListener('keydown', onKeyDown);
  }, []);
  if (!wasOpened) return null;
  return (
    <Suspense>
      <Palette isOpen={isOpen} onOpenChange={setOpen} />
    </Suspense>
  );
}

/** Time after `g` in which the key of a page opens it, in milliseconds. */
const secondKeyMs = 1_500;

function usePageKeys(): void {
  const { hasShortcuts } = useSettings();
  const { role } = useSpace();
  const open = useOpen();
  const startedAt = useRef(Number.NEGATIVE_INFINITY);
  const onKey = useEffectEvent((event: KeyboardEvent) => {
    if (event.key === 'Shift' || !isForPage(event)) return;
    const isSecond = event.timeStamp - startedAt.current < secondKeyMs;
    startedAt.current = event.key === 'g' && !isSecond ? event.timeStamp : Number.NEGATIVE_INFINITY;
    if (!isSecond) return;
    const entry = navigationOf(role)
      .flatMap(({ entries }) => entries)
      .find(({ key }) => key === event.key);
    if (entry === undefined) return;
    event.preventDefault();
    open(entry);
  });
  useEffect(() => {
    if (!hasShortcuts) return;
    // Runs before the page's own shortcuts, which use some of the same keys and ignore handled events.
    document.addEventListener('keydown', onKey, { capture: true });
    return () => document.removeEventListener('keydown', onKey, { capture: true });
  }, [hasShortcuts]);
}
