/** What is needed of an event to know its place in a list. */
export interface PlacedEvent {
  id: string;
  startTimeMs: number;
}

/** How many events are not in a list, newest first, and belong into it: before its end, unless the list is whole. */
export function countNew(
  shown: readonly PlacedEvent[],
  { isWhole, others }: { isWhole: boolean; others: Iterable<PlacedEvent> },
): number {
  const ids = new Set(shown.map(({ id }) => id));
  const endMs = isWhole ? undefined : shown.at(-1)?.startTimeMs;
  const found = new Set<string>();
  for (const { id, startTimeMs } of others) {
    if (!ids.has(id) && (endMs === undefined || startTimeMs > endMs)) found.add(id);
  }
  return found.size;
}
