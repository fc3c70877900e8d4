/** The fields of an event that give its position in a list. */
export interface PlacedEvent {
  id: string;
  startTimeMs: number;
}

/** Counts events missing from a list (newest first), before its end or, if it is complete, anywhere. */
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
