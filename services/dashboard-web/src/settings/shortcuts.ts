import { useEffect, useEffectEvent } from 'react';
import { useSettings } from './settings.ts';

/** Actions by key: a character, or the name of another key in lower case, such as `enter`. */
export type Shortcuts = Record<string, () => void>;

const editable = 'input, textarea, select, [contenteditable]';

/**
 * Single-key shortcuts while the component is mounted. They are off in text fields, dialogs and menus, and by
 * a setting.
 */
export function useShortcuts(shortcuts: Shortcuts): void {
  const { hasShortcuts } = useSettings();
  const onKey = useEffectEvent((event: KeyboardEvent) => {
    if (!isForPage(event)) return;
    // A focused link or button keeps its Enter.
    if (
      event.key === 'Enter' &&
      event.target instanceof Element &&
      event.target.closest('a, button, summary')
    )
      return;
    const key = event.key.length === 1 ? event.key : event.key.toLowerCase();
    const run = Object.hasOwn(shortcuts, key) ? shortcuts[key] : undefined;
    if (run === undefined) return;
    event.preventDefault();
    run();
  });
  useEffect(() => {
    if (!hasShortcuts) return;
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, [hasShortcuts]);
}

/** Whether a key event is for the page, and not for a text field, an open dialog or menu, or the browser. */
export function isForPage(event: KeyboardEvent): boolean {
  // Some keyboards have brackets on AltGr, which some systems report as Ctrl and Alt.
  const isModified = (event.ctrlKey || event.altKey) && !event.getModifierState('AltGraph');
  if (isModified || event.metaKey || event.defaultPrevented) return false;
  if (event.target instanceof Element && event.target.closest(editable) !== null) return false;
  return document.querySelector('[role=dialog], [role=menu]') === null;
}
