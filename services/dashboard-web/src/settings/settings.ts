import { useEffect, useEffectEvent, useSyncExternalStore } from 'react';
import { showTimesIn } from '../format/time.ts';

export const themes = [
  { value: 'system', label: 'System' },
  { value: 'light', label: 'Light' },
  { value: 'dark', label: 'Dark' },
] as const;

export type Theme = (typeof themes)[number]['value'];

/** Settings kept in this browser. */
export interface Settings {
  theme: Theme;
  /** The time zone of all times; undefined is the browser's. */
  zone: string | undefined;
  /** Single-key shortcuts such as `j`. */
  hasShortcuts: boolean;
  /** Whether texts of a conversation are drawn as Markdown; undefined leaves it to the page. */
  showsMarkdown: boolean | undefined;
  /** Whether values with their counts stand beside the list of events. */
  showsFacets: boolean;
  /** Widths of table columns in pixels, by the table's and the column's name. */
  columnWidths: Record<string, number>;
}

const storageKey = 'weir.settings';
const listeners = new Set<() => void>();
let current = read();
showTimesIn(current.zone);

window.addEventListener('storage', ({ key }) => {
  if (key !== storageKey) return;
  current = read();
  apply();
});

export function useSettings(): Settings {
  return useSyncExternalStore(subscribe, () => current);
}

/** The zone of the settings. Pages and their frame call it: all times in them are drawn anew with it. */
export function useZone(): Settings['zone'] {
  return useSyncExternalStore(subscribe, () => current.zone);
}

export function changeSettings(change: Partial<Settings>): void {
  current = { ...current, ...change };
  try {
    localStorage.setItem(storageKey, JSON.stringify(current));
  } catch {
    // Without storage the settings last until the page is left.
  }
  apply();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function apply(): void {
  const { dataset } = document.documentElement;
  if (current.theme === 'system') delete dataset.theme;
  else dataset.theme = current.theme;
  showTimesIn(current.zone);
  for (const listener of listeners) listener();
}

/** Values stored by another version may have any type. */
function read(): Settings {
  const { theme, zone, hasShortcuts, showsMarkdown, showsFacets, columnWidths } = readStored();
  return {
    theme: theme === 'light' || theme === 'dark' ? theme : 'system',
    zone: typeof zone === 'string' && isZone(zone) ? zone : undefined,
    hasShortcuts: hasShortcuts !== false,
    showsMarkdown: typeof showsMarkdown === 'boolean' ? showsMarkdown : undefined,
    showsFacets: showsFacets === true,
    columnWidths: isWidths(columnWidths) ? columnWidths : {},
  };
}

function readStored(): Partial<Record<keyof Settings, unknown>> {
  try {
    return JSON.parse(localStorage.getItem(storageKey) ?? '{}') ?? {};
  } catch {
    return {};
  }
}

function isZone(name: string): boolean {
  try {
    return Intl.DateTimeFormat('en', { timeZone: name }) !== undefined;
  } catch {
    return false;
  }
}

function isWidths(value: unknown): value is Record<string, number> {
  return typeof value === 'object' && value !== null && Object.values(value).every(Number.isFinite);
}

/** Actions by key: a character, or the name of another key in lower case, such as `enter`. */
export type Shortcuts = Record<string, () => void>;

const editable = 'input, textarea, select, [contenteditable]';

/** Shortcuts while the component is mounted; off in text fields, dialogs and menus, and by a setting. */
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
