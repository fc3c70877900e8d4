import { useSyncExternalStore } from 'react';
import { useSettings } from '../settings/settings.ts';

/** A colour of styles.css, without its dashes. */
export type ColorName = `series-${number}` | `color-${string}`;

/** The colours that are told apart, in the order in which charts take them. */
const seriesColors = 8;

export function seriesColor(place: number): ColorName {
  return `series-${(place % seriesColors) + 1}`;
}

/** A colour as a canvas takes it, in the theme of now. */
export function resolveColor(name: ColorName): string {
  const probe = document.createElement('span');
  probe.style.color = `var(--${name})`;
  document.body.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}

const dark = window.matchMedia('(prefers-color-scheme: dark)');

/** The theme in force. A canvas is painted again when it changes. */
export function useScheme(): 'light' | 'dark' {
  const { theme } = useSettings();
  const system = useSyncExternalStore(
    (listener) => {
      dark.addEventListener('change', listener);
      return () => dark.removeEventListener('change', listener);
    },
    () => (dark.matches ? 'dark' : 'light'),
  );
  return theme === 'system' ? system : theme;
}
