import type { Excerpt } from '../event/excerpt.tsx';
import { hasMatch, wordsIgnoringCase } from '../text/ignoring-case.ts';

export interface Destination {
  key: string;
  label: string;
  /** The kind of the entry, shown at the right. */
  hint?: string;
  /** For a found event: where the text stands in it. */
  excerpt?: Excerpt;
  go: () => void;
}

export interface DestinationGroup {
  title: string;
  items: Destination[];
}

/** The destinations whose label has every word of the query, in any order. */
export function matchLabels(items: readonly Destination[], query: string): Destination[] {
  const words = wordsIgnoringCase(query);
  return items.filter(({ label, hint = '' }) => {
    const text = `${label} ${hint}`;
    return words.every((word) => hasMatch(text, word));
  });
}
