import { useSyncExternalStore } from 'react';
import { useSettings } from '../settings/settings.ts';

/** A colour of styles.css, without its dashes. */
export type ColorName = `series-${number}` | `color-${string}`;

/** Colours that can be told apart, in the order in which charts use them. */
const seriesColors = 8;

/** Names remembered for a kind of group; later ones only get a colour that is free. */
const namesMax = 200;
const storageKey = 'weir.colors';

/**
 * Gives each name of a chart a colour. A name keeps its colour in all charts and ranges of this browser: its
 * place in the order in which names were first shown. Where two names of a chart have the same colour, the
 * later one gets a free colour.
 * @param kind of group that the names belong to, such as `model`.
 */
export function colorNames(kind: string, names: readonly string[]): Map<string, ColorName> {
  const known = knownNames(kind, names);
  const byAge = names.toSorted((a, b) => placeOf(known, a) - placeOf(known, b));
  const taken = new Set<number>();
  const colors = new Map<string, ColorName>();
  for (const name of byAge) {
    let place = placeOf(known, name) % seriesColors;
    for (let tries = 0; taken.has(place) && tries < seriesColors; tries++) place = (place + 1) % seriesColors;
    taken.add(place);
    colors.set(name, `series-${place + 1}`);
  }
  return colors;
}

function placeOf(known: readonly string[], name: string): number {
  const place = known.indexOf(name);
  return place === -1 ? known.length : place;
}

/** The names in the order in which they were first shown. New ones are appended and kept. */
function knownNames(kind: string, names: readonly string[]): readonly string[] {
  const kept = readKept();
  const before = kept[kind] ?? [];
  const known = [...new Set([...before, ...names])].slice(0, namesMax);
  if (known.length > before.length) {
    memory = { ...kept, [kind]: known };
    try {
      localStorage.setItem(storageKey, JSON.stringify(memory));
    } catch {
      // Without storage they last until the page is left.
    }
  }
  return known;
}

type KeptNames = Record<string, readonly string[]>;
let memory: KeptNames = {};

/** Values stored by another version may have any type. */
function readKept(): KeptNames {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(storageKey) ?? 'null');
    if (typeof stored !== 'object' || stored === null) return memory;
    const kinds = Object.entries(stored).map(([kind, names]) => [
      kind,
      Array.isArray(names) ? names.filter((name) => typeof name === 'string') : [],
    ]);
    return Object.fromEntries(kinds);
  } catch {
    return memory;
  }
}

/** A colour for a canvas, in the current theme. */
export function resolveColor(name: ColorName): string {
  const probe = document.createElement('span');
  probe.style.color = `var(--${name})`;
  document.body.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}

const dark = window.matchMedia('(prefers-color-scheme: dark)');

/** The current theme. Canvases are redrawn when it changes. */
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
