import { useNavigate } from '@tanstack/react-router';
import { useEffect, useEffectEvent, useRef } from 'react';
import { useSettings } from '../settings/settings.ts';
import { isForPage } from '../settings/shortcuts.ts';
import { useSpace } from '../space/space.ts';
import { navigationOf } from './navigation.ts';

/** Time after `g` in which the key of a page opens it, in milliseconds. */
const secondKeyMs = 1_500;

/** Opens a page by `g` and the page's key. */
export function usePageKeys(): void {
  const { hasShortcuts } = useSettings();
  const { id: spaceId, role } = useSpace();
  const navigate = useNavigate();
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
    void navigate({ to: entry.to, params: { spaceId } });
  });
  useEffect(() => {
    if (!hasShortcuts) return;
    // Runs before the page's own shortcuts, which use some of the same keys and ignore handled events.
    document.addEventListener('keydown', onKey, { capture: true });
    return () => document.removeEventListener('keydown', onKey, { capture: true });
  }, [hasShortcuts]);
}
