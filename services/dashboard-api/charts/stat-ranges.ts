import { rollupSpansHours } from '../../../event/limits.ts';

export interface StatRange {
  /** Length of the roll-up in hours; 0 for minutes. */
  readonly spanHours: number;
  /** In minutes or hours since the epoch; `to` is excluded. */
  readonly from: number;
  readonly to: number;
}

const minutesPerHour = 60;
/** Longest first; the last one is a single minute. */
const spans = [...rollupSpansHours.toSorted((a, b) => b - a).map((hours) => hours * minutesPerHour), 1];

/**
 * The ranges that cover buckets exactly with the fewest rows: six-hour roll-ups for most of a day, one-hour
 * ones for the rest, and minutes where a bucket begins within an hour. Adjacent ranges of a roll-up are
 * joined, also across buckets.
 * @param boundaries whole minutes in milliseconds, ascending: bucket n lies between the n-th and the next.
 */
export function coverBuckets(boundaries: readonly number[]): StatRange[] {
  const ranges: StatRange[] = [];
  const lastOf = new Map<number, number>();
  for (const [bucket, end] of boundaries.slice(1).entries()) {
    const start = boundaries[bucket] ?? end;
    for (const [spanMinutes, fromMinute, toMinute] of cover(start / 60_000, end / 60_000, 0)) {
      const spanHours = spanMinutes === 1 ? 0 : spanMinutes / minutesPerHour;
      const unit = spanMinutes === 1 ? 1 : minutesPerHour;
      const [from, to] = [fromMinute / unit, toMinute / unit];
      const place = lastOf.get(spanHours) ?? -1;
      const last = ranges[place];
      if (last?.to === from) ranges[place] = { ...last, to };
      else lastOf.set(spanHours, ranges.push({ spanHours, from, to }) - 1);
    }
  }
  return ranges;
}

/** The length of each span with its range, in minutes. */
function* cover(
  from: number,
  to: number,
  level: number,
): Generator<[span: number, from: number, to: number]> {
  const span = spans[level];
  if (from >= to || span === undefined) return;
  const first = Math.ceil(from / span) * span;
  const last = Math.floor(to / span) * span;
  if (first >= last) {
    yield* cover(from, to, level + 1);
    return;
  }
  yield* cover(from, first, level + 1);
  yield [span, first, last];
  yield* cover(last, to, level + 1);
}
