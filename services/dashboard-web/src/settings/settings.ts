import { useSyncExternalStore } from 'react';

export type Theme = 'system' | 'light' | 'dark';

/** What a person chose in this browser. */
export interface Settings {
  theme: Theme;
  /** The time zone of all times that are shown; undefined is the browser's. */
  zone: string | undefined;
  /** Whether single keys such as `j` do something. */
  hasShortcuts: boolean;
  /** Whether texts of a conversation are shown as Markdown. */
  showsMarkdown: boolean;
  /** Widths of table columns in pixels, by the table's and the column's name. */
  columnWidths: Record<string, number>;
}

const defaults: Settings = {
  theme: 'system',
  zone: undefined,
  hasShortcuts: true,
  showsMarkdown: false,
  columnWidths: {},
};
const storageKey = 'weir.settings';
const listeners = new Set<() => void>();
let current = read();

window.addEventListener('storage', ({ key }) => {
  if (key !== storageKey) return;
  current = read();
  apply();
});

export function useSettings(): Settings {
  return useSyncExternalStore(subscribe, () => current);
}

/** Changes settings, keeps them in this browser, and shows the change at once. */
export function changeSettings(change: Partial<Settings>): void {
  current = { ...current, ...change };
  try {
    localStorage.setItem(storageKey, JSON.stringify(current));
  } catch {
    // Without storage they last until the page is left.
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
  for (const listener of listeners) listener();
}

/** Values that another version stored may have any type. */
function read(): Settings {
  try {
    const stored: Partial<Record<keyof Settings, unknown>> = JSON.parse(
      localStorage.getItem(storageKey) ?? '{}',
    );
    const { theme, zone, hasShortcuts, showsMarkdown, columnWidths } = stored;
    return {
      theme: theme === 'light' || theme === 'dark' ? theme : 'system',
      zone: typeof zone === 'string' && isZone(zone) ? zone : undefined,
      hasShortcuts: hasShortcuts !== false,
      showsMarkdown: showsMarkdown === true,
      columnWidths: isWidths(columnWidths) ? columnWidths : {},
    };
  } catch {
    return defaults;
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
