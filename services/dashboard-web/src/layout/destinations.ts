/** Where the palette can lead. */
export interface Destination {
  /** Distinct within its group. */
  key: string;
  label: string;
  /** What it is, at the right. */
  hint?: string;
  go: () => void;
}

export interface DestinationGroup {
  title: string;
  items: Destination[];
}

/** The destinations whose label has every word of the query, in any order. */
export function matchLabels(items: readonly Destination[], query: string): Destination[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  return items.filter(({ label, hint = '' }) => {
    const text = `${label} ${hint}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
}
