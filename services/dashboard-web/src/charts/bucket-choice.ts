import type { KeyboardEvent } from 'react';

/** A selection of buckets by keyboard: from the bucket where it began to the one that it has reached. */
export interface BucketChoice {
  anchor: number;
  head: number;
}

/** The first bucket of a choice, and the one after its last. */
export function bucketsOf({ anchor, head }: BucketChoice): { from: number; to: number } {
  return { from: Math.min(anchor, head), to: Math.max(anchor, head) + 1 };
}

/** The choice after an arrow key, Home or End, with Shift a range; undefined for keys that change nothing. */
export function moveChoice(
  choice: BucketChoice | undefined,
  { key, shiftKey }: Pick<KeyboardEvent, 'key' | 'shiftKey'>,
  count: number,
): BucketChoice | undefined {
  const last = count - 1;
  const at = choice?.head ?? last;
  const heads: Record<string, number> = {
    ArrowLeft: choice === undefined ? last : Math.max(0, at - 1),
    ArrowRight: Math.min(last, at + 1),
    Home: 0,
    End: last,
  };
  const head = heads[key];
  if (head === undefined || last < 0) return undefined;
  return { anchor: shiftKey ? (choice?.anchor ?? at) : head, head };
}
